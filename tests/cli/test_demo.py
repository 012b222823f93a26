"""`aaa demo`: the runs it shows, and what it leaves to be looked at."""

import asyncio
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from aaa.cli import demo as demonstration
from aaa.cli import main
from aaa.cli.chart import ASCII, BLOCKS, Bar, chart
from aaa.cli.demo_runs import play
from aaa.runtime import Engine, SQLiteEventStore
from tests.cli.databases import Waiting
from tests.cli.files import run_json


@pytest.fixture
def database(tmp_path):
    return str(tmp_path / "demo runs.db")


def test_every_request_fits_and_the_whole_does_not(database, capsys):
    document = run_json(capsys, "demo", "--db", database)
    assert (document["schema"], document["command"], document["errors"]) == ("aaa.cli/1", "demo", [])
    assert [result["call"] for result in document["results"]] == list(range(1, 27))
    assert max(result["with_tokens"] for result in document["results"]) == 3_363
    assert all(result.keys() == {"call", "without_tokens", "with_tokens", "applied"} for result in document["results"])
    assert document["total"] == {
        "database": database,
        "runs": ["without-policy", "with-policy"],
        "was_there": False,
        "window_tokens": 4_000,
        "calls": 26,
        "largest_without_tokens": 13_668,
        "largest_with_tokens": 3_363,
        "compactions": 19,
        "summaries": 4,
        "applied": {"stored_summary": 16, "clear_tool_results": 9, "summarize": 4},
    }


def test_the_chart_has_a_line_a_call_and_the_lines_below_it_can_be_run(database, capsys):
    assert main(["demo", "--db", database]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    assert [line.split()[0] for line in out.splitlines() if line[:4].strip().isdigit()] == [
        str(n) for n in range(1, 27)
    ]
    assert all(word in out for word in ("█", "│", "13,668", "3,363", "aaa fit", "aaa count", "README"))
    commands = [shlex.split(line) for line in out.splitlines() if re.match(r"  aaa (runs|show) ", line)]
    assert commands == [
        ["aaa", "runs", database],
        ["aaa", "show", database, "with-policy"],
        ["aaa", "show", database, "with-policy", "--prompt", "15"],
    ]
    assert [main(command[1:]) for command in commands] == [0, 0, 0]


def test_without_a_path_the_runs_are_in_a_new_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    paths = [run_json(capsys, "demo")["total"]["database"] for _ in range(2)]
    assert len(set(paths)) == 2
    assert all(Path(path).is_file() and Path(path).is_relative_to(tmp_path) for path in paths)


def test_runs_that_are_there_are_shown_again_and_nothing_is_done(database, capsys):
    assert main(["demo", "--db", database]) == 0
    first, before = capsys.readouterr().out, Path(database).read_bytes()
    assert main(["demo", "--db", database]) == 0
    second = capsys.readouterr().out
    assert "nothing was done again" in second
    assert "nothing was done again" not in first
    assert second.splitlines()[:30] == first.splitlines()[:30]
    assert Path(database).read_bytes() == before
    assert run_json(capsys, "demo", "--db", database)["total"]["was_there"] is True


def test_a_demonstration_that_was_stopped_goes_on_and_comes_to_the_same(database, capsys):
    class Stopped(BaseException):
        pass

    heard = []

    def stop(event):
        heard.append(event)
        if len(heard) == 180:  # in the second run, after a summary
            raise Stopped

    with pytest.raises(Stopped):
        asyncio.run(play(database, stop))
    total = run_json(capsys, "demo", "--db", database)["total"]
    assert (total["was_there"], total["calls"], total["compactions"], total["summaries"]) == (False, 26, 19, 4)
    assert (total["largest_without_tokens"], total["largest_with_tokens"]) == (13_668, 3_363)


def test_a_run_of_the_same_name_that_is_another_is_refused(database, capsys):
    async def make() -> None:
        async with SQLiteEventStore(database) as store, Engine(store) as engine:
            await engine.start(Waiting(), None, run_id="with-policy")

    asyncio.run(make())
    assert main(["demo", "--db", database]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "'with-policy'" in err


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Path.mkdir, "is a directory"),
        (lambda path: path.write_text("text"), "is no SQLite database"),
        (lambda path: path / "runs.db", "no such folder"),
    ],
    ids=["a folder", "text", "in no folder"],
)
def test_a_path_that_cannot_be_used_is_one_line(tmp_path, capsys, make, said):
    path = tmp_path / "runs.db"
    made = make(path)
    path = made if isinstance(made, Path) else path
    assert main(["demo", "--db", str(path)]) == 2
    assert capsys.readouterr() == ("", f"{path}: {said}\n")
    assert run_json(capsys, "demo", "--db", str(path), status=2)["errors"][0]["message"] == said


def test_an_empty_file_is_filled(database, capsys):
    Path(database).touch()
    assert run_json(capsys, "demo", "--db", database)["total"]["calls"] == 26


@pytest.mark.parametrize(
    ("called", "is_on_path", "said"),
    [(".venv/bin/aaa", False, ".venv/bin/aaa"), (".venv/bin/aaa", True, "aaa"), ("cli/__main__.py", False, "aaa")],
)
def test_the_lines_to_run_name_the_program_as_it_can_be_called(database, capsys, monkeypatch, called, is_on_path, said):
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setattr(demonstration.shutil, "which", lambda name: f"/bin/{name}" if is_on_path else None)
    assert main(["demo", "--db", database]) == 0
    assert f"\n  {said} runs " in capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_the_chart_is_plain_ascii_where_the_terminal_has_no_blocks(database, monkeypatch, encoding):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    assert main(["demo", "--db", database]) == 0
    sys.stdout.flush()
    assert raw.getvalue().isascii()
    assert b"#" in raw.getvalue()


@pytest.mark.parametrize("symbols", [BLOCKS, ASCII])
def test_bars_grow_with_their_numbers_and_keep_the_window_in_one_column(symbols):
    lines = chart([Bar("1", 50, 50), Bar("2", 60, 400)], 100, width=60, symbols=symbols)[1:]
    marks = [line.index(symbols.window) for line in lines]
    assert marks[0] == marks[1]
    assert [line.count(symbols.more) > 0 for line in lines] == [False, True]
    assert lines[1].count(symbols.sent) > lines[0].count(symbols.sent)
    assert {len(line) for line in lines} == {60}
