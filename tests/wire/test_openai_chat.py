"""The OpenAI chat format: read, written, the same again."""

import json

import pytest
from msgspec.structs import replace

from aaa.errors import WireError
from aaa.messages import Message, OpaquePart, TextPart, ToolCall, ToolSpec, pair
from aaa.wire.openai_chat import (
    message_from_dict,
    message_to_dict,
    messages_from_dicts,
    tool_from_dict,
    tool_to_dict,
)
from tests.shared import sample_step, trajectories, wire_bodies


def text_of(fields):
    """JSON text that tells 1 from true and from 1.0, whatever the order of keys."""
    return json.dumps(fields, sort_keys=True)


def call(call_id="call_1", name="read", arguments="{}", **more):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


MESSAGES = {
    "system": {"role": "system", "content": "Be brief."},
    "developer": {"role": "developer", "content": "Be brief."},
    "user": {"role": "user", "content": "hello", "name": "ann"},
    "empty text": {"role": "user", "content": ""},
    "no content": {"role": "assistant"},
    "null content": {"role": "assistant", "content": None},
    "text with a lone surrogate": {"role": "user", "content": "a\ud800b"},
    "unknown role": {"role": "critic", "content": "no"},
    "tool result": {"role": "tool", "tool_call_id": "call_1", "content": "done"},
    "tool result, its call null": {"role": "tool", "tool_call_id": None, "content": "done"},
    "tool result with parts": {
        "role": "tool",
        "tool_call_id": "call_1",
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
    },
    "tool result with a flag": {"role": "tool", "tool_call_id": "call_1", "content": "no", "is_error": True},
    "numbers that are not flags": {"role": "user", "content": "x", "one": 1, "true": True, "float": 1.0, "big": 10**30},
    "old function result": {"role": "function", "name": "read", "content": "done"},
    "name null": {"role": "user", "content": "x", "name": None},
    "name a number": {"role": "user", "content": "x", "name": 7},
    "text part": {"role": "user", "content": [{"type": "text", "text": "look"}]},
    "no parts": {"role": "user", "content": []},
    "image part": {
        "role": "user",
        "content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        ],
    },
    "sound and file parts": {
        "role": "user",
        "content": [
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "file", "file": {"file_id": "file-1"}},
        ],
    },
    "cache mark on a part": {
        "role": "system",
        "content": [{"type": "text", "text": "rules", "cache_control": {"type": "ephemeral"}}],
    },
    "text part with null text": {"role": "user", "content": [{"type": "text", "text": None}]},
    "part without a type": {"role": "user", "content": [{"text": "x"}]},
    "part with a null type": {"role": "user", "content": [{"type": None, "x": 1}]},
    "refusal part": {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
    "call": {"role": "assistant", "content": None, "tool_calls": [call()]},
    "call without content": {"role": "assistant", "tool_calls": [call()]},
    "calls": {"role": "assistant", "content": "", "tool_calls": [call("a"), call("b", "write", '{"a": 1}')]},
    "no calls": {"role": "assistant", "content": "x", "tool_calls": []},
    "null calls": {"role": "assistant", "content": "x", "tool_calls": None},
    "call with a thought signature": {
        "role": "assistant",
        "content": None,
        "tool_calls": [call(extra_content={"google": {"thought_signature": "c2ln"}}, index=0)],
    },
    "custom call": {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}],
    },
    "arguments as an object": {"role": "assistant", "tool_calls": [call(arguments={"a": [1, None]})]},
    "arguments null": {"role": "assistant", "tool_calls": [call(arguments=None)]},
    "arguments missing": {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "read"}}]},
    "arguments broken": {"role": "assistant", "tool_calls": [call(arguments='{"a": ')]},
    "call without id and type": {
        "role": "assistant",
        "tool_calls": [{"function": {"name": "read", "arguments": "{}"}}],
    },
    "call with a numeric id": {"role": "assistant", "tool_calls": [call(0)]},
    "call with a null id": {"role": "assistant", "tool_calls": [call(None)]},
    "call without a function": {"role": "assistant", "tool_calls": [{"id": "c", "type": "function"}]},
    "keys inside a function": {
        "role": "assistant",
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}", "description": None}}
        ],
    },
    "reply with unknown keys": {
        "role": "assistant",
        "content": "hello",
        "refusal": None,
        "annotations": [],
        "audio": None,
        "reasoning": "thought",
        "reasoning_content": "thought",
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "AAAA=="}],
        "function_call": {"name": "read", "arguments": "{}"},
    },
    "a text that is null": {"role": "user", "content": [{"type": "text", "text": None, "x": 1}]},
    "our own key": {"role": "user", "content": "x", "kind": "summary", "pinned": True, "extra": "{}"},
}


