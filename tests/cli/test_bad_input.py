"""Bad input: one line that names the place, status 2, no traceback, and everything else still runs."""

import gzip
import io
import json
import sys

import pytest

from aaa.cli import main
from tests.cli.files import RAW, conversation, run_json, write, write_lines

GOOD = {"id": "good", "messages": conversation()}
DEEP = "[" * 100_000
NO_ROLE = [{"role": "user", "content": "x"}, {"content": "secret"}]
MANY_NUMBERS = json.dumps([{"id": str(n), "messages": conversation()} for n in range(3)])

# name of the file, what it holds (None: it is not there), what is said after its name
CASES = {
    "missing": ("a.json", None, ": No such file or directory"),
    "empty": ("a.json", "", ": empty file"),
    "empty gzip": ("a.json.gz", RAW, ": empty file"),
    "blank": ("a.jsonl", "\n \n", ": only blank lines"),
    "binary": ("a.json", b"\x89PNG\r\n\x1a\n\x00\xff", ":1: not UTF-8 text"),
    "binary lines": ("a.jsonl", b"\xff\xfe{\x00}\x00\n\x00\n\x00", ":1: not UTF-8 text"),
    "binary later": ("a.json", b'[\n{"role": "user", "content": "\xff"}]', ":2: not UTF-8 text"),
    "no gzip": ("a.json.gz", b"\x1f\x8b not gzip", ":1: corrupt gzip data: "),
    "plain named gzip": ("a.json.gz", RAW + b"{}", ":1: not gzip data"),
    "truncated gzip": ("a.json.gz", gzip.compress(json.dumps(GOOD).encode())[:-20], ":1: truncated gzip data"),
    "bad checksum": (
        "a.jsonl.gz",
        gzip.compress(b"\n")[:-8] + b"\0" * 8,
        ":2: corrupt gzip data: incorrect data check",
    ),
    "invalid JSON": ("a.json", '{"messages": [1 2]}', ":1: invalid JSON: Expecting ',' delimiter (column 17)"),
    "invalid JSON, line 3": ("a.json", '{\n"messages":\n[}', ":3: invalid JSON: Expecting value (column 2)"),
    "open list": ("a.json", '[\n{"messages": []}\n', ":2: invalid JSON: Expecting ',' delimiter (column 17)"),
    "extra data": ("a.json", '[{"messages": []}] x', ":1: invalid JSON: Extra data (column 20)"),
    "a long number": ("a.json", "[" + "1" * 5000 + "]", ":1: invalid JSON: a number is too long"),
    "deep": ("a.json", DEEP, ":1: JSON nested too deeply"),
    "deep line": ("a.jsonl", DEEP + "\n", ":1: JSON nested too deeply"),
    "no role": ("a.json", {"messages": NO_ROLE}, ":1: message 1: a message needs a role (a non-empty string)"),
    "no role in a list": ("a.json", NO_ROLE, ":1: message 1: a message needs a role (a non-empty string)"),
    "no role at first": ("a.json", NO_ROLE[1:], ":1: message 0: a message needs a role (a non-empty string)"),
    "message of a wrong type": ("a.json", {"messages": ["x"]}, ":1: message 0: a message must be an object, not str"),
    "content of a wrong type": (
        "a.json",
        {"messages": [{"role": "user", "content": 7}]},
        ":1: message 0: content must be a string, a list of parts or null, not int",
    ),
    "messages of a wrong type": ("a.json", {"messages": 7}, ":1: `messages` must be a list"),
    "tools of a wrong type": ("a.json", {"messages": [], "tools": 7}, ":1: `tools` must be a list"),
    "a tool without name": (
        "a.json",
        {"messages": [], "tools": [{"type": "function", "function": {}}]},
        ":1: tool 0: a tool needs a name (a non-empty string)",
    ),
    "no conversation": ("a.json", "[]", ": no conversation in it"),
    "another object": (
        "a.json",
        {"error": "x"},
        ":1: neither a message nor a conversation (an object with `messages`)",
    ),
    "a number": ("a.json", "7", ":1: not a conversation but int"),
}


