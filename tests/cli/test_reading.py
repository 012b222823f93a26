"""What counts as a conversation file."""

import gzip
import io
import json
import sys

import pytest

from aaa.cli.problems import Problem
from aaa.cli.reading import Conversation, conversations
from aaa.cli.source import Source
from aaa.wire.openai_chat import message_to_dict
from tests.cli.files import conversation, write, write_lines

ONE, TWO = conversation(1), conversation(2)
TOOL = {"type": "function", "function": {"name": "look", "description": "", "parameters": {}}}


def read(name: str) -> list[Conversation]:
    items = list(conversations(Source(name)))
    assert not [item for item in items if isinstance(item, Problem)]
    return [item for item in items if isinstance(item, Conversation)]


def dicts(item: Conversation) -> list[dict]:
    return [message_to_dict(message) for message in item.messages]


DOCUMENTS = {
    "a list of messages": (TWO, [TWO]),
    "an object": ({"messages": TWO}, [TWO]),
    "a list of objects": ([{"messages": ONE}, {"messages": TWO}], [ONE, TWO]),
    "a list of lists": ([ONE, TWO], [ONE, TWO]),
    "one message": (ONE[0], [ONE[:1]]),
    "no messages": ({"messages": []}, [[]]),
}


@pytest.mark.parametrize("indent", [None, 2], ids=["compact", "indented"])
@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".txt", ".jsonl"])
@pytest.mark.parametrize("case", DOCUMENTS)
def test_a_document_may_hold_one_conversation_or_several(tmp_path, case, suffix, indent):
    if suffix == ".jsonl" and indent:
        pytest.skip("JSON lines are not indented")
    value, expected = DOCUMENTS[case]
    found = read(write(tmp_path / f"a{suffix}", json.dumps(value, indent=indent)))
    assert [dicts(item) for item in found] == expected


LINES = {
    "objects": ([{"messages": ONE}, {"messages": TWO}], [ONE, TWO]),
    "lists": ([ONE, TWO], [ONE, TWO]),
    "messages": (TWO, [TWO]),
    "blank lines between": (["", json.dumps({"messages": ONE}), "", "  "], [ONE]),
}


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.jsonl.gz", "a.json", "a"])
@pytest.mark.parametrize("case", LINES)
def test_lines_hold_a_conversation_each_or_are_one(tmp_path, case, name):
    values, expected = LINES[case]
    assert [dicts(item) for item in read(write_lines(tmp_path / name, values))] == expected


def test_name_tools_and_model_are_taken_from_the_object(tmp_path):
    fields = {"id": 7, "model": "some", "tools": [TOOL], "messages": ONE}
    (found,) = read(write(tmp_path / "a.json", fields))
    assert (found.id, found.model, [tool.name for tool in found.tools]) == ("7", "some", ["look"])


def test_a_conversation_without_a_name_is_named_after_its_place(tmp_path):
    file = write_lines(tmp_path / "a.jsonl", [ONE, TWO])
    assert [(item.id, item.line) for item in read(file)] == [(f"{file}#1", 1), (f"{file}#2", 2)]


def test_the_items_of_an_indented_list_know_their_lines(tmp_path):
    file = write(tmp_path / "a.json", '\n[\n {"messages": []},\n\n {"messages":\n []}\n]\n')
    assert [item.line for item in read(file)] == [3, 5]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz"])
def test_a_byte_order_mark_is_accepted(tmp_path, name):
    file = write(tmp_path / name, b"\xef\xbb\xbf" + json.dumps({"messages": ONE}).encode())
    assert len(read(file)) == 1


def test_windows_line_ends_and_gzip_members_one_after_the_other_are_accepted(tmp_path):
    line = json.dumps({"messages": ONE}).encode() + b"\r\n"
    assert len(read(write(tmp_path / "a.jsonl", line * 3))) == 3
    assert len(read(write(tmp_path / "a.jsonl.gz", gzip.compress(line) + gzip.compress(line) + b"\0" * 20))) == 2


def test_a_gzip_file_is_known_by_its_content(tmp_path):
    assert len(read(write(tmp_path / "a.jsonl", gzip.compress(json.dumps({"messages": ONE}).encode())))) == 1


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(json.dumps(ONE).encode()))))
    assert [dicts(item) for item in read("-")] == [ONE]


def test_lines_are_read_one_at_a_time(tmp_path):
    source = Source(write_lines(tmp_path / "a.jsonl", [{"messages": TWO}] * 5000))
    first = next(conversations(source))
    assert isinstance(first, Conversation)
    assert source.line < 5
    assert source.bytes_read < 100_000
