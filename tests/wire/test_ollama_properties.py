"""Whatever an Ollama body holds comes back, and whatever a conversation holds can be written."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aaa.messages import LLMRequest
from aaa.messages.digest import digest
from aaa.messages.message import with_text
from aaa.wire.ollama import request_from_body, request_to_body
from tests.strategies import ODD_TEXTS, conversations, json_values, tool_specs

NAMES = ("read", "run", "")

texts = st.one_of(st.text(max_size=4), st.sampled_from(ODD_TEXTS))
ids = st.sampled_from(("id1", "id2", "read-1", "", None))
objects = st.dictionaries(texts, json_values(3), max_size=3)


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    function: dict[str, Any] = {"name": draw(st.sampled_from(NAMES))}
    if draw(st.integers(0, 4)):
        function["arguments"] = draw(st.one_of(objects, objects, st.none()))
    fields = {"function": function} | ({"id": draw(ids)} if draw(st.booleans()) else {})
    if draw(st.integers(0, 3)) == 0:
        function["index"] = 0
        fields["type"] = "function"
    return fields


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(("assistant", "assistant", "tool", "tool", "user", "system", "developer", "critic")))
    fields: dict[str, Any] = {"role": role}
    options: dict[str, Any] = {
        "content": st.one_of(texts, texts, st.none()),
        "thinking": st.one_of(texts, st.none()),
        "images": st.one_of(st.lists(texts, max_size=2), st.none()),
        "tool_calls": st.one_of(st.lists(calls(), max_size=3), st.none()) if role == "assistant" else json_values(2),
        "tool_name": st.one_of(st.sampled_from(NAMES), st.none()),
        "tool_call_id": ids,
        "x": json_values(2),
    }
    often = {"assistant": ("content", "tool_calls"), "tool": ("content", "tool_name", "tool_call_id")}
    for key, values in options.items():
        if draw(st.integers(0, 3)) >= (1 if key in often.get(role, ("content",)) else 3):
            fields[key] = draw(values)
    return fields


tools = st.fixed_dictionaries(
    {"type": st.just("function"), "function": st.fixed_dictionaries({"name": st.just("read")}, optional={"x": objects})}
)
bodies = st.fixed_dictionaries(
    {"messages": st.lists(messages(), max_size=7)},
    optional={
        "model": st.one_of(texts, st.none()),
        "tools": st.one_of(st.lists(tools, max_size=2), st.none()),
        "options": objects,
        "format": st.one_of(texts, objects),
        "think": st.booleans(),
        "x": json_values(2),
    },
)


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(bodies)
def test_any_body_comes_back_as_it_was(body):
    before = as_json(body)
    request = request_from_body(body)
    assert as_json(request_to_body(request)) == before
    assert as_json(body) == before


@given(st.lists(messages(), min_size=1, max_size=7), st.integers(0, 7))
def test_what_a_prefix_is_read_as_does_not_depend_on_what_follows(given_messages, length):
    whole = request_from_body({"messages": given_messages}).messages[:length]
    start = request_from_body({"messages": given_messages[:length]}).messages
    assert [digest(message) for message in whole] == [digest(message) for message in start]


@given(st.lists(messages(), min_size=1, max_size=5), st.data())
def test_an_edit_of_any_message_is_what_is_sent(given_messages, data):
    read = list(request_from_body({"messages": given_messages}).messages)
    index = data.draw(st.integers(0, len(read) - 1))
    read[index] = with_text(read[index], "edited here")
    assert request_to_body(LLMRequest(tuple(read)))["messages"][index]["content"] == "edited here"


@given(conversations(max_chars=500), tool_specs())
def test_any_conversation_can_be_written_and_read_again(conversation, specs):
    body = request_to_body(LLMRequest(tuple(conversation), specs, "qwen3"))
    assert len(body["messages"]) == len(conversation)
    assert as_json(request_to_body(request_from_body(body))) == as_json(body)