@pytest.mark.parametrize("command", ["fit", "count"])
@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_one_line_that_names_the_place(tmp_path, capsys, case, command):
    name, data, expected = CASES[case]
    file = str(tmp_path / name) if data is None else write(tmp_path / name, data)
    options = ["--window", "8000"] if command == "fit" else []
    assert main([command, file, *options]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(file + expected)
    assert "secret" not in lines[0]


@pytest.mark.parametrize("case", CASES)
def test_the_other_files_still_run(tmp_path, capsys, case):
    name, data, _ = CASES[case]
    bad = str(tmp_path / name) if data is None else write(tmp_path / name, data)
    good = write(tmp_path / "good.json", GOOD)
    document = run_json(capsys, "fit", bad, good, "--window", "8000", status=2)
    assert document["results"][-1]["id"] == "good"
    assert [error["file"] for error in document["errors"]] == [bad]


def test_a_folder_is_refused(tmp_path, capsys):
    assert main(["count", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{tmp_path}: is a directory\n"


def test_the_other_lines_still_run_and_every_bad_one_is_named(tmp_path, capsys):
    lines = [GOOD, "{", {"messages": [{"content": "x"}]}, {"id": "last", "messages": conversation()}, DEEP, "\x7b\x7d"]
    file = write_lines(tmp_path / "a.jsonl", lines)
    document = run_json(capsys, "fit", file, "--window", "8000", status=2)
    assert [result["id"] for result in document["results"]] == ["good", "last"]
    assert [error["line"] for error in document["errors"]] == [2, 3, 5, 6]


def test_a_line_that_is_not_text_costs_only_that_line(tmp_path, capsys):
    good = json.dumps(GOOD).encode()
    file = write(tmp_path / "a.jsonl", good + b"\n\xff\xfe\n" + good)
    document = run_json(capsys, "count", file, status=2)
    assert document["total"]["conversations"] == 2
    assert [(error["line"], error["message"]) for error in document["errors"]] == [(2, "not UTF-8 text")]


def test_a_broken_first_line_is_not_taken_for_a_document(tmp_path, capsys):
    file = write_lines(tmp_path / "log.txt", ['{"messages": [}', GOOD, GOOD])
    document = run_json(capsys, "count", file, status=2)
    assert document["total"]["conversations"] == 2
    assert [error["line"] for error in document["errors"]] == [1]


def test_conversations_before_the_damage_of_a_gzip_file_count(tmp_path, capsys):
    data = "".join(json.dumps({"id": str(n), "messages": conversation(n % 7)}) + "\n" for n in range(400)).encode()
    whole = gzip.compress(data, mtime=0)
    cut = write(tmp_path / "cut.jsonl.gz", whole[: len(whole) // 2])
    hurt = write(tmp_path / "hurt.jsonl.gz", whole[: len(whole) // 2] + b"\xff" * 40 + whole[len(whole) // 2 + 40 :])
    document = run_json(capsys, "count", cut, hurt, status=2)
    seen = [[r["id"] for r in document["results"] if r["file"] == file] for file in (cut, hurt)]
    assert 100 < len(seen[0]) < 400
    assert seen[0] == [str(n) for n in range(len(seen[0]))]
    assert seen[1][: len(seen[0])] == seen[0]
    assert document["errors"][0]["message"] == "truncated gzip data"
    assert "corrupt gzip data" in document["errors"][-1]["message"]


def test_conversations_before_the_damage_of_a_list_count(tmp_path, capsys):
    file = write(tmp_path / "a.json", MANY_NUMBERS[:-40])
    document = run_json(capsys, "count", file, status=2)
    assert [result["id"] for result in document["results"]] == ["0", "1"]
    assert len(document["errors"]) == 1


def test_of_a_log_of_messages_only_the_bad_lines_go(tmp_path, capsys):
    file = write_lines(tmp_path / "a.jsonl", [*conversation(), "{", {"content": "x"}, {"messages": []}])
    document = run_json(capsys, "count", file, status=2)
    assert document["total"]["messages"] == 6
    assert [error["line"] for error in document["errors"]] == [7, 8, 9]
    assert document["errors"][2]["message"] == "message 7: a conversation among messages"


def test_of_many_problems_in_one_file_the_first_are_shown_and_the_rest_counted(tmp_path, capsys):
    file = write_lines(tmp_path / "a.jsonl", ["{"] * 50)
    assert main(["count", file]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == f"{file}: 30 more problems like these"


def test_names_out_of_a_file_cannot_write_to_the_terminal(tmp_path, capsys):
    file = write(tmp_path / "a.json", {"id": "\x1b[31mred\n", "messages": conversation()})
    assert main(["fit", file, "--window", "8000"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_standard_input_has_its_name_in_errors(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{")))
    assert main(["count", "-"]) == 2
    assert capsys.readouterr().err.startswith("<stdin>:1: invalid JSON: ")
