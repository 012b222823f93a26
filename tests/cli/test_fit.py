"""`aaa fit`: what is counted, printed and written."""

import gzip
import json
import os

import pytest

from aaa.cli import main
from aaa.cli.fitting import call_lengths
from aaa.cli.standin import stand_in_summary
from aaa.context import HeuristicCounter
from aaa.messages import Message
from aaa.wire.openai_chat import messages_from_dicts
from tests.cli.files import conversation, long_conversation, run_json, write, write_lines

WINDOW = ("--window", "2000")
HUGE = {"role": "user", "content": "word " * 4000}


@pytest.mark.parametrize(
    ("roles", "lengths"),
    [
        ("", []),
        ("u", [1]),
        ("ua", [1]),
        ("sua", [2]),
        ("uau", [1, 3]),
        ("uaa", [1, 2]),
        ("a", []),
        ("au", [2]),
        ("uatata", [1, 3, 5]),
        ("uatat", [1, 3, 5]),
        ("t", [1]),
    ],
)
def test_every_assistant_message_is_a_call_and_what_is_open_at_the_end_is_one_too(roles, lengths):
    names = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
    assert call_lengths([Message(names[role], "x") for role in roles]) == lengths


def test_a_conversation_that_fits_is_sent_as_it_is(tmp_path, capsys):
    document = run_json(capsys, "fit", write(tmp_path / "a.json", conversation(3)), *WINDOW)
    (result,) = document["results"]
    size = HeuristicCounter().count(messages_from_dicts(conversation(3)))
    assert (document["schema"], document["command"], document["errors"]) == ("aaa.cli/1", "fit", [])
    assert (result["calls"], result["messages"], result["compactions"], result["refused"]) == (4, 8, 0, 0)
    assert result["largest_without_tokens"] == result["largest_with_tokens"] == size
    assert result["applied"] == result["floor"] == {}


def test_a_conversation_that_does_not_fit_is_compacted_and_counted(tmp_path, capsys):
    document = run_json(capsys, "fit", write(tmp_path / "a.json", long_conversation()), *WINDOW)
    (result,) = document["results"]
    assert result["calls"] == 13
    assert result["largest_without_tokens"] > 3500
    assert result["largest_with_tokens"] <= 1500
    assert 0 < result["compactions"] < 13
    assert result["applied"]["clear_tool_results"] == result["compactions"]
    assert document["total"].items() >= {"conversations": 1, "calls": 13}.items()


def test_totals_add_up_over_files(tmp_path, capsys):
    files = [write(tmp_path / f"{n}.json", long_conversation(n)) for n in (3, 8, 12)]
    document = run_json(capsys, "fit", *files, *WINDOW)
    for name in ("calls", "compactions", "refused"):
        assert document["total"][name] == sum(result[name] for result in document["results"])
    assert document["total"]["largest_without_tokens"] == max(r["largest_without_tokens"] for r in document["results"])


def test_sticky_edits_less_often(tmp_path, capsys):
    file = write(tmp_path / "a.json", long_conversation(20))
    plain, sticky = (run_json(capsys, "fit", file, *WINDOW, *more)["total"] for more in ((), ("--sticky",)))
    assert sticky["compactions"] < plain["compactions"]


