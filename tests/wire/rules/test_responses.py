"""What is written of a repaired reply of OpenAI's Responses, item for item."""

from typing import Any

import pytest

from aaa.wire.openai_responses import items_from_messages, messages_from_items
from aaa.wire.rewriting import with_parts
from aaa.wire.rules import EMPTY_USER, rules_for
from tests.wire.rules.histories import EMPTY_ITEM

Item = dict[str, Any]

USER, THEN = {"role": "user", "content": "go"}, {"role": "user", "content": "then"}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": ""}
KINDS = ("computer_call", "local_shell_call", "shell_call", "apply_patch_call")
EMPTY: list[Any] = ["", [], None, [{"type": "output_text", "text": ""}]]


def thought(number: int) -> Item:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": []}


def asked(kind: str, name: str = "k1") -> Item:
    return {"type": kind, "id": f"id_{name}", "call_id": name, "action": {"commands": ["ls"]}}


def answered(kind: str, name: str = "k1") -> Item:
    return {"type": f"{kind}_output", "call_id": name, "output": []}


def repaired(*items: Item, **params: Any) -> list[Item]:
    messages, _ = rules_for("openai-responses", params=params).repair(messages_from_items(items))
    return items_from_messages(messages)


@pytest.mark.parametrize("content", EMPTY, ids=str)
def test_an_assistant_that_says_nothing_is_left_out(content):
    silent = {"type": "message", "role": "assistant", "content": content}
    assert repaired(USER, silent, THEN) == [USER, THEN]
    assert repaired(USER, silent, CALL, RESULT, THEN) == [USER, CALL, RESULT, THEN]
    beside = [thought(1), CALL, thought(2), {**CALL, "call_id": "c2"}, RESULT, {**RESULT, "call_id": "c2"}]
    assert repaired(USER, beside[0], silent, *beside[1:], THEN) == [USER, *beside, THEN]


@pytest.mark.parametrize("content", EMPTY, ids=str)
def test_an_item_that_says_nothing_beside_others_is_left_out_alone(content):
    silent = {"type": "message", "role": "assistant", "content": content}
    assert repaired(USER, SAID, silent, THEN) == [USER, SAID, THEN]
    assert repaired(USER, silent, SAID, THEN) == [USER, SAID, THEN]


def test_an_empty_text_beside_others_in_its_item_stays():
    said = {**SAID, "content": [{"type": "output_text", "text": ""}, {"type": "output_text", "text": "ok"}]}
    assert repaired(USER, said, THEN) == [USER, said, THEN]


@pytest.mark.parametrize("content", ["", [], [{"type": "input_text", "text": ""}]], ids=str)
def test_a_user_who_says_nothing_has_a_stand_in(content):
    assert repaired({"role": "user", "content": content}, CALL, RESULT)[0]["content"] == EMPTY_USER


def test_an_empty_result_stays():
    assert repaired(USER, CALL, RESULT) == [USER, CALL, RESULT]


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_for_the_client_goes_with_its_output_or_not_at_all(kind):
    pair = [asked(kind), answered(kind)]
    assert repaired(USER, thought(1), *pair, SAID, THEN) == [USER, thought(1), *pair, SAID, THEN]
    assert repaired(USER, asked(kind), THEN, answered(kind)) == [USER, asked(kind), THEN, answered(kind)]
    assert repaired(USER, asked(kind), THEN) == [USER, THEN]
    assert repaired(USER, thought(1), asked(kind)) == [USER]
    assert repaired(USER, answered(kind), SAID, THEN) == [USER, SAID, THEN]
    assert repaired(USER, *pair, answered(kind), THEN) == [USER, *pair, THEN]


def test_an_output_of_the_local_shell_may_name_its_call_by_id():
    for name in ("k1", "id_k1"):
        items = [USER, asked("local_shell_call"), {"type": "local_shell_call_output", "id": name, "output": "{}"}, THEN]
        assert repaired(*items) == items


def test_an_output_of_another_kind_is_none():
    assert repaired(USER, asked("shell_call"), answered("computer_call"), THEN) == [USER, THEN]


def test_what_continues_elsewhere_may_have_outputs_alone():
    items = [answered("shell_call"), THEN]
    assert repaired(*items, previous_response_id="resp_1") == items
    assert repaired({"type": "item_reference", "id": "x"}, *items) == [{"type": "item_reference", "id": "x"}, *items]


def test_reasoning_goes_with_the_calls_it_led_to_and_stays_with_what_else_it_led_to():
    lost, other = asked("shell_call", "lost"), {**CALL, "call_id": "c1"}
    items = [thought(1), lost, thought(2), SAID]
    assert repaired(USER, *items, THEN) == [USER, thought(2), SAID, THEN]
    assert repaired(USER, thought(1), lost, other, RESULT, THEN) == [USER, thought(1), other, RESULT, THEN]


def test_a_cut_parts_no_call_from_its_output():
    messages = messages_from_items([USER, asked("shell_call"), THEN, answered("shell_call"), THEN, SAID])
    assert rules_for("openai-responses").safe_cuts(messages) == [1, 4, 5]


def test_a_call_that_is_not_written_without_its_reasoning_takes_its_output_along():
    user, reply, said = messages_from_items([USER, thought(1), asked("shell_call"), answered("shell_call"), SAID])
    assert reply.content is not None
    bare = with_parts(reply, tuple(reply.content[1:]))
    assert bare is not None
    assert items_from_messages([user, bare, said]) == [USER, SAID]


def test_a_whole_item_of_nothing_is_read_and_written_as_it_was():
    silent = {"type": "message", "role": "assistant", "content": []}
    (message,) = messages_from_items([silent])
    assert message.content == (EMPTY_ITEM,)
    assert items_from_messages([message]) == [silent]


def test_arguments_that_were_cut_off_are_put_into_an_object_and_the_input_of_a_custom_tool_is_any_text():
    call = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls'}
    result = {"type": "function_call_output", "call_id": "c1", "output": "done"}
    _, mended, *_ = repaired(USER, call, result, THEN)
    assert mended["arguments"] == '{"INVALID_JSON":"{\\"command\\": \\"ls"}'
    custom = {"type": "custom_tool_call", "call_id": "c1", "name": "bash", "input": "ls -l"}
    items = [USER, custom, {**result, "type": "custom_tool_call_output"}, THEN]
    assert repaired(*items) == items