@pytest.mark.parametrize("fields", MESSAGES.values(), ids=MESSAGES.keys())
def test_a_message_is_written_as_it_was_read(fields):
    before = text_of(fields)
    assert text_of(message_to_dict(message_from_dict(fields))) == before
    assert text_of(fields) == before
    assert isinstance(hash(message_from_dict(fields)), int)


TOOLS = {
    "wrapped": {
        "type": "function",
        "function": {"name": "read", "description": "Read a file.", "parameters": {"type": "object"}},
    },
    "bare": {"name": "read", "description": "Read a file.", "parameters": {"type": "object", "properties": {}}},
    "name only": {"type": "function", "function": {"name": "read"}},
    "bare name only": {"name": "read"},
    "strict": {"type": "function", "function": {"name": "read", "parameters": {}, "strict": True}},
    "strict outside": {"type": "function", "name": "read", "parameters": {}, "strict": True},
    "nulls": {"type": "function", "function": {"name": "read", "description": None, "parameters": None}},
    "cache mark": {
        "type": "function",
        "function": {"name": "read", "description": "", "parameters": {}},
        "cache_control": {"type": "ephemeral"},
    },
    "numbers": {"name": "read", "parameters": {"default": 1.0, "minimum": 1, "const": True, "maximum": 10**30}},
    "lone surrogate": {"name": "read", "description": "a\ud800b", "parameters": {"title": "\ud800"}},
}


@pytest.mark.parametrize("fields", TOOLS.values(), ids=TOOLS.keys())
def test_a_tool_is_written_as_it_was_read(fields):
    before = text_of(fields)
    assert text_of(tool_to_dict(tool_from_dict(fields))) == before
    assert text_of(fields) == before
    assert isinstance(hash(tool_from_dict(fields)), int)


def test_a_message_is_read_into_its_fields():
    assert message_from_dict({"role": "user", "content": "hello", "name": "ann"}) == Message(
        "user", "hello", name="ann"
    )
    assert message_from_dict({"role": "tool", "tool_call_id": "1", "content": "x"}) == Message(
        "tool", "x", tool_call_id="1"
    )
    assert message_from_dict({"role": "assistant", "tool_calls": [call()]}) == Message(
        "assistant", None, (ToolCall("call_1", "read", "{}"),)
    )


def test_what_has_no_field_travels_as_extra():
    message = message_from_dict({"role": "assistant", "content": "x", "refusal": None})
    assert message == Message("assistant", "x", extra='{"refusal":null}')


def test_parts_are_text_or_opaque():
    image = {"type": "image_url", "image_url": {"url": "x"}}
    message = message_from_dict({"role": "user", "content": [{"type": "text", "text": "look"}, image]})
    assert message.content == (TextPart("look"), OpaquePart("image_url", json.dumps(image, separators=(",", ":"))))


def test_a_text_that_is_null_is_empty_and_gives_way_to_an_edit():
    message = message_from_dict({"role": "user", "content": [{"type": "text", "text": None}]})
    (part,) = message.content
    assert part == TextPart("", '{"text":null}')
    edited = replace(message, content=(replace(part, text="now"),))
    assert message_to_dict(edited)["content"] == [{"type": "text", "text": "now"}]