def test_summaries_are_written_by_a_stand_in_that_says_so(tmp_path, capsys):
    file = write(tmp_path / "a.json", long_conversation(20))
    assert main(["fit", file, *WINDOW, "--summarize", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["total"]["applied"]["summarize"] > 0
    assert err.count("\n") == 1
    assert "stand-in" in err


@pytest.mark.parametrize("text", ["short", "x" * 10_000, "Error: it failed " * 100])
@pytest.mark.parametrize("previous", [None, "earlier", "y" * 600])
def test_the_stand_in_is_short_and_always_the_same(text, previous):
    summary = stand_in_summary(text, previous)
    assert summary == stand_in_summary(text, previous)
    assert len(summary) <= 600
    assert text[:5] in summary


def test_a_refused_call_is_a_result_and_the_next_call_is_still_tried(tmp_path, capsys):
    messages = [
        *conversation(1),
        HUGE,
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "Go on."},
    ]
    document = run_json(capsys, "fit", write(tmp_path / "a.json", messages), *WINDOW)
    (result,) = document["results"]
    assert (result["calls"], result["refused"]) == (3, 1)
    (refusal,) = result["refusals"]
    assert (refusal["call"], refusal["messages"]) == (2, 5)
    assert refusal["needed_tokens"] == refusal["head_tokens"] + refusal["tools_tokens"] + refusal["tail_tokens"]
    assert refusal["needed_tokens"] > refusal["budget_tokens"] == 1500
    assert result["largest_without_tokens"] > 5000
    assert result["largest_with_tokens"] <= 1500


def test_a_conversation_that_never_fits_has_no_largest_request_with_a_policy(tmp_path, capsys):
    file = write(tmp_path / "a.json", [HUGE])
    assert run_json(capsys, "fit", file, *WINDOW)["results"][0]["largest_with_tokens"] is None
    assert main(["fit", file, *WINDOW]) == 0
    out, err = capsys.readouterr()
    assert "refused 1 of 1 calls, first call 1: needs 5,719 tokens (head 5,719 + tools 0 + newest turn 0)" in out
    assert "budget 1,500 (window 2,000 - reserve 500)" in out
    assert err.startswith("warning: ")


def test_the_single_refusals_of_a_conversation_are_capped_but_counted(tmp_path, capsys):
    messages = [HUGE, *[{"role": "assistant", "content": "x"}] * 40]
    (result,) = run_json(capsys, "fit", write(tmp_path / "a.json", messages), *WINDOW)["results"]
    assert result["refused"] == 40
    assert len(result["refusals"]) == 10


def test_floor_rungs_are_counted_by_name(tmp_path, capsys):
    messages = conversation(3, "word " * 800)
    (result,) = run_json(capsys, "fit", write(tmp_path / "a.json", messages), *WINDOW)["results"]
    assert result["floor"].keys() <= {"fewer_recent", "cut_results", "summary_dropped"}
    assert result["floor"]["fewer_recent"] > 0
    assert result["applied"]["floor"] >= result["floor"]["fewer_recent"]


def test_the_plan_shows_the_edits_of_the_last_call(tmp_path, capsys):
    file = write(tmp_path / "a.json", long_conversation())
    (result,) = run_json(capsys, "fit", file, *WINDOW, "--summarize", "--plan")["results"]
    assert result["plan"]
    for edit in result["plan"]:
        assert edit.keys() == {"index", "stop", "role", "action", "strategy", "tokens_before", "tokens_after"}
        assert edit["stop"] > edit["index"]
    assert main(["fit", file, *WINDOW, "--summarize", "--plan"]) == 0
    out = capsys.readouterr().out
    assert "last call, edits: " in out
    assert " summarize  summarize " in out


def test_the_plan_of_a_conversation_that_fits_says_so(tmp_path, capsys):
    file = write(tmp_path / "a.json", conversation())
    assert main(["fit", file, *WINDOW, "--plan"]) == 0
    assert "sends everything, unchanged" in capsys.readouterr().out


def test_text_is_not_cut_where_it_is_no_terminal(tmp_path, capsys):
    name = "a conversation with a long name " * 10
    file = write(tmp_path / "a.json", {"id": name, "messages": conversation()})
    assert main(["fit", file, *WINDOW]) == 0
    out = capsys.readouterr().out
    assert name in out
    assert "\x1b" not in out


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_the_last_prompts_are_written_in_the_format_they_came_in(tmp_path, capsys, name):
    tool = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}
    short = [{"role": "user", "content": "é \ud800", "vendor": {"key": 1}}]
    lines = [{"id": "a", "messages": short, "tools": [tool]}, {"id": "b", "messages": long_conversation()}]
    file, out = write_lines(tmp_path / "in.jsonl", lines), tmp_path / name
    assert main(["fit", file, *WINDOW, "-o", str(out)]) == 0
    data = out.read_bytes()
    written = [json.loads(line) for line in (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()]
    assert written[0] == lines[0]
    assert written[1].keys() == {"id", "messages"}
    prompt = messages_from_dicts(written[1]["messages"])
    assert HeuristicCounter().count(prompt) <= 1500
    assert written[1]["messages"][:2] == long_conversation()[:2]
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl", name]


def test_a_conversation_whose_last_call_is_refused_is_left_out_and_named(tmp_path, capsys):
    lines = [{"id": "fits", "messages": conversation()}, {"id": "does not", "messages": [HUGE]}, {"messages": []}]
    file, out = write_lines(tmp_path / "in.jsonl", lines), tmp_path / "out.jsonl"
    assert main(["fit", file, *WINDOW, "-o", str(out)]) == 0
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["fits"]
    err = capsys.readouterr().err
    assert f"{file}:2: does not is left out of the output: its last call was refused" in err
    assert f"{file}:3: {file}#3 is left out of the output: it holds no call" in err


def test_an_input_is_not_written_over(tmp_path, capsys):
    file = write(tmp_path / "a.json", conversation())
    before = (tmp_path / "a.json").read_bytes()
    assert main(["fit", file, *WINDOW, "-o", str(tmp_path / "." / "a.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert (tmp_path / "a.json").read_bytes() == before


@pytest.mark.parametrize("out", ["", "missing/out.jsonl"], ids=["a folder", "in a folder that is not there"])
def test_an_output_that_cannot_be_written_is_refused_before_anything_runs(tmp_path, capsys, out):
    file = write(tmp_path / "a.json", conversation())
    assert main(["fit", file, *WINDOW, "-o", str(tmp_path / out)]) == 2
    out_text, err = capsys.readouterr()
    assert out_text == ""
    assert err.startswith("aaa fit: ")
    assert err.count("\n") == 1


def test_two_runs_print_the_same(tmp_path, capsys):
    file = write(tmp_path / "a.json", long_conversation())
    first, second = (run_json(capsys, "fit", file, *WINDOW, "--summarize", "--plan") for _ in range(2))
    assert first == second
