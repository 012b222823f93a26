"""Ollama's requests and replies, both ways."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import Delta, LLMRequest, Message, OpaquePart, TextPart, ToolCall, Usage
from aaa.messages.message import with_text
from aaa.wire import gemini, openai_chat
from aaa.wire.ollama import ReplyStream, request_from_body, request_to_body, response_from_body
from tests.shared import wire_bodies

# Recorded bodies of Ollama that are not read here.
SKIPPED = dict.fromkeys(
    ("ollama.chat.00.json", "ollama.chat.01.json", "ollama.chat.02.json", "ollama.chat.03.json"), "OpenAI's chat format"
)


def call(name="read", **fields):
    return {"function": {"name": name, "arguments": {}}, **fields}


def asked(*calls, **fields):
    return {"role": "assistant", "content": "", "tool_calls": list(calls), **fields}


def read(*messages):
    """The messages of a body that comes back as it was."""
    body = {"model": "llama3.1", "messages": list(messages)}
    request = request_from_body(body)
    assert request_to_body(request) == body
    return request.messages


def written(*messages):
    return request_to_body(LLMRequest(messages))["messages"]


MESSAGES = {
    "plain": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "go"}],
    "no content": [{"role": "assistant"}, {"role": "assistant", "content": None}],
    "images": [{"role": "user", "content": "look", "images": ["AAAA", "BBBB"]}, {"role": "user", "images": ["AAAA"]}],
    "thinking": [{"role": "assistant", "content": "hello", "thinking": "hm"}, {"role": "assistant", "thinking": "hm"}],
    "nothing in lists": [{"role": "assistant", "content": "a", "thinking": "", "images": [], "tool_calls": None}],
    "calls with ids": [
        asked(call(id="1"), call("run", id="2"), thinking="hm"),
        {"role": "tool", "content": "a", "tool_name": "run", "tool_call_id": "2"},
        {"role": "tool", "content": "b", "tool_name": "read", "tool_call_id": "1"},
    ],
    "calls without": [asked(call(), call()), *[{"role": "tool", "content": "a", "tool_name": "read"}] * 2],
    "results that name nothing": [asked(call(), call("run")), *[{"role": "tool", "content": "a"}] * 2],
    "an id on the result alone": [asked(call()), {"role": "tool", "content": "a", "tool_call_id": "x"}],
    "an id on the call alone": [asked(call(id="x")), {"role": "tool", "content": "a", "tool_name": "read"}],
    "a result without a call": [{"role": "tool", "content": "a", "tool_name": "read"}],
    "a call with more": [
        asked({"type": "function", "id": "", "function": {"index": 0, "name": "read", "arguments": {"a": [1.0]}}}),
        asked({"function": {"name": "read"}}, {"function": {"name": "read", "arguments": None}}),
    ],
    "unknown keys and roles": [{"role": "developer", "content": "a", "x": 1}, {"role": "critic", "content": "b"}],
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_come_back_as_they_were(name):
    read(*MESSAGES[name])


def test_everything_around_the_messages_comes_back():
    tool = {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}}
    body = {
        "model": "qwen3",
        "messages": [{"role": "user", "content": "go"}],
        "tools": [tool],
        "stream": False,
        "options": {"num_ctx": 8192},
        "format": "json",
        "think": True,
        "keep_alive": "5m",
        "truncate": False,
    }
    request = request_from_body(body)
    assert request_to_body(request) == body
    assert (request.model, [spec.name for spec in request.tools]) == ("qwen3", ["read"])
    assert set(request.params) == {"stream", "options", "format", "think", "keep_alive", "truncate"}


def test_a_conversation_of_a_newer_server_needs_no_notes():
    messages = read(
        {"role": "user", "content": "go"},
        asked(call(id="1")),
        {"role": "tool", "content": "done", "tool_name": "read", "tool_call_id": "1"},
    )
    assert messages == (
        Message("user", "go"),
        Message("assistant", "", (ToolCall("1", "read"),)),
        Message("tool", "done", (), "1", "read"),
    )
    assert not any(message.extra for message in messages)


def test_thinking_and_images_are_parts():
    [thought] = read({"role": "assistant", "content": "hello", "thinking": "hm"})
    [image] = read({"role": "user", "content": "look", "images": ["AAAA"]})
    assert thought.content == (OpaquePart("thinking", '{"thinking":"hm"}', "ollama"), TextPart("hello"))
    assert image.content == (TextPart("look"), OpaquePart("image", '{"image":"AAAA"}', "ollama"))


def test_calls_without_ids_get_some_that_are_not_sent():
    messages = read(
        asked(call(), call("run")),
        {"role": "tool", "content": "a", "tool_name": "run"},
        {"role": "tool", "content": "b"},
        {"role": "tool", "content": "c"},
    )
    assert [message.tool_call_id for message in messages[1:]] == ["run-2", "read-1", None]
    ours = Message("tool", "a", (), "run-2")
    assert written(messages[0], ours)[1] == {"role": "tool", "content": "a", "tool_name": "run"}


def test_results_are_sent_with_the_name_and_id_of_their_call():
    messages = (
        Message("assistant", None, (ToolCall("1", "read"), ToolCall("2", "run", '{"a": 1}'))),
        Message("tool", "b", (), "2"),
        Message("tool", "a", (), "1"),
        Message("tool", "lost", (), "9"),
    )
    assert written(*messages) == [
        {
            "role": "assistant",
            "tool_calls": [
                {"function": {"name": "read", "arguments": {}}, "id": "1"},
                {"function": {"name": "run", "arguments": {"a": 1}}, "id": "2"},
            ],
        },
        {"role": "tool", "content": "b", "tool_name": "run", "tool_call_id": "2"},
        {"role": "tool", "content": "a", "tool_name": "read", "tool_call_id": "1"},
        {"role": "tool", "content": "lost", "tool_call_id": "9"},
    ]


def test_an_edit_is_what_is_sent():
    messages = read(
        {"role": "assistant", "content": None, "thinking": "hm"}, {"role": "tool", "content": None, "tool_name": "read"}
    )
    edited = [with_text(message, "[cleared]") for message in messages]
    assert [message["content"] for message in written(*edited)] == ["[cleared]", "[cleared]"]
    assert "thinking" not in written(*edited)[0]


def test_images_of_other_formats_are_sent_with_their_data_and_nothing_else_is():
    parts = (
        TextPart("look"),
        OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}'),
        OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"https://a.b/c.png"}}'),
        OpaquePart("inlineData", '{"inlineData":{"mimeType":"image/png","data":"BBBB"}}', "gemini"),
        OpaquePart("inlineData", '{"inlineData":{"mimeType":"audio/wav","data":"CCCC"}}', "gemini"),
        OpaquePart("thinking", '{"type":"thinking","thinking":"hm"}', "anthropic"),
        TextPart("and tell"),
    )
    assert written(Message("user", parts)) == [
        {"role": "user", "content": "look\nand tell", "images": ["AAAA", "BBBB"]}
    ]


def test_the_texts_of_a_reply_are_one():
    assert written(Message("assistant", (TextPart("hel"), TextPart("lo")))) == [
        {"role": "assistant", "content": "hello"}
    ]


def test_developer_messages_are_system_messages():
    assert written(Message("developer", "Be brief.")) == [{"role": "system", "content": "Be brief."}]


def test_tools_that_other_providers_run_are_left_out():
    search = openai_chat.tool_from_dict({"type": "web_search"})
    [google] = gemini.request_from_body({"contents": [], "tools": [{"googleSearch": {}}]}).tools
    assert "tools" not in request_to_body(LLMRequest((), (search, google)))


@pytest.mark.parametrize("arguments", ["not json {", "[1]"])
def test_arguments_that_are_no_object_are_handed_on_inside_one(arguments):
    message = Message("assistant", "", (ToolCall("1", "read", arguments),))
    [sent] = written(message)
    assert sent["tool_calls"][0]["function"]["arguments"] == {"INVALID_JSON": arguments}
    assert read(sent) == (message,)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "a request must be an object"),
        ({}, "messages must be a list, not NoneType"),
        ({"messages": [{"role": "user"}, {}]}, "message 1: a message needs a role"),
        ({"messages": [{"role": "user", "content": [1]}]}, "message 0: content must be a string, not list"),
        ({"messages": [{"role": "user", "images": [1]}]}, "message 0: images must be strings"),
        ({"messages": [asked({"function": {}})]}, "message 0: a tool call needs a name"),
        (
            {"messages": [asked({"function": {"name": "a", "arguments": "{}"}})]},
            "message 0: the arguments of a tool call",
        ),
        ({"messages": [], "tools": "x"}, "tools must be a list"),
        ({"messages": [], "tools": [{}]}, "tool 0: a tool needs a name"),
    ],
)
def test_what_is_no_request_is_refused_with_the_place(body, message):
    with pytest.raises(WireError, match=message):
        request_from_body(body)


# Replies


def reply(message, **fields):
    counts = {"prompt_eval_count": 10, "eval_count": 5}
    return {
        "model": "qwen3",
        "created_at": "2026-11-01T10:00:00Z",
        "message": message,
        "done": True,
        **counts,
        **fields,
    }


def line(done=False, **message):
    return {
        "model": "qwen3",
        "created_at": "2026-11-01T10:00:00Z",
        "message": {"role": "assistant", **message},
        "done": done,
    }


END = {**line(done=True, content=""), "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 5}


def test_a_reply_comes_back_as_it_was():
    message = {"role": "assistant", "content": "hello", "thinking": "hm"}
    response = response_from_body(reply(message, done_reason="stop"))
    assert written(response.message) == [message]
    assert response.usage == Usage(prompt_tokens=10, completion_tokens=5)
    assert (response.model, response.finish_reason) == ("qwen3", "stop")


@pytest.mark.parametrize(
    ("reason", "calls", "told"),
    [
        ("stop", [], "stop"),
        ("stop", [call()], "tool_calls"),
        ("length", [], "length"),
        ("length", [call()], "length"),
        ("load", [], "load"),
        (None, [], None),
        (None, [call()], "tool_calls"),
    ],
)
def test_why_a_reply_ended_is_told(reason, calls, told):
    assert response_from_body(reply(asked(*calls), done_reason=reason)).finish_reason == told


def test_calls_of_different_replies_have_different_ids():
    first = response_from_body(reply(asked(call(), call())))
    second = response_from_body(reply(asked(call()), created_at="2026-11-01T10:00:01Z"))
    ids = {each.id for each in (*first.message.tool_calls, *second.message.tool_calls)}
    assert len(ids) == 3
    assert written(first.message) == [asked(call(), call())]


@pytest.mark.parametrize("body", [[], {}, {"message": "no"}, {"message": {"content": 1}}])
def test_what_is_no_reply_is_a_broken_one(body):
    with pytest.raises(BrokenReplyError, match="not in its format"):
        response_from_body(body)


def fed(*lines):
    """A stream that has taken these lines, and what they made visible."""
    stream = ReplyStream()
    return stream, [delta for each in lines for delta in stream.feed(each)]


def test_a_stream_is_put_together_line_by_line():
    more = {"function": {"index": 1, "name": "run", "arguments": {"a": 1}}}
    stream, deltas = fed(
        line(content="", thinking="h"),
        line(content="", thinking="m"),
        line(content="hel"),
        line(content="lo"),
        line(content="", tool_calls=[call(id="1")]),
        line(content="", tool_calls=[more]),
        END,
    )
    response = stream.response()
    message = {"role": "assistant", "content": "hello", "thinking": "hm", "tool_calls": [call(id="1"), more]}
    assert written(response.message) == [message]
    assert response == response_from_body(END | {"message": message})
    assert deltas == [
        *(Delta("thinking", "h"), Delta("thinking", "m"), Delta("text", "hel"), Delta("text", "lo")),
        *(Delta("arguments", "{}", 0), Delta("arguments", '{"a":1}', 1)),
    ]
    assert (response.finish_reason, response.usage.total_tokens) == ("tool_calls", 15)


def test_a_stream_that_just_ends_is_a_broken_reply():
    stream, _ = fed(line(content="hel"))
    with pytest.raises(BrokenReplyError, match="half-way, after 1 pieces"):
        stream.response()
    with pytest.raises(BrokenReplyError):
        ReplyStream().response()


def test_an_error_in_a_stream_is_kept_and_breaks_the_reply():
    stream, deltas = fed(line(content="hel"), {"error": "model runner has unexpectedly stopped"})
    assert stream.error == {"error": "model runner has unexpectedly stopped"}
    assert deltas == [Delta("text", "hel")]
    with pytest.raises(BrokenReplyError, match="unexpectedly stopped"):
        stream.response()


@pytest.mark.parametrize("message", ["no", {"content": 1}, {"tool_calls": ["no"]}])
def test_a_line_that_is_not_in_the_format_breaks_the_reply(message):
    with pytest.raises(BrokenReplyError, match="not in its format"):
        ReplyStream().feed({"message": message})


# Recorded bodies


def exchanges() -> Iterator[tuple[str, dict[str, Any]]]:
    for api in ("api-chat", "chat"):
        for name, exchange in wire_bodies(api):
            if exchange["provider"] == "ollama" and name not in SKIPPED:
                yield name, exchange


def test_recorded_bodies_come_back_as_they_were():
    found = 0
    for name, exchange in exchanges():
        body, answer = exchange["request"]["body"], exchange["response"]["body"]
        assert json.dumps(request_to_body(request_from_body(body)), sort_keys=True) == json.dumps(
            body, sort_keys=True
        ), name
        response = response_from_body(answer)
        assert written(response.message) == [answer["message"]], name
        assert response.usage.completion_tokens == answer["eval_count"], name
        found += 1
    assert found >= 4