def test_arguments_given_as_an_object_and_a_custom_call_are_read():
    message = message_from_dict(MESSAGES["arguments as an object"])
    assert message.tool_calls[0].arguments == {"a": [1, None]}
    (custom,) = message_from_dict(MESSAGES["custom call"]).tool_calls
    assert (custom.id, custom.name, custom.arguments_json) == ("c", "sql", "select 1")


def test_a_call_and_a_result_with_a_numeric_id_are_a_pair():
    dicts = [{"role": "assistant", "tool_calls": [call(0)]}, {"role": "tool", "tool_call_id": 0, "content": "done"}]
    assert pair(messages_from_dicts(dicts)).call_of == {1: 0}


def test_a_tool_is_read_alike_wrapped_or_bare():
    wrapped, bare = tool_from_dict(TOOLS["wrapped"]), tool_from_dict(TOOLS["wrapped"]["function"])
    for spec in (wrapped, bare):
        assert (spec.name, spec.description, spec.parameters) == ("read", "Read a file.", {"type": "object"})


def test_a_message_and_a_tool_of_ours_are_written_in_the_format():
    message = Message("assistant", None, (ToolCall("1", "read", '{"a":1}'),), pinned=True, kind="marker")
    assert message_to_dict(message) == {"role": "assistant", "tool_calls": [call("1", "read", '{"a":1}')]}
    assert tool_to_dict(ToolSpec("read", "Read.", '{"type":"object"}')) == {
        "type": "function",
        "function": {"name": "read", "description": "Read.", "parameters": {"type": "object"}},
    }


def test_what_was_written_may_be_changed_without_changing_the_message():
    message = message_from_dict(MESSAGES["image part"])
    message_to_dict(message)["content"][1]["image_url"]["url"] = "other"
    assert message_to_dict(message) == MESSAGES["image part"]


def test_a_list_is_read_in_order():
    dicts = list(MESSAGES.values())
    assert [message_to_dict(message) for message in messages_from_dicts(iter(dicts))] == dicts
    assert messages_from_dicts([]) == []


BAD_MESSAGES = [
    ("hello", "message must be an object, not str"),
    (None, "message must be an object, not NoneType"),
    (["role", "user"], "message must be an object, not list"),
    ({}, "needs a role"),
    ({"role": "", "content": "x"}, "needs a role"),
    ({"role": 3, "content": "x"}, "needs a role"),
    ({"content": "x"}, "needs a role"),
    ({"role": "user", "content": 3}, "content must be .*, not int"),
    ({"role": "user", "content": {"type": "text"}}, "content must be .*, not dict"),
    ({"role": "user", "content": ["x"]}, "content part must be an object, not str"),
    ({"role": "assistant", "tool_calls": {"id": "1"}}, "tool_calls must be a list or null, not dict"),
    ({"role": "assistant", "tool_calls": ["read"]}, "tool call must be an object, not str"),
    ({"role": "assistant", "tool_calls": [{"function": "read"}]}, "function of a tool call must be an object, not str"),
    ({"role": "user", "content": "x", "at": object()}, "object"),
    ({"role": "user", "content": [{"type": "file", "data": b"x"}]}, "bytes"),
    ({"role": "assistant", "tool_calls": [call(arguments={"when": {1, 2}})]}, "set"),
]


@pytest.mark.parametrize(("fields", "problem"), BAD_MESSAGES)
def test_what_is_no_message_raises_an_error_with_its_index(fields, problem):
    with pytest.raises(WireError, match=problem) as caught:
        messages_from_dicts([{"role": "user", "content": "x"}, fields])
    assert caught.value.index == 1
    assert "message 1" in str(caught.value)
    with pytest.raises(WireError, match=problem) as caught:
        message_from_dict(fields)
    assert caught.value.index is None


