"""Anthropic's format: what becomes of blocks, turns, tools, replies and streams."""

import copy
import json
import logging
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import Delta, LLMRequest, Message, OpaquePart, TextPart, ToolCall, ToolSpec, digest, with_text
from aaa.wire.anthropic import ReplyStream, request_from_body, request_to_body, response_from_body
from aaa.wire.anthropic import notes as anthropic_notes
from aaa.wire.openai_chat import message_to_dict, tool_from_dict
from tests.strategies import conversations, json_values, tool_specs

CACHE = {"type": "ephemeral", "ttl": "1h"}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "Ab+/="}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def call(call_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {"path": "a"}, **more}


def result(call_id: str, content: Any = "done", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def turn(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def read(*turns: dict[str, Any], **fields: Any) -> tuple[Message, ...]:
    return request_from_body({"messages": list(turns), **fields}).messages


def written(*messages: Message) -> dict[str, Any]:
    return request_to_body(LLMRequest(messages))


def turns_of(*messages: Message) -> list[dict[str, Any]]:
    return written(*messages)["messages"]


def as_json(value: Any) -> str:
    """Equal JSON, told apart from merely equal values (1, 1.0 and True)."""
    return json.dumps(value, sort_keys=True)


# Reading


def test_each_result_is_a_message_and_the_text_behind_them_is_another():
    messages = read(turn("user", result("1"), result("2", [text("a"), IMAGE]), text("go on"), text("now")))
    assert [(message.role, message.tool_call_id) for message in messages] == [
        ("tool", "1"),
        ("tool", "2"),
        ("user", None),
    ]
    assert messages[0].content == "done"
    assert messages[1].content == (
        TextPart("a"),
        OpaquePart("image", json.dumps(IMAGE, separators=(",", ":")), "anthropic"),
    )
    assert messages[2].texts == ("go on", "now")


def test_an_assistant_turn_is_one_message_of_parts_and_calls():
    (message,) = read(turn("assistant", THINKING, text("let me see"), call("1"), call("2")))
    assert message == Message(
        "assistant",
        (OpaquePart("thinking", json.dumps(THINKING, separators=(",", ":")), "anthropic"), TextPart("let me see")),
        (ToolCall("1", "read", '{"path":"a"}'), ToolCall("2", "read", '{"path":"a"}')),
    )


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_one_text_is_the_same_message_however_it_was_written(role):
    as_string, as_block = read({"role": role, "content": "hi"}) + read(turn(role, text("hi")))
    assert as_string.content == as_block.content == "hi"
    assert digest(as_string) == digest(as_block)


def test_a_system_prompt_is_a_message_for_each_of_its_blocks():
    messages = read(turn("user", text("hi")), system=[text("be brief"), text("a tool", cache_control=CACHE)])
    assert [(message.role, message.text) for message in messages] == [
        ("system", "be brief"),
        ("system", "a tool"),
        ("user", "hi"),
    ]
    assert read(system="be brief")[0].content == "be brief"


def test_what_is_no_message_tool_or_model_is_a_parameter():
    body = {"model": "m", "messages": [], "max_tokens": 5, "tool_choice": {"type": "any"}, "system": None, "tools": []}
    request = request_from_body(body)
    assert request.model == "m"
    assert request.params == {"max_tokens": 5, "tool_choice": {"type": "any"}, "system": None, "tools": []}
    assert request_to_body(request) == body


def test_a_tool_that_the_provider_runs_is_kept_whole():
    tools = [
        {"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}, "cache_control": CACHE},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        {"type": "mcp_toolset", "mcp_server_name": "files"},
    ]
    request = request_from_body({"messages": [], "tools": tools})
    assert [tool.name for tool in request.tools] == ["read", "web_search", "mcp_toolset"]
    assert request.tools[0].parameters == {"type": "object"}
    assert request_to_body(request)["tools"] == tools


@pytest.mark.parametrize(
    ("turns", "index", "problem"),
    [
        (["hi"], 0, "a message must be an object, not str"),
        ([turn("user"), {"content": "x"}], 1, "the role of a message must be user, assistant or system"),
        ([{"role": "tool", "content": "x"}], 0, "the role of a message must be user, assistant or system"),
        ([{"role": "user"}], 0, "content must be a string or a list of blocks, not NoneType"),
        ([turn("user", text("x"), {"text": "x"})], 0, "the type of a content block must be a string, not NoneType"),
        ([turn("user", {"type": "text"})], 0, "the text of a text block must be a string, not NoneType"),
        ([turn("user", result("1", 5))], 0, "content must be a string or a list of blocks, not int"),
        (
            [turn("user", {"type": "tool_result"})],
            0,
            "the tool_use_id of a tool_result block must be a string, not NoneType",
        ),
        ([turn("assistant", call("1", input=5))], 0, "the input of a tool_use block must be an object, not int"),
        ([turn("assistant", call("1", id=1))], 0, "the id of a tool_use block must be a string, not int"),
        ([turn("assistant", text("x", cache_control=object()))], 0, "a value is not JSON: object is not JSON"),
    ],
)
def test_what_is_not_in_the_format_is_refused_with_its_index(turns, index, problem):
    with pytest.raises(WireError) as caught:
        request_from_body({"messages": turns})
    assert (caught.value.index, caught.value.problem) == (index, problem)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ([], "a request must be an object, not list"),
        ({}, "a request needs messages"),
        ({"messages": "x"}, "messages must be a list, not str"),
        ({"messages": [], "system": 5}, "content must be a string or a list of blocks, not int"),
        ({"messages": [], "tools": {"a": 1}}, "tools must be a list, not dict"),
        ({"messages": [], "tools": [{}]}, "tool 0: a tool needs a name (a non-empty string)"),
        (
            {"messages": [], "tools": [{"name": "a", "input_schema": 5}]},
            "tool 0: the input_schema of a tool must be an object, not int",
        ),
    ],
)
def test_a_body_that_is_no_request_is_refused(body, problem):
    with pytest.raises(WireError) as caught:
        request_from_body(body)
    assert str(caught.value) == problem


def test_a_block_of_a_type_we_do_not_know_is_kept_and_told_of_once(caplog, monkeypatch):
    monkeypatch.setattr(anthropic_notes, "_noted", set())
    novel = {"type": "hologram", "beams": [1, 2]}
    with caplog.at_level(logging.WARNING, logger="aaa.wire"):
        for _ in range(2):
            (message,) = read(turn("assistant", text("see"), novel, {"type": "later_tool_result", "x": 1}))
    assert [record.getMessage() for record in caplog.records] == [
        "blocks of type hologram are not known; they are kept as they are"
    ]
    assert turns_of(message) == [turn("assistant", text("see"), novel, {"type": "later_tool_result", "x": 1})]


class Model:
    """What an SDK returns: it dumps those of its fields that were set."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, *, exclude_unset: bool = False) -> dict[str, Any]:
        return self.fields if exclude_unset else self.fields | {"unset": None}


def test_objects_of_an_sdk_are_read_as_what_they_hold():
    block = call("1", caller=Model(type="direct"))
    turns = [turn("assistant", Model(**text("so")), Model(**block))]
    assert turns_of(*read(*turns)) == [turn("assistant", text("so"), call("1", caller={"type": "direct"}))]
    assert response_from_body(Model(**reply(Model(**text("hi"))))).message.content == "hi"
    assert ReplyStream().feed(Model(**begun(0, Model(**text("hi"))))) == (Delta("text", "hi"),)


# Writing


def test_results_come_first_and_all_of_a_turn_is_one_message():
    turns = turns_of(
        Message("user", "task"),
        Message("assistant", None, (ToolCall("1", "read"), ToolCall("2", "read"))),
        Message("tool", "a", tool_call_id="1"),
        Message("user", "hurry"),
        Message("tool", "b", tool_call_id="2"),
        Message("user", "the work so far", kind="summary"),
    )
    assert [one["role"] for one in turns] == ["user", "assistant", "user"]
    assert turns[2]["content"] == [result("1", "a"), result("2", "b"), text("hurry"), text("the work so far")]


def test_a_later_system_message_is_text_in_the_users_turn():
    turns = turns_of(Message("system", "one"), Message("user", "two"), Message("developer", "three"))
    assert turns == [turn("user", text("two"), text("<system-reminder>\nthree\n</system-reminder>"))]
    assert written(Message("system", "one"), Message("developer", "two"))["system"] == [text("one"), text("two")]


def test_a_system_message_that_stood_among_the_others_stays_there():
    turns = [turn("user", text("a")), turn("system", text("b")), turn("assistant", text("c"))]
    assert turns_of(*read(*turns)) == turns
    assert [message.role for message in read(*turns)] == ["user", "system", "assistant"]
    assert turns_of(*read({"role": "system", "content": "b"})) == [{"role": "system", "content": "b"}]


@pytest.mark.parametrize(
    "content", [None, "", (), (TextPart(""),), (OpaquePart("reasoning", "{}", "openai-responses"),)]
)
@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_a_message_that_says_nothing_is_not_written(role, content):
    assert written(Message(role, content)) == {"messages": []}
    messages = [Message("user", "a"), Message(role, content), Message("user", "b")]
    assert turns_of(*messages) == [turn("user", text("a"), text("b"))]


def test_calls_without_text_are_written_without_an_empty_block():
    assert turns_of(Message("assistant", "", (ToolCall("1", "read"),))) == [turn("assistant", call("1", input={}))]


@pytest.mark.parametrize("content", ["", None, ()])
def test_an_empty_result_is_still_a_result(content):
    (only,) = turns_of(Message("tool", content, tool_call_id="1"))[0]["content"]
    assert only["tool_use_id"] == "1"
    assert only.get("content", None) == (list(content) if content == () else content)


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("{}", {}),
        ('{"a": ', {"INVALID_JSON": '{"a": '}),
        ("[1]", {"INVALID_JSON": "[1]"}),
        ('{"a": NaN}', {"INVALID_JSON": '{"a": NaN}'}),
        ('{"a": 1e999}', {"INVALID_JSON": '{"a": 1e999}'}),
        ("[" * 100_000, {"INVALID_JSON": "[" * 100_000}),
    ],
)
def test_arguments_become_an_object_and_what_is_none_comes_back_as_it_was(arguments, given):
    turns = turns_of(Message("assistant", None, (ToolCall("1", "read", arguments),)))
    assert turns[0]["content"][0]["input"] == given
    (message,) = read(*turns)
    assert message.tool_calls[0].arguments_json == (
        arguments if "INVALID_JSON" in given else json.dumps(given).replace(" ", "")
    )


@pytest.mark.parametrize(
    ("given", "arguments", "written"),
    [
        ('{"command": "ls', '{"command": "ls', {"INVALID_JSON": '{"command": "ls'}),
        ('{"a":1}', '{"a":1}', {"a": 1}),
        ([1, 2], "[1,2]", {"INVALID_JSON": "[1,2]"}),
        (None, "{}", {}),
    ],
)
def test_an_input_that_is_no_object_is_read_as_its_text_and_written_as_one(given, arguments, written):
    (message,) = read(turn("assistant", call("1", input=given)))
    assert message.tool_calls[0].arguments_json == arguments
    assert turns_of(message)[0]["content"][0]["input"] == written


def test_a_tool_is_written_with_a_schema_of_an_object():
    tools = (ToolSpec("now"), ToolSpec("read", "Read.", '{"properties":{"p":{}},"type":"object"}'))
    assert request_to_body(LLMRequest((), tools))["tools"] == [
        {"name": "now", "input_schema": {"type": "object"}},
        {"name": "read", "description": "Read.", "input_schema": {"properties": {"p": {}}, "type": "object"}},
    ]


def test_a_tool_that_another_provider_runs_is_left_out():
    tools = (tool_from_dict({"type": "web_search"}), tool_from_dict({"type": "function", "function": {"name": "now"}}))
    assert [tool["name"] for tool in request_to_body(LLMRequest((), tools))["tools"]] == ["now"]


def test_the_order_of_a_schemas_keys_is_that_of_the_body():
    schema = {"required": ["b"], "properties": {"b": {"type": "string"}, "a": {}}, "type": "object"}
    body = {
        "messages": [turn("assistant", call("1", input={"b": 1, "a": 2}))],
        "tools": [{"name": "x", "input_schema": schema}],
    }
    again = request_to_body(request_from_body(body))
    assert json.dumps(again["tools"][0]["input_schema"]) == json.dumps(schema)
    assert json.dumps(again["messages"]) == json.dumps(body["messages"])


def part(type_: str, **fields: Any) -> OpaquePart:
    return OpaquePart(type_, json.dumps({"type": type_, **fields}))


@pytest.mark.parametrize(
    ("foreign", "block"),
    [
        (part("image_url", image_url={"url": "data:image/png;base64,iVBORw0KGgo="}), IMAGE),
        (part("image_url", image_url={"url": "data:image/jpeg;base64,iVBORw0KGgo="}), IMAGE),
        (OpaquePart("image", '{"image":"iVBORw0KGgo="}', "ollama"), IMAGE),
        (
            part("image_url", image_url={"url": "https://x.test/a.png"}),
            {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}},
        ),
        (
            part("file", file={"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"}),
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
                "title": "a.pdf",
            },
        ),
        (
            part("file", file={"file_data": "data:text/csv;base64,YSxi"}),
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a,b"}},
        ),
        (part("refusal", refusal="no"), text("no")),
        (part("refusal", refusal=""), None),
        (part("image_url", image_url={"url": "data:image/tiff;base64,AAAA"}), None),
        (part("file", file={"file_data": "data:text/csv;base64,/w=="}), None),
        (part("file", file={"file_data": "data:application/zip;base64,AAAA"}), None),
        (part("file", file={"file_id": "file-1"}), None),
        (part("input_audio", input_audio={"data": "AAAA", "format": "wav"}), None),
        (OpaquePart("reasoning", '{"type":"reasoning"}', "openai-responses"), None),
        (OpaquePart("thinking", json.dumps(THINKING), "bedrock"), None),
    ],
)
@pytest.mark.parametrize("role", ["user", "tool"])
def test_media_of_other_formats_are_translated_and_what_is_their_own_is_left_out(foreign, block, role):
    content = turns_of(Message(role, (TextPart("see"), foreign), tool_call_id="1"))[0]["content"]
    blocks = content[0]["content"] if role == "tool" else content
    assert blocks == [text("see"), *([block] if block else [])]


def test_an_assistant_shows_no_media_of_another_format():
    picture = part("image_url", image_url={"url": "data:image/png;base64,iVBORw0KGgo="})
    assert turns_of(Message("assistant", (TextPart("here"), picture))) == [turn("assistant", text("here"))]


def test_media_without_a_place_are_told_of_once(caplog, monkeypatch):
    monkeypatch.setattr(anthropic_notes, "_noted", set())
    sound = Message("user", (TextPart("hear"), part("input_audio", input_audio={"data": "AAAA", "format": "wav"})))
    with caplog.at_level(logging.WARNING, logger="aaa.wire"):
        turns_of(sound), turns_of(sound)
    assert [record.getMessage() for record in caplog.records] == [
        "audio/wav has no place in Anthropic's format; left out"
    ]


# Edits of what was read


def test_an_edited_result_is_written_with_its_new_text_and_its_old_keys():
    _, message = read(
        turn("assistant", call("1")), turn("user", result("1", [text("long")], is_error=True, cache_control=CACHE))
    )
    cleared = with_text(message, "[cleared]")
    assert turns_of(cleared) == [turn("user", result("1", [text("[cleared]")], is_error=True, cache_control=CACHE))]


def test_content_that_is_null_is_none_and_gives_way_to_an_edit():
    turns = [turn("assistant", call("1")), turn("user", result("1", None)), {"role": "assistant", "content": None}]
    messages = read(*turns)
    assert [message.content for message in messages] == [None] * 3
    assert turns_of(*(with_text(message, "now") for message in messages[1:])) == [
        turn("user", result("1", "now")),
        turn("assistant", text("now")),
    ]


def test_edited_arguments_are_what_is_written():
    (message,) = read(turn("assistant", call("1", caller={"type": "direct"})))
    edited = replace(message, tool_calls=(replace(message.tool_calls[0], id="2", arguments_json="{}"),))
    assert turns_of(edited) == [turn("assistant", call("2", input={}, caller={"type": "direct"}))]


def test_an_order_that_no_longer_fits_is_given_up():
    (message,) = read(turn("assistant", call("1"), THINKING, call("2"), text("so")))
    assert turns_of(message) == [turn("assistant", call("1"), THINKING, call("2"), text("so"))]
    assert turns_of(replace(message, content="so")) == [turn("assistant", text("so"), call("1"), call("2"))]


def test_boundaries_between_messages_are_those_that_were_read():
    turns = [
        turn("user", text("a")),
        turn("user", text("b")),
        turn("assistant", text("c")),
        turn("assistant", text("d")),
    ]
    messages = read(*turns)
    assert turns_of(*messages) == turns
    assert turns_of(messages[0], *messages[2:]) == [turns[0], *turns[2:]]
    merged = [replace(message, extra="") for message in messages]
    assert turns_of(*merged) == [turn("user", text("a"), text("b")), turn("assistant", text("c"), text("d"))]


def test_what_one_format_notes_is_invisible_to_another():
    (message, *_) = read({"role": "user", "content": "hi", "x_unknown": 1})
    assert message_to_dict(message) == {"role": "user", "content": "hi"}
    assert turns_of(Message("user", "hi", extra='{"x_chat":1}')) == [turn("user", text("hi"))]


# Replies


def reply(*content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5}
    return {"type": "message", "role": "assistant", "model": "m", "content": list(content), "usage": usage, **fields}


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "pause_turn"),
        ("model_context_window_exceeded", "model_context_window_exceeded"),
        ("compaction", "compaction"),
        (None, None),
    ],
)
def test_why_a_reply_ended_is_said_in_our_words_where_there_are_some(reason, expected):
    assert response_from_body(reply(stop_reason=reason)).finish_reason == expected


def test_a_reply_is_a_message_with_its_usage():
    response = response_from_body(reply(THINKING, text("so"), call("1"), stop_reason="tool_use"))
    assert response.message.text == "so"
    assert [one.id for one in response.message.tool_calls] == ["1"]
    assert response.model == "m"
    assert response.usage
    assert (response.usage.prompt_tokens, response.usage.cached_tokens, response.usage.completion_tokens) == (
        100,
        90,
        5,
    )


def test_a_plain_reply_is_a_string_with_nothing_beside_it():
    assert response_from_body(reply(text("hi"))).message == Message("assistant", "hi")


@pytest.mark.parametrize("content", [[], [text("")], [text(""), text("")]])
def test_an_empty_reply_is_not_handed_back_as_a_block_that_is_refused(content):
    message = response_from_body(reply(*content)).message
    assert message == Message("assistant", None)
    assert turns_of(message) == []


@pytest.mark.parametrize(
    "body", [[], {}, {"content": None}, {"content": "hi"}, {"content": [5]}, reply(call("1", input=5))]
)
def test_a_reply_that_is_none_is_broken(body):
    with pytest.raises(BrokenReplyError, match="not in Anthropic's format"):
        response_from_body(body)


# Streams


def begun(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grown(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


START = {
    "type": "message_start",
    "message": reply() | {"usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1}},
}
END = [
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
]


def streamed(*events: dict[str, Any]) -> tuple[ReplyStream, list[Delta]]:
    stream = ReplyStream()
    return stream, [delta for event in events for delta in stream.feed(event)]


def test_a_streamed_reply_is_the_reply_of_one_piece():
    events = [
        START,
        {"type": "ping"},
        begun(0, {"type": "thinking", "thinking": "", "signature": ""}),
        grown(0, "thinking_delta", thinking="h"),
        grown(0, "thinking_delta", thinking="m"),
        grown(0, "signature_delta", signature="Ab+/="),
        begun(1, text("")),
        grown(1, "text_delta", text="let me "),
        grown(1, "citations_delta", citation={"n": 1}),
        grown(1, "text_delta", text="see"),
        grown(1, "citations_delta", citation={"n": 2}),
        begun(2, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        grown(2, "input_json_delta", partial_json='{"query": "x"}'),
        begun(3, call("1", input={})),
        grown(3, "input_json_delta", partial_json=""),
        begun(4, call("2", input={})),
        grown(3, "input_json_delta", partial_json='{"path": '),
        grown(4, "input_json_delta", partial_json='{"pa'),
        grown(3, "input_json_delta", partial_json='"a"}'),
        *END,
    ]
    stream, deltas = streamed(*events)
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    cited = text("let me see", citations=[{"n": 1}, {"n": 2}])
    whole = reply(THINKING, cited, search, call("1"), call("2", input={"INVALID_JSON": '{"pa'}), stop_reason="tool_use")
    assert stream.response() == response_from_body(whole)
    assert stream.response().message.tool_calls[1].arguments_json == '{"pa'
    assert deltas == [
        Delta("thinking", "h"),
        Delta("thinking", "m"),
        Delta("text", "let me "),
        Delta("text", "see"),
        Delta("arguments", '{"path": '),
        Delta("arguments", '{"pa', 1),
        Delta("arguments", '"a"}'),
    ]


def test_a_compaction_and_a_change_of_model_come_in_a_stream():
    stream, deltas = streamed(
        START,
        begun(0, {"type": "compaction", "content": None}),
        grown(0, "compaction_delta", content="so far", encrypted_content="e=="),
        begun(1, {"type": "fallback", "from": {"model": "m"}, "to": {"model": "n"}}),
        begun(2, text("hi")),
        *END,
    )
    assert deltas == [Delta("text", "hi")]
    assert stream.response().model == "n"
    assert turns_of(stream.response().message) == [
        turn(
            "assistant",
            {"type": "compaction", "content": "so far", "encrypted_content": "e=="},
            {"type": "fallback", "from": {"model": "m"}, "to": {"model": "n"}},
            text("hi"),
        )
    ]


def test_a_delta_of_a_kind_we_do_not_know_is_laid_over_its_block_and_told_of_once(caplog, monkeypatch):
    monkeypatch.setattr(anthropic_notes, "_noted", set())
    delta = grown(0, "glow_delta", glow=3)
    with caplog.at_level(logging.WARNING, logger="aaa.wire"):
        stream, _ = streamed(
            START, begun(0, {"type": "thinking", "thinking": ""}), delta, delta, {"type": "novel"}, *END
        )
    assert turns_of(stream.response().message) == [turn("assistant", {"type": "thinking", "thinking": "", "glow": 3})]
    assert [record.getMessage() for record in caplog.records] == [
        "deltas of type glow_delta are not known; they are laid over their block"
    ]


@pytest.mark.parametrize(
    ("news", "prompt", "cached"),
    [
        ({"output_tokens": 5}, 100, 90),
        ({"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 5}, 100, 90),
        ({"input_tokens": None, "cache_read_input_tokens": None, "output_tokens": 5}, 100, 90),
        ({"input_tokens": 40, "cache_read_input_tokens": 0, "output_tokens": 5}, 40, 0),
        ({"input_tokens": 40, "output_tokens": 5}, 130, 90),
    ],
)
def test_usage_at_the_end_of_a_stream_replaces_that_of_its_start(news, prompt, cached):
    stream, _ = streamed(START, {"type": "message_delta", "delta": {}, "usage": news}, {"type": "message_stop"})
    usage = stream.response().usage
    assert usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (prompt, cached, 5)


def test_a_stream_that_ends_half_way_is_a_broken_reply():
    stream, _ = streamed(START, begun(0, text("")), grown(0, "text_delta", text="secret"))
    with pytest.raises(BrokenReplyError, match=r"half-way, in block 1; no message_stop came") as caught:
        stream.response()
    assert "secret" not in str(caught.value)


def test_an_error_in_a_stream_is_kept_as_it_came():
    failure = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    stream, deltas = streamed(START, failure, *END)
    assert (stream.error, deltas) == (failure, [])
    with pytest.raises(BrokenReplyError, match="overloaded_error"):
        stream.response()


@pytest.mark.parametrize(
    "event",
    [
        5,
        {"type": "message_start"},
        {"type": "content_block_start", "index": 0},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}},
        grown(7, "text_delta", text="x"),
        grown(0, "input_json_delta"),
        begun(0, {"type": "fallback", "to": {}}),
    ],
)
def test_an_event_that_is_none_is_a_broken_reply(event):
    stream, _ = streamed(START, begun(0, text("")))
    with pytest.raises(BrokenReplyError, match="not in Anthropic's format"):
        stream.feed(event)


# What holds for any body


WORDS = st.one_of(st.text(max_size=4), st.sampled_from(("hi", "\ud800", "é")))
IDS = st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True)
OBJECTS = st.dictionaries(st.text(max_size=4), json_values(3), max_size=3)
ARGUMENTS = st.one_of(
    OBJECTS, st.builds(lambda said: {"INVALID_JSON": said}, st.one_of(WORDS, st.sampled_from(("{}", "[1]"))))
)
MORE = st.dictionaries(
    st.sampled_from(("cache_control", "citations", "is_error", "caller", "x")), json_values(3), max_size=2
)


def blocks_of(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Blocks of these fields, each with other keys and in any order of keys."""
    known = st.fixed_dictionaries(
        {key: one if isinstance(one, st.SearchStrategy) else st.just(one) for key, one in fields.items()}
    )
    return st.tuples(MORE, known).map(lambda pair: pair[0] | pair[1])


TEXTS = blocks_of(type="text", text=WORDS)
OPAQUE = st.one_of(
    blocks_of(
        type=st.sampled_from(("thinking", "redacted_thinking", "compaction", "image", "hologram")), data=json_values(3)
    ),
    blocks_of(
        type=st.sampled_from(("server_tool_use", "web_search_tool_result", "mcp_tool_result")), content=json_values(3)
    ),
)
RESULTS = st.one_of(
    blocks_of(
        type="tool_result",
        tool_use_id=IDS,
        content=st.one_of(st.none(), WORDS, st.lists(st.one_of(TEXTS, OPAQUE), max_size=2)),
    ),
    blocks_of(type="tool_result", tool_use_id=IDS),
)
CALLS = blocks_of(type="tool_use", id=IDS, name=WORDS, input=ARGUMENTS)
BLOCKS = st.one_of(st.just(text("plain")), TEXTS, OPAQUE, RESULTS, CALLS)
CONTENTS = st.one_of(st.none(), WORDS, st.lists(BLOCKS, max_size=6))
TURNS = st.fixed_dictionaries(
    {
        "role": st.sampled_from(("user", "user", "assistant", "assistant", "system", "developer", "narrator")),
        "content": CONTENTS,
    },
    optional={"x": json_values(3)},
)
TOOLS = st.one_of(
    st.fixed_dictionaries(
        {"name": st.text(min_size=1, max_size=4)},
        optional={
            "description": WORDS,
            "input_schema": OBJECTS,
            "cache_control": json_values(2),
            "type": st.just("custom"),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(("web_search_20250305", "mcp_toolset"))}, optional={"x": json_values(2)}
    ),
)
BODIES = st.fixed_dictionaries(
    {"messages": st.lists(TURNS, max_size=5)},
    optional={
        "model": st.sampled_from(("m", "", None)),
        "system": st.one_of(st.none(), WORDS, st.lists(st.one_of(TEXTS, OPAQUE), max_size=3)),
        "tools": st.one_of(st.none(), st.lists(TOOLS, max_size=3)),
        "max_tokens": st.integers(),
        "x": json_values(),
    },
)


@given(BODIES)
@example({"messages": [turn("user", text("a"), result("1"), text("b")), turn("user", result("2")), turn("user")]})
@example(
    {"messages": [turn("assistant"), turn("assistant", text("")), {"role": "assistant", "content": ""}], "system": ""}
)
@example({"messages": [turn("user", result("1", None)), {"role": "assistant", "content": None}]})
def test_a_body_read_and_written_is_the_same(body):
    before = copy.deepcopy(body)
    request = request_from_body(body)
    again = request_to_body(request)
    assert as_json(again) == as_json(body) == as_json(before)
    assert request_from_body(again) == request


@given(BODIES)
def test_what_is_kept_beside_a_message_is_no_part_of_its_digest(body):
    for message in request_from_body(body).messages:
        assert digest(message) == digest(replace(message, extra=""))


@given(BODIES, st.data())
def test_any_messages_of_a_body_can_be_written_without_the_others(body, data):
    request = request_from_body(body)
    kept = tuple(message for message in request.messages if data.draw(st.booleans()))
    shorter = request_to_body(replace(request, messages=kept))
    assert request_from_body(shorter).messages is not None


@given(conversations(max_chars=400), tool_specs())
def test_any_conversation_can_be_written_and_then_stays_as_it_is(messages, tools):
    body = request_to_body(LLMRequest(tuple(messages), tools))
    assert as_json(request_to_body(request_from_body(body))) == as_json(body)
    roles = [one["role"] for one in body["messages"]]
    assert all(role != following for role, following in pairwise(roles))
    assert all(block.get("text") != "" for one in body["messages"] for block in one["content"])


@given(conversations(max_chars=400))
def test_no_text_of_a_conversation_is_lost(messages):
    body = json.dumps(request_to_body(LLMRequest(tuple(messages))))
    for message in messages:
        assert all(json.dumps(one)[1:-1] in body for one in message.texts)


@given(conversations(max_chars=400))
def test_in_each_turn_the_results_come_first(messages):
    for one in request_to_body(LLMRequest(tuple(messages)))["messages"]:
        kinds = [block["type"] == "tool_result" for block in one["content"]]
        assert kinds == sorted(kinds, reverse=True)


@given(st.lists(st.one_of(TEXTS, OPAQUE, CALLS), max_size=6), st.data())
def test_a_reply_is_the_same_streamed_in_any_pieces_and_whole(blocks, data):
    events = [START]
    for index, block in enumerate(blocks):
        events += data.draw(pieces(index, block))
    stream, deltas = streamed(*events, *END)
    whole, response = response_from_body(reply(*blocks, stop_reason="tool_use")), stream.response()
    assert as_json(turns_of(response.message)) == as_json(turns_of(whole.message))
    assert (response.usage, response.finish_reason) == (whole.usage, whole.finish_reason)
    assert "".join(delta.text for delta in deltas if delta.kind == "text") == response.message.text


@st.composite
def pieces(draw: st.DrawFn, index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    """The events in which a block comes."""
    if block["type"] == "text":
        return [
            begun(index, block | text("")),
            *(grown(index, "text_delta", text=piece) for piece in draw(cut(block["text"]))),
        ]
    if block["type"] == "tool_use":
        said = draw(cut(json.dumps(block["input"])))
        return [
            begun(index, block | {"input": {}}),
            *(grown(index, "input_json_delta", partial_json=one) for one in said),
        ]
    return [begun(index, block)]


@st.composite
def cut(draw: st.DrawFn, whole: str) -> list[str]:
    at = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=3)))
    return [whole[start:end] for start, end in zip([0, *at], [*at, len(whole)], strict=True)]
