"""What holds for any dict in OpenAI's chat format."""

import copy
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aaa.context import ContextPolicy, HeuristicCounter, PromptFitter
from aaa.errors import WireError
from aaa.messages import digest, pair
from aaa.wire.openai_chat import (
    message_from_dict,
    message_to_dict,
    messages_from_dicts,
    tool_from_dict,
    tool_to_dict,
)
from tests.strategies import TIKTOKEN, json_values, message_dicts, tool_dicts


def as_json(value: Any) -> str:
    """Equal JSON, told apart from merely equal values (1, 1.0 and True)."""
    return json.dumps(value, sort_keys=True)


@given(message_dicts())
def test_a_message_read_and_written_is_the_same(fields):
    before = copy.deepcopy(fields)
    written = message_to_dict(message_from_dict(fields))
    assert written == fields == before
    assert as_json(written) == as_json(fields)


@given(message_dicts())
def test_a_message_written_and_read_is_the_same(fields):
    message = message_from_dict(fields)
    again = message_from_dict(message_to_dict(message))
    assert (again, hash(again), digest(again)) == (message, hash(message), digest(message))


@given(message_dicts(), st.dictionaries(st.text(max_size=4).map("x_{}".format), json_values(3), max_size=3))
def test_unknown_keys_are_no_part_of_the_digest(fields, unknown):
    more = fields | unknown
    if fields.get("tool_calls"):
        more["tool_calls"] = [call | unknown for call in fields["tool_calls"]]
    assert digest(message_from_dict(fields)) == digest(message_from_dict(more))


@given(tool_dicts())
def test_a_tool_read_and_written_is_the_same(fields):
    before = copy.deepcopy(fields)
    written = tool_to_dict(tool_from_dict(fields))
    assert written == fields == before
    assert as_json(written) == as_json(fields)


@given(tool_dicts())
def test_any_tool_that_can_be_read_can_be_counted(fields):
    tool = tool_from_dict(fields)
    for counter in (HeuristicCounter(), TIKTOKEN):
        assert counter.count((), (tool,)) > 0


@given(message_dicts())
def test_any_message_that_can_be_read_can_be_counted(fields):
    message = message_from_dict(fields)
    for counter in (HeuristicCounter(), TIKTOKEN):
        assert counter.count((message,)) >= 4


@pytest.mark.parametrize("call_id", ["call_1", "0", "", 0, 7])
def test_a_call_and_its_result_find_each_other_whatever_their_id(call_id):
    call = {"id": call_id, "type": "function", "function": {"name": "read", "arguments": "{}"}}
    dicts = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": call_id, "content": "x"}]
    assert pair(messages_from_dicts(dicts)).call_of == {1: 0}


class Model:
    """What an SDK returns: fields as attributes, and a way to dump those that were set."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def model_dump(self, *, exclude_unset: bool = False) -> dict[str, Any]:
        return self.fields if exclude_unset else self.fields | {"unset": None}


@given(message_dicts())
def test_a_message_object_of_an_sdk_is_read_as_its_dict(fields):
    assert message_to_dict(message_from_dict(Model(fields))) == fields


@given(message_dicts())
def test_objects_of_an_sdk_inside_a_dict_are_read_as_their_dicts(fields):
    given_fields = dict(fields)
    if fields.get("tool_calls"):
        given_fields["tool_calls"] = [Model(call) for call in fields["tool_calls"]]
    if isinstance(fields.get("content"), list):
        given_fields["content"] = [Model(part) for part in fields["content"]]
    assert message_to_dict(message_from_dict(given_fields)) == fields


@given(tool_dicts())
def test_a_tool_object_of_an_sdk_is_read_as_its_dict(fields):
    assert tool_to_dict(tool_from_dict(Model(fields))) == fields


NOT_JSON = st.sampled_from((object(), b"bytes", {1, 2}, float("nan"), float("-inf"), 1j, lambda: None))
ANYTHING = st.one_of(json_values(), NOT_JSON)
VALUES = st.one_of(ANYTHING, st.lists(ANYTHING, max_size=2))
KEYS = ("role", "content", "tool_calls", "tool_call_id", "name", "x", "aaa:absent")


def _said(fields: dict[str, Any]) -> dict[str, Any]:
    return fields | {"role": "user"}


@given(
    st.lists(message_dicts(), max_size=2),
    st.one_of(
        ANYTHING,
        st.dictionaries(st.sampled_from(KEYS), VALUES),
        st.dictionaries(st.sampled_from(KEYS), VALUES).map(_said),
    ),
)
@example([], {"role": "user", "x": object()})
@example([], {"role": "user", "content": [{"type": "text", "text": object()}]})
@example([{"role": "user"}], {"role": "user", "content": b"x"})
@example([{"role": "user"}], {"role": "user", "content": 5})
@example([], {"role": "assistant", "tool_calls": 5})
def test_a_malformed_message_is_refused_with_its_index_and_nothing_else(before, fields):
    try:
        messages = messages_from_dicts([*before, fields])
    except WireError as error:
        problem = error
    else:
        assert message_to_dict(messages[-1])["role"] == fields["role"]
        return
    assert problem.index == len(before)
    assert f"message {len(before)}" in str(problem)


@given(
    st.lists(tool_dicts(), max_size=2),
    st.one_of(
        ANYTHING,
        st.dictionaries(st.sampled_from(("type", "function", "name", "description", "parameters")), ANYTHING),
        st.fixed_dictionaries({"name": st.just("read"), "parameters": ANYTHING}),
        st.fixed_dictionaries({"name": st.just("read"), "description": ANYTHING}),
    ),
)
@example([], {"name": "read", "parameters": 5})
@example([], {"name": "read", "parameters": {"minimum": float("-inf")}})
@example([], {"name": "read", "parameters": {"\ud800": 1}})
def test_a_malformed_tool_is_refused_with_a_wire_error_and_nothing_else(before, fields):
    policy = ContextPolicy(1_000_000)
    try:
        PromptFitter(policy).fit_sync([{"role": "user", "content": "x"}], tools=[*before, fields])
    except WireError as error:
        problem = error
    else:
        return
    assert problem.index == len(before)
