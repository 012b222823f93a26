"""`aaa runs`, `aaa show` and `aaa delete` on databases that real runs have made."""

import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from aaa.cli import main
from aaa.context import HeuristicCounter
from aaa.runtime.stores.schema import APPLICATION_ID, MIGRATIONS
from aaa.wire.openai_chat import message_to_dict
from tests.cli.databases import CALLS, RUNS, make_database
from tests.cli.files import run_json

ROOT = Path(__file__).resolve().parents[2]
STATUSES = "running, waiting, done, failed, cancelled, out_of_turns, out_of_budget, past_deadline"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "runs.db"
    return SimpleNamespace(path=path, requests=make_database(path))


@pytest.fixture
def database(made, tmp_path):
    return shutil.copy(made.path, tmp_path / "runs.db")


def content(folder: Path) -> dict[str, bytes]:
    """Every file but SQLite's shared memory, which holds the locks of who reads."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")}


# Runs


def test_runs_lists_what_is_there_oldest_first(database, capsys):
    assert main(["runs", str(database)]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert [line.split()[0] for line in lines[1:-1]] == RUNS
    assert lines[1].split()[1] == "done"
    assert lines[-1] == "8 runs"


def test_runs_as_json(database, capsys):
    document = run_json(capsys, "runs", str(database))
    assert (document["schema"], document["command"], document["errors"]) == ("aaa.cli/1", "runs", [])
    assert document["total"] == {"runs": 8, "status": None}
    assert [result["run_id"] for result in document["results"]] == RUNS
    assert all(
        result.keys() == {"run_id", "status", "events", "started_at", "updated_at"} for result in document["results"]
    )
    assert {result["status"] for result in document["results"]} == {"done", "failed", "cancelled", "waiting"}


@pytest.mark.parametrize(
    ("status", "expected", "said"),
    [
        ("waiting", ["asking"], "1 run with status waiting"),
        ("failed", ["broken"], "1 run with status failed"),
        ("cancelled", ["gone"], "1 run with status cancelled"),
        ("running", [], "0 runs with status running"),
    ],
)
def test_runs_of_one_status(database, capsys, status, expected, said):
    document = run_json(capsys, "runs", str(database), "--status", status)
    assert [result["run_id"] for result in document["results"]] == expected
    assert main(["runs", str(database), "--status", status]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == said


# Show


def test_show_is_a_line_an_event_and_what_the_run_came_to(database, made, capsys):
    assert main(["show", str(database), "long"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "secret" not in out
    assert "\x1b" not in out
    sizes = [HeuristicCounter().count(request.messages, request.tools) for request in made.requests]
    sent = [line for line in out.splitlines() if "llm.completed" in line]
    for number, (line, size) in enumerate(zip(sent, sizes, strict=True), 1):
        assert f" call {number}: sent {size:,} tokens" in line
    for said in (
        "tool_loop, version 1",
        "reply with 2 tool calls",
        "clear_tool_results(",
        "look failed: FileNotFoundError",
        "look returned 1,00",
        "long: done, started 20",
        f"model calls: {CALLS}, the largest of {max(sizes):,} tokens",
        "tool calls: look 14",
        "spent: ",
    ):
        assert said in out


def test_show_as_json_adds_up(database, made, capsys):
    document = run_json(capsys, "show", str(database), "long")
    assert (document["schema"], document["command"], document["errors"]) == ("aaa.cli/1", "show", [])
    assert [result["seq"] for result in document["results"]] == list(range(1, len(document["results"]) + 1))
    assert all(result.keys() == {"seq", "at", "type", "says"} for result in document["results"])
    total = document["total"]
    types = [result["type"] for result in document["results"]]
    assert total["run_id"] == "long"
    assert total["status"] == "done"
    assert total["calls"] == types.count("aaa.llm.completed") == CALLS
    assert total["summaries"] == types.count("aaa.context.summary") > 0
    assert 0 < total["compactions"] < CALLS
    assert total["tools"] == {"look": 14}
    assert total["spent_tokens"] > sum(HeuristicCounter().count(request.messages) for request in made.requests)
    assert total["spent_cost"] > total["spent_tokens"] * 1e-6  # summaries cost more


@pytest.mark.parametrize(
    ("run_id", "said"),
    [
        ("asking", ["step.completed", "prepare", "run.waiting", "approval", "asking: waiting", "tool calls: none"]),
        ("broken", ["failed: ValueError", "broken: failed"]),
        ("gone", ["run.cancel_requested", "gone: cancelled"]),
        ("family", ["child.requested  family", "child.completed  done, spent", "family: done"]),
    ],
)
def test_every_kind_of_run_can_be_shown(database, capsys, run_id, said):
    assert main(["show", str(database), run_id]) == 0
    out = capsys.readouterr().out
    assert [text for text in said if text not in out] == []
    assert "secret" not in out


def test_what_children_spent_is_in_the_sum(database, capsys):
    whole, child, grandchild = (
        run_json(capsys, "show", str(database), run_id)["total"] for run_id in ("family", "family/0", "family/0/0")
    )
    assert whole["spent_tokens"] == 3 * grandchild["spent_tokens"]
    assert child["spent_tokens"] == 2 * grandchild["spent_tokens"] > 0
    assert (whole["calls"], child["calls"]) == (1, 1)


def test_one_event_whole(database, capsys):
    assert main(["show", str(database), "long", "--event", "1"]) == 0
    event = json.loads(capsys.readouterr().out)
    assert (event["seq"], event["type"], event["data"]["input"]) == (1, "aaa.run.started", {"task": "secret task"})
    document = run_json(capsys, "show", str(database), "long", "--event", "1")
    assert document["results"] == [event]
    assert document["total"] == {"run_id": "long", "event": 1}


def test_every_prompt_is_exactly_what_was_sent(database, made, capsys):
    for number, request in enumerate(made.requests, 1):
        assert main(["show", str(database), "long", "--prompt", str(number)]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert json.loads(out) == [message_to_dict(message) for message in request.messages]
    document = run_json(capsys, "show", str(database), "long", "--prompt", "2")
    assert document["results"] == [message_to_dict(message) for message in made.requests[1].messages]
    assert document["total"] == {"run_id": "long", "call": 2, "messages": 5}


def test_a_prompt_can_be_counted(database, capsys, monkeypatch):
    assert main(["show", str(database), "long", "--prompt", str(CALLS)]) == 0
    stdin = io.TextIOWrapper(io.BytesIO(capsys.readouterr().out.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    (result,) = run_json(capsys, "count", "-")["results"]
    assert result["messages"] > 3


def change(database: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement, values)


@pytest.mark.parametrize(
    ("type", "data", "said"),
    [
        (None, None, "the log has no reply to call 14; whether this was sent is not known"),
        (
            "aaa.llm.failed",
            {"key": "26", "error": {"type": "TimeoutError", "message": ""}},
            "call 14 failed: TimeoutErr",
        ),
    ],
)
def test_a_prompt_without_a_reply_says_so(database, capsys, type, data, said):
    """The log of a process that died during the last call, or whose last call failed."""
    events = run_json(capsys, "show", str(database), "long")["results"]
    last = next(event["seq"] for event in reversed(events) if event["type"] == "aaa.llm.completed")
    if type is None:
        change(database, "DELETE FROM events WHERE run_id = 'long' AND seq >= ?", last)
    else:
        change(
            database,
            "UPDATE events SET type = ?, data = ? WHERE run_id = 'long' AND seq = ?",
            type,
            json.dumps(data),
            last,
        )
    assert main(["show", str(database), "long", "--prompt", str(CALLS)]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("note: ")
    assert said in err
    assert json.loads(out)[0]["content"] == "Be brief."


# Delete


class Typing(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self) -> bool:
        return True


def left(capsys, database: Path) -> list[str]:
    return [result["run_id"] for result in run_json(capsys, "runs", str(database))["results"]]


@pytest.mark.parametrize(
    ("typed", "is_deleted"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_delete_asks_at_a_terminal(database, capsys, monkeypatch, typed, is_deleted):
    monkeypatch.setattr(sys, "stdin", Typing(typed))
    assert main(["delete", str(database), "long"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("Delete long (done, ")
    assert err.endswith(f" events) from {database}? [y/N] ")
    assert out == ("deleted long, with all they held\n" if is_deleted else "nothing was deleted\n")
    assert ("long" in left(capsys, database)) is not is_deleted


def test_delete_takes_the_children_and_nothing_else(database, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Typing("y\n"))
    assert main(["delete", str(database), "family"]) == 0
    out, err = capsys.readouterr()
    assert "and 2 children from" in err
    assert out == "deleted family and 2 children, with all they held\n"
    assert left(capsys, database) == [run_id for run_id in RUNS if run_id not in ("family", "family/0", "family/0/0")]


def test_with_yes_it_does_not_ask(database, capsys):
    document = run_json(capsys, "delete", str(database), "family/0", "--yes")
    assert (document["schema"], document["command"], document["errors"]) == ("aaa.cli/1", "delete", [])
    assert document["results"] == [
        {"run_id": "family/0", "deleted": True},
        {"run_id": "family/0/0", "deleted": True},
    ]
    assert document["total"] == {"deleted": 2}
    assert "family" in left(capsys, database)


def test_what_was_deleted_is_in_no_file(database, capsys):
    assert b"secret task" in Path(database).read_bytes()
    assert main(["delete", str(database), "long", "-y"]) == 0
    assert b"secret task" not in b"".join(content(Path(database).parent).values())


# What goes wrong


def write_foreign(path: Path, *, mode: str = "delete", owner: int = 0, version: int = 0) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE t (x)")
        connection.execute(f"PRAGMA application_id = {owner}")
        connection.execute(f"PRAGMA user_version = {version}")


NEWER = len(MIGRATIONS) + 1
# what makes the file, and what is said after its name
NO_DATABASE = {
    "missing": (lambda path: None, "No such file or directory"),
    "in no folder": (lambda path: path.with_name("none") / "runs.db", "No such file or directory"),
    "a folder": (Path.mkdir, "is a directory"),
    "empty": (Path.touch, "is empty, no database of runs"),
    "text": (lambda path: path.write_text("no database " * 1000), "is no SQLite database"),
    "one byte": (lambda path: path.write_bytes(b"S"), "is no SQLite database"),
    "cut off": (lambda path: path.write_bytes(b"SQLite format 3\0"), "is a SQLite database of something else"),
    "damaged": (
        lambda path: path.write_bytes(b"SQLite format 3\0\x10\0\x02\x02" + b"\xff" * 5000),
        "file is not a database",
    ),
    "of something else": (write_foreign, "is a SQLite database of something else"),
    "of something else, with a log": (
        lambda path: write_foreign(path, mode="wal"),
        "is a SQLite database of something else",
    ),
    "of a newer release": (
        lambda path: write_foreign(path, mode="wal", owner=APPLICATION_ID, version=NEWER),
        f"has schema version {NEWER}, this release reads {len(MIGRATIONS)}; use a newer release",
    ),
}
COMMANDS = (("runs",), ("show", "long"), ("show", "long", "--prompt", "1"), ("delete", "long", "--yes"))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("case", NO_DATABASE)
def test_what_is_no_database_of_runs_is_one_line_and_stays_as_it_is(tmp_path, capsys, case, command):
    make, expected = NO_DATABASE[case]
    path = tmp_path / "runs.db"
    made = make(path)
    path = made if isinstance(made, Path) else path
    is_file = path.is_file()
    before = content(tmp_path) if is_file else sorted(tmp_path.iterdir())
    name, *arguments = command
    assert main([name, str(path), *arguments]) == 2
    assert capsys.readouterr() == ("", f"{path}: {expected}\n")
    assert (content(tmp_path) if is_file else sorted(tmp_path.iterdir())) == before
    document = run_json(capsys, name, str(path), *arguments, status=2)
    assert document["results"] == []
    assert document["errors"] == [{"file": str(path), "line": None, "message": expected}]


# arguments after the database, and what is said after its name
NOT_THERE = {
    "a run": (("show", "nope"), "no run 'nope'; it holds 8 runs, see `aaa runs`"),
    "a run of odd name": (("show", "a\nb\ud800"), r"no run 'a\nb\ud800'; it holds 8 runs, see `aaa runs`"),
    "a run to delete": (("delete", "nope", "--yes"), "no run 'nope'; it holds 8 runs, see `aaa runs`"),
    "an event of no run": (("show", "nope", "--event", "1"), "no run 'nope'; it holds 8 runs, see `aaa runs`"),
    "event 0": (("show", "asking", "--event", "0"), "run 'asking' has events 1 to 4, not 0"),
    "an event": (("show", "asking", "--event", "5000"), "run 'asking' has events 1 to 4, not 5,000"),
    "a negative call": (("show", "long", "--prompt", "-1"), f"run 'long' has model calls 1 to {CALLS}, not -1"),
    "a call": (("show", "long", "--prompt", "99"), f"run 'long' has model calls 1 to {CALLS}, not 99"),
    "any call": (("show", "asking", "--prompt", "1"), "run 'asking' has no model call, not 1"),
}


@pytest.mark.parametrize("case", NOT_THERE)
def test_what_a_database_does_not_hold_is_one_line_and_status_2(database, capsys, case):
    (name, *arguments), expected = NOT_THERE[case]
    assert main([name, str(database), *arguments]) == 2
    assert capsys.readouterr() == ("", f"{database}: {expected}\n")
    assert run_json(capsys, name, str(database), *arguments, status=2)["errors"][0]["message"] == expected
    assert left(capsys, database) == RUNS


WRONG_OPTIONS = {
    "event with prompt": (("show", "long", "--event", "1", "--prompt", "1"), "aaa show: --event and --prompt exclude"),
    "unknown status": (("runs", "--status", "odd"), f"aaa runs: --status is one of {STATUSES}; got odd"),
    "no number": (("show", "long", "--event", "x"), "aaa show: "),
    "nobody to ask": (("delete", "long"), "aaa delete: standard input is no terminal"),
    "no run id": (("delete",), "aaa delete: "),
}


@pytest.mark.parametrize("case", WRONG_OPTIONS)
def test_a_wrong_option_is_one_line_and_status_2(database, capsys, monkeypatch, case):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    (name, *arguments), expected = WRONG_OPTIONS[case]
    assert main([name, str(database), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(expected)
    assert left(capsys, database) == RUNS


@pytest.mark.parametrize("option", [(), ("--prompt", "1")])
def test_events_without_what_they_should_hold_are_one_line(database, capsys, option):
    """A `redact` may have taken it out."""
    change(database, "UPDATE events SET data = '{\"key\": \"1\"}' WHERE run_id = 'long' AND type = 'aaa.llm.requested'")
    assert main(["show", str(database), "long", *option]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"{database}: run 'long' has an event that lacks what is needed to show this")
    assert err.count("\n") == 1
    assert main(["show", str(database), "long", "--event", "3"]) == 0


def test_a_lost_event_is_one_line(database, capsys):
    change(database, "UPDATE events SET data = NULL WHERE run_id = 'long' AND seq = 3")
    assert main(["show", str(database), "long"]) == 2
    assert capsys.readouterr().err == f"{database}: event 3 of run 'long' has lost its data; the store is damaged\n"


# Other processes


def test_reading_leaves_every_file_as_it_was(database, capsys):
    folder = Path(database).parent
    before, names = content(folder), sorted(path.name for path in folder.iterdir())
    for arguments in (("runs", str(database)), ("show", str(database), "long")):
        assert main(list(arguments)) == 0
    assert (content(folder), sorted(path.name for path in folder.iterdir())) == (before, names)


DRIVER = """
import asyncio, os, sys
from aaa.runtime import Engine, SQLiteEventStore
from tests.cli.databases import Waiting

