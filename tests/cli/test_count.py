"""`aaa count`: the parts add up to the whole, and everything has its name."""

import pytest

from aaa.cli import main
from aaa.cli.counting import counters_at_hand
from aaa.context import HeuristicCounter
from aaa.wire.openai_chat import messages_from_dicts, tool_from_dict
from tests.cli.files import conversation, run_json, write, write_lines

TOOL = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
PARTS = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, IMAGE, IMAGE]}


def test_roles_kinds_and_counters_agree(tmp_path, capsys):
    messages = [*conversation(3), PARTS]
    file = write(tmp_path / "a.json", {"id": "one", "messages": messages, "tools": [TOOL]})
    document = run_json(capsys, "count", file)
    total = document["total"]
    whole = HeuristicCounter().count(messages_from_dicts(messages), [tool_from_dict(TOOL)])
    assert total["tokens"]["heuristic"] == whole == document["results"][0]["tokens"]["heuristic"]
    assert sum(kind["tokens"] for kind in total["kinds"].values()) == whole
    tools = total["kinds"]["tool specification"]["tokens"]
    assert sum(role["tokens"] for role in total["roles"].values()) == whole - tools
    assert {role: share["count"] for role, share in total["roles"].items()} == {
        "system": 1,
        "user": 2,
        "assistant": 3,
        "tool": 3,
    }
    assert total["media_parts"] == {"image_url": 2}


def test_results_have_the_name_of_the_tool_they_answer(tmp_path, capsys):
    orphan = {"role": "tool", "tool_call_id": "gone", "content": "x"}
    named = {"role": "tool", "tool_call_id": "gone too", "name": "seek", "content": "x"}
    file = write(tmp_path / "a.json", [*conversation(2), orphan, named])
    tools = run_json(capsys, "count", file)["total"]["tools"]
    counts = {tool: (shares["calls"]["count"], shares["results"]["count"]) for tool, shares in tools.items()}
    assert counts == {"look": (2, 2), "(unknown)": (0, 1), "seek": (0, 1)}


def test_the_ten_largest_messages_are_named_with_their_place(tmp_path, capsys):
    lines = [{"id": f"c{n}", "messages": conversation(1, "word " * (100 * n))} for n in range(1, 15)]
    largest = run_json(capsys, "count", write_lines(tmp_path / "a.jsonl", lines))["total"]["largest"]
    assert [big["id"] for big in largest] == [f"c{n}" for n in range(14, 4, -1)]
    assert largest[0].items() >= {"index": 3, "role": "tool", "tool": "look"}.items()


def test_of_messages_as_large_the_first_is_named_first(tmp_path, capsys):
    file = write(tmp_path / "a.json", [{"role": "user", "content": "same"}] * 15)
    largest = run_json(capsys, "count", file)["total"]["largest"]
    assert [big["index"] for big in largest] == list(range(10))


def test_every_counter_is_either_used_or_named_as_missing(tmp_path, capsys):
    total = run_json(capsys, "count", write(tmp_path / "a.json", conversation()))["total"]
    assert {*total["tokens"], *total["counters_missing"]} == {"heuristic", "o200k_base", "cl100k_base"}
    assert list(total["tokens"]) == list(counters_at_hand()[0])


def test_the_text_shows_every_section(tmp_path, capsys):
    file = write(tmp_path / "a.json", {"messages": [*conversation(2), PARTS], "tools": [TOOL]})
    assert main(["count", file]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for title in ("role", "kind", "other parts", "tool ", "largest, in conversation", "all, by counter"):
        assert any(line.startswith(title) for line in out.splitlines()), title


@pytest.mark.parametrize("command", ["count", "fit"])
def test_a_conversation_that_cannot_be_counted_is_a_problem_and_no_crash(tmp_path, capsys, command):
    deep = "[" * 50_000 + "]" * 50_000
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": deep}}
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}]
    file = write(tmp_path / "a.json", messages)
    options = ["--window", "500000"] if command == "fit" else []
    status = main([command, file, *options])
    err = capsys.readouterr().err
    assert (status, err) in ((0, ""), (2, f"{file}:1: a message is nested too deeply\n"))
