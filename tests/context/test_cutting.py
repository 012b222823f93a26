"""The floor's last rungs: results and arguments cut to the longest common length that fits."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aaa.context import ContextPolicy, FitterState, HeuristicCounter, PromptFitter, Transcript
from aaa.errors import ContextFloorError
from aaa.messages import Message, OpaquePart, TextPart, ToolCall
from aaa.wire.openai_chat import message_from_dict
from tests.context.test_abridged import containers, objects

TASK = Message("user", "task")
SHOT = OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"https://example.org/shot.png"}}')  # of any size


def prompt_of(messages, window, **settings):
    policy = ContextPolicy(window, reserve_output=0, counter=HeuristicCounter(), **settings)
    prepared = asyncio.run(policy.prepare(messages))
    assert HeuristicCounter().count(prepared.messages) == prepared.plan.tokens_after <= window
    assert prepared.plan.apply(messages) == list(prepared.messages)
    return prepared


def called(arguments, call_id="1", **extra):
    return Message("assistant", None, (ToolCall(call_id, "write", arguments, **extra),))


def result(text, call_id="1"):
    return Message("tool", text, (), call_id)


def results_of(*texts):
    calls = tuple(ToolCall(str(n), "read") for n in range(len(texts)))
    return [TASK, Message("assistant", None, calls), *(result(text, str(n)) for n, text in enumerate(texts))]


def test_a_json_result_of_the_newest_turn_is_json_after_it_was_cut():
    rows = [{"id": number, "text": "lorem ipsum " * 20} for number in range(400)]
    prepared = prompt_of(results_of(json.dumps({"rows": rows, "next": 401})), 1000)
    short = json.loads(prepared.messages[2].text)
    assert prepared.report["floor"] == ["cut_results"]
    assert short["next"] == 401
    assert short["rows"][0] == rows[0]
    assert any("items cut" in item for item in short["rows"] if isinstance(item, str))


def test_other_text_keeps_its_start_and_its_end_and_says_how_much_is_missing():
    text = prompt_of(results_of("begin " + "x" * 90_000 + " end"), 1000).messages[2].text
    assert text.startswith("begin ")
    assert text.endswith(" end")
    assert "characters cut" in text


def test_room_is_shared_between_results_and_short_ones_stay_whole():
    short, *long = prompt_of(results_of("s" * 300, "a" * 9000, "b" * 50_000), 1500).messages[2:]
    assert short.text == "s" * 300
    assert len(long[0].text) == len(long[1].text) > 1000


def test_what_is_cut_is_cut_to_the_trigger_so_that_the_next_call_has_room():
    assert 1690 < prompt_of(results_of("x" * 400_000), 2000).plan.tokens_after <= 1700


def test_where_the_trigger_can_not_be_reached_all_the_room_there_is_gets_used():
    prepared = prompt_of([Message("user", "t" * 6200), *results_of("x" * 400_000)[1:]], 2000)
    assert 1990 < prepared.plan.tokens_after <= 2000


def test_arguments_are_shortened_leaf_by_leaf():
    arguments = {"path": "notes/a.md", "mode": 420, "content": "line " * 9000}
    prepared = prompt_of([TASK, called(json.dumps(arguments)), result("ok")], 500)
    short = prepared.messages[1].tool_calls[0].arguments
    assert prepared.report["floor"] == ["cut_arguments"]
    assert short | {"content": ""} == arguments | {"content": ""}
    assert "characters cut" in short["content"]


def test_a_nested_list_of_edits_is_shortened_where_it_is_long():
    edits = [{"old": "o" * 900, "new": "n" * 900}, {"old": "k", "new": "l"}]
    arguments = json.dumps({"file_path": "b.py", "edits": edits})
    short = prompt_of([TASK, called(arguments), result("ok")], 250).messages[1].tool_calls[0].arguments
    assert short["file_path"] == "b.py"
    assert short["edits"][-1] == edits[-1]
    assert short["edits"][0].keys() == edits[0].keys()


@pytest.mark.parametrize(
    "arguments", ['{"command": "' + "ls " * 3000, '["a"' + "," * 4000 + "]", "x" * 5000, '"' * 4000]
)
def test_long_arguments_that_are_no_object_become_one(arguments):
    prepared = prompt_of([TASK, called(arguments), result("ok")], 300)
    assert list(prepared.messages[1].tool_calls[0].arguments) == ["[arguments that are no object]"]


def test_the_input_of_a_custom_tool_stays_text():
    call = {"id": "1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin\n" + "+ line\n" * 2000}}
    messages = [TASK, message_from_dict({"role": "assistant", "tool_calls": [call]}), result("ok")]
    text = prompt_of(messages, 300).messages[1].tool_calls[0].arguments_json
    assert text.startswith("*** Begin\n")
    assert "characters cut" in text


def test_what_is_sent_as_a_dict_has_the_shorter_arguments():
    function = {"name": "write", "arguments": json.dumps({"content": "x" * 9000})}
    call = {"id": "1", "type": "function", "function": function, "index": 0}
    messages = [{"role": "user", "content": "t"}, {"role": "assistant", "tool_calls": [call], "own": 1}]
    messages.append({"role": "tool", "tool_call_id": "1", "content": "ok"})
    policy = ContextPolicy(300, reserve_output=0)
    sent = asyncio.run(policy.prepare(messages)).messages[1]
    assert len(sent["tool_calls"][0]["function"]["arguments"]) < 1000
    assert (sent["own"], sent["tool_calls"][0]["index"]) == (1, 0)


def test_no_arguments_are_cut_where_shorter_results_are_enough():
    arguments = json.dumps({"content": "x" * 900})
    prepared = prompt_of([TASK, called(arguments), result("y" * 9000)], 600)
    assert prepared.report["floor"] == ["cut_results"]
    assert prepared.messages[1].tool_calls[0].arguments_json == arguments


def test_no_user_words_go_for_the_sake_of_long_arguments():
    rule = Message("user", "a rule " * 20)
    prepared = prompt_of([TASK, rule, called(json.dumps({"content": "x" * 9000})), result("ok")], 300)
    assert prepared.messages[1] is rule


def test_pinned_results_and_arguments_stay_as_they_are():
    call = Message("assistant", None, (ToolCall("1", "write", json.dumps({"content": "x" * 900})),), pinned=True)
    messages = [TASK, call, Message("tool", "y" * 900, (), "1", pinned=True)]
    with pytest.raises(ContextFloorError) as caught:
        prompt_of(messages, 300)
    assert [index for index, _, _ in caught.value.largest[:2]] == [1, 2]


@given(containers, st.integers(300, 2000))
def test_any_json_result_that_is_cut_still_parses(value, window):
    text = json.dumps(value, ensure_ascii=False)
    try:
        prepared = prompt_of(results_of(text), window)
    except ContextFloorError as error:
        pytest.fail(str(error))
    assert type(json.loads(prepared.messages[2].text)) is type(value)


@given(objects, st.integers(200, 2000))
def test_any_arguments_that_are_cut_still_parse_to_an_object_with_the_same_keys(value, window):
    messages = [TASK, called(json.dumps(value, ensure_ascii=False)), result("ok")]
    try:
        prepared = prompt_of(messages, window)
    except ContextFloorError as error:
        if sum(map(len, value)) / 3.5 < window - 250:  # the keys alone
            pytest.fail(str(error))
        return
    assert list(prepared.messages[1].tool_calls[0].arguments) == list(value)


def test_what_is_cut_is_an_edit_that_stays_in_force():
    policy = ContextPolicy(500, reserve_output=0, counter=HeuristicCounter(), sticky=True)
    fitter = PromptFitter(policy)
    messages = [TASK, called(json.dumps({"content": "x" * 9000})), result("y" * 9000)]
    first = fitter.fit_sync(messages)
    assert [(edit.action, edit.index, edit.strategy) for edit in first.plan.edits] == [
        ("replace", 1, "floor"),
        ("replace", 2, "floor"),
    ]
    again = PromptFitter(policy, FitterState.from_json(fitter.state.to_json()))
    second = again.fit_sync([*messages, Message("user", "go on")])
    assert second.messages[:3] == first.messages
    assert Transcript(messages, count=lambda _: 0)[1] is messages[1]


def test_images_of_the_newest_results_become_notes_the_oldest_first_and_as_few_as_it_takes():
    shots = [replace(result("", str(n)), content=(TextPart(f"shot {n}"), SHOT)) for n in range(4)]
    calls = tuple(ToolCall(str(n), "look") for n in range(4))
    messages = [TASK, Message("assistant", None, calls), *shots]
    prepared = asyncio.run(ContextPolicy(4_000, reserve_output=0).prepare(messages))
    assert prepared.report["floor"] == ["cut_media"]
    assert [SHOT in message.content for message in prepared.messages[2:]] == [False, False, True, True]
    assert prepared.messages[2].content[0] == shots[0].content[0]
    assert "image left out" in prepared.messages[2].content[1].text
    assert [edit.index for edit in prepared.plan.edits] == [2, 3]


def test_images_that_the_user_gave_are_not_cut():
    messages = [
        Message("user", "look"),
        Message("assistant", "at what?"),
        Message("user", (TextPart("these"), *[SHOT] * 3)),
    ]
    with pytest.raises(ContextFloorError):
        asyncio.run(ContextPolicy(4_000, reserve_output=0).prepare(messages))
