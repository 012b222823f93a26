"""`aaa demo`: the run it shows."""

import io
import sys

import pytest

from aaa.cli import main
from aaa.cli.chart import ASCII, BLOCKS, Bar, chart
from tests.cli.files import run_json


def test_every_request_fits_and_the_whole_does_not(capsys):
    document = run_json(capsys, "demo")
    assert len(document["results"]) == 25
    total = document["total"]
    assert 13_000 < total["largest_without_tokens"] < 14_500
    assert total["largest_with_tokens"] <= total["window_tokens"] - total["reserve_tokens"]
    assert total["refused"] == 0
    assert total["floor"] == {}
    assert {"clear_tool_results", "summarize", "stored_summary"} <= total["applied"].keys()


def test_the_chart_has_a_line_a_call_and_says_what_to_look_at_next(capsys):
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    assert [line.split()[0] for line in out.splitlines() if line[:4].strip().isdigit()] == [
        str(n) for n in range(1, 26)
    ]
    assert all(word in out for word in ("█", "│", "aaa fit", "aaa count", "README"))


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_the_chart_is_plain_ascii_where_the_terminal_has_no_blocks(monkeypatch, encoding):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    assert main(["demo"]) == 0
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