BAD_TOOLS = [
    ("read", "tool must be an object, not str"),
    ({}, "needs a name"),
    ({"type": "function", "function": {"description": "x"}}, "needs a name"),
    ({"type": "function", "function": {"name": ""}}, "needs a name"),
    ({"type": "function", "function": "read"}, "function of a tool must be an object, not str"),
    ({"name": "read", "parameters": [1]}, "parameters"),
    ({"name": "read", "parameters": '{"type":"object"}'}, "parameters"),
    ({"name": "read", "parameters": {"default": float("inf")}}, "parameters|JSON"),
    ({"name": "read", "parameters": {"default": {1, 2}}}, "parameters|JSON"),
]


@pytest.mark.parametrize(("fields", "problem"), BAD_TOOLS)
def test_what_is_no_tool_raises_an_error_with_its_index(fields, problem):
    with pytest.raises(WireError, match=problem) as caught:
        tool_from_dict(fields, index=2)
    assert caught.value.index == 2
    with pytest.raises(WireError, match=problem) as caught:
        tool_from_dict(fields)
    assert caught.value.index is None


def test_the_error_of_a_tool_does_not_speak_of_a_message():
    with pytest.raises(WireError, match="needs a name") as caught:
        tool_from_dict({}, index=2)
    assert "message" not in str(caught.value)
    assert "2" in str(caught.value)


class Reply:
    """As an SDK returns it: attributes, and `model_dump` for a plain dict of what was set."""

    def __init__(self, **fields):
        self.fields = fields

    def model_dump(self, *, exclude_unset=False, **_):
        left_out = {} if exclude_unset else {"never_set": None}
        return {key: _dumped(value) for key, value in self.fields.items()} | left_out


def _dumped(value):
    if isinstance(value, list):
        return [_dumped(item) for item in value]
    return value.model_dump(exclude_unset=True) if isinstance(value, Reply) else value


def reply_call(**more):
    return Reply(id="1", type="function", function=Reply(name="read", arguments="{}"), **more)


@pytest.mark.parametrize(
    "fields",
    [
        Reply(role="assistant", content="x", refusal=None),
        Reply(role="assistant", content=None, tool_calls=[reply_call()]),
        {"role": "assistant", "content": None, "tool_calls": [reply_call()]},
        {"role": "assistant", "content": None, "tool_calls": [reply_call(index=0)]},
        {
            "role": "user",
            "content": [Reply(type="text", text="look"), Reply(type="image_url", image_url=Reply(url="x"))],
        },
        {"role": "assistant", "content": "x", "annotations": [Reply(type="url_citation")]},
    ],
    ids=range(6),
)
def test_objects_of_an_sdk_are_read_as_what_they_dump(fields):
    plain = (
        fields.model_dump(exclude_unset=True)
        if isinstance(fields, Reply)
        else {k: _dumped(v) for k, v in fields.items()}
    )
    message = message_from_dict(fields)
    assert message_to_dict(message) == plain
    assert (message.role, message.content, message.tool_calls) == (
        message_from_dict(plain).role,
        message_from_dict(plain).content,
        message_from_dict(plain).tool_calls,
    )


def test_recorded_conversations_are_written_as_they_were_read():
    read = 0
    for conversation in trajectories(every=sample_step(10)):
        changed = [index for index, fields in enumerate(conversation["messages"]) if not _survives(fields)]
        assert changed == [], conversation["id"]
        for fields in conversation.get("tools") or ():
            assert text_of(tool_to_dict(tool_from_dict(fields))) == text_of(fields), conversation["id"]
        read += len(conversation["messages"])
    assert read > 1000


def test_recorded_requests_and_replies_are_written_as_they_were_read():
    read = 0
    for name, exchange in wire_bodies("chat"):
        request, reply = exchange.get("request", {}).get("body") or {}, exchange["response"].get("body") or {}
        messages = [*request.get("messages", ()), *(choice["message"] for choice in reply.get("choices", ()))]
        changed = [index for index, fields in enumerate(messages) if not _survives(fields)]
        assert changed == [], name
        for fields in request.get("tools") or ():
            assert text_of(tool_to_dict(tool_from_dict(fields))) == text_of(fields), name
        read += len(messages)
    assert read > 100


def _survives(fields):
    return text_of(message_to_dict(message_from_dict(fields))) == text_of(fields)