async def main(path, end):
    async with SQLiteEventStore(path) as store, Engine(store) as engine:
        handle = await engine.start(Waiting(), "secret input", run_id="driven")
        async for event in handle.events():
            if event.type == "aaa.run.waiting":
                break
        if end == "die":
            os._exit(3)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await handle.send("approval", "go")
        print((await handle.result()).value, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def drive(database: Path, end: str) -> "subprocess.Popen[str]":
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-c", DRIVER, str(database), end]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env={**os.environ, "PYTHONPATH": path})


def test_a_database_that_another_process_drives_can_be_read_and_runs_in_it_deleted(database, capsys):
    with drive(database, "wait") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert left(capsys, database) == [*RUNS, "driven"]
        assert run_json(capsys, "show", str(database), "driven")["total"]["status"] == "waiting"
        assert main(["delete", str(database), "long", "--yes"]) == 0
        assert main(["demo", "--db", str(database)]) == 2
        err = capsys.readouterr().err
        assert f"is driven by process {process.pid} on " in err
        assert err.count("\n") == 1
        out, _ = process.communicate("\n", timeout=60)
    assert (process.returncode, out) == (0, "go\n")
    assert left(capsys, database) == [*RUNS[1:], "driven"]


def test_what_a_dead_process_left_is_read_and_left_where_it_is(database, capsys):
    with drive(database, "die") as process:
        assert process.wait(timeout=60) == 3
    folder = Path(database).parent
    before = content(folder)
    assert len(before["runs.db-wal"]) > 0
    assert left(capsys, database) == [*RUNS, "driven"]
    assert run_json(capsys, "show", str(database), "driven", "--event", "1")["results"][0]["data"]["input"]
    assert content(folder) == before
