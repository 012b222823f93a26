"""Requests and replies of the OpenAI chat format, and what of other formats can be written in it."""

import json
import logging

import pytest

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import LLMRequest, Message, OpaquePart, TextPart, ToolCall, ToolSpec, Usage
from aaa.wire.openai_chat import (
    error_in,
    message_from_dict,
    message_to_dict,
    request_from_body,
    request_to_body,
    response_from_body,
)
from aaa.wire.openai_chat import notes as openai_chat_notes

TOOL = {"type": "function", "function": {"name": "read", "description": "Read.", "parameters": {"type": "object"}}}
BODY = {
    "model": "gpt-x",
    "messages": [{"role": "user", "content": "hello"}],
    "tools": [TOOL],
    "tool_choice": "auto",
    "stream": True,
    "stream_options": {"include_usage": True},
}


def test_a_request_is_messages_tools_a_model_and_the_rest():
    request = request_from_body(BODY)
    assert request.messages == (Message("user", "hello"),)
    assert [tool.name for tool in request.tools] == ["read"]
    assert request.model == "gpt-x"
    assert request.params == {"tool_choice": "auto", "stream": True, "stream_options": {"include_usage": True}}
    assert request_to_body(request) == BODY


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": []},
        {"messages": None, "tools": None, "model": None},
        {"messages": [{"role": "user", "content": "x"}], "tools": [], "model": ""},
        {"messages": [{"role": "user", "content": "x"}], "model": 7},
        {"messages": [{"role": "user", "content": "x"}], "functions": [{"name": "read"}], "function_call": "auto"},
    ],
)
def test_a_body_is_written_as_it_was_read(body):
    assert request_to_body(request_from_body(body)) == body


def test_what_was_empty_gives_way_to_what_is_put_in_its_place():
    request = request_from_body({"messages": [], "tools": []})
    fuller = LLMRequest((Message("user", "x"),), (ToolSpec("read"),), "m", request.params)
    body = request_to_body(fuller)
    assert body["messages"] == [{"role": "user", "content": "x"}]
    assert (len(body["tools"]), body["model"]) == (1, "m")


@pytest.mark.parametrize(
    ("body", "problem", "index"),
    [
        ("hello", "a request must be an object, not str", None),
        ({"messages": "hello"}, "messages must be a list, not str", None),
        ({"messages": [{"role": "user"}, {}]}, "message 1: a message needs a role", 1),
        ({"messages": [], "tools": {"a": 1}}, "tools must be a list, not dict", None),
        ({"tools": [TOOL, {}]}, "tool 1: a tool needs a name", 1),
    ],
)
def test_what_is_no_request_is_refused_with_its_place(body, problem, index):
    with pytest.raises(WireError, match=problem) as caught:
        request_from_body(body)
    assert caught.value.index == index


def reply(message, finish_reason="stop", **more):
    return {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}], **more}


def test_a_reply_keeps_what_its_server_wants_back():
    message = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "reasoning": "hm",
        "reasoning_content": "hm",
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "AA=="}],
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}, "cost": 0.5}
    response = response_from_body(reply(message, "tool_calls", usage=usage))
    assert message_to_dict(response.message) == message
    assert response.message.tool_calls == (ToolCall("1", "read", "{}"),)
    assert response.usage == Usage(10, 2, cached_tokens=8)
    assert (response.finish_reason, response.model, response.cost) == ("tool_calls", "m", 0.5)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("stop", "stop"),
        ("tool_calls", "tool_calls"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("function_call", "tool_calls"),
        ("model_length", "length"),
        ("eos", "stop"),
        ("insufficient_system_resource", "insufficient_system_resource"),
        (None, None),
    ],
)
def test_the_reason_to_stop_has_openais_name(theirs, ours):
    assert response_from_body(reply({"role": "assistant", "content": "x"}, theirs)).finish_reason == ours


def test_a_legacy_function_call_survives():
    message = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}}
    response = response_from_body(reply(message, "function_call"))
    assert response.finish_reason == "tool_calls"
    assert message_to_dict(response.message) == message


def test_a_message_without_a_role_is_the_assistants():
    assert response_from_body(reply({"content": "x"})).message == Message("assistant", "x")


@pytest.mark.parametrize(
    ("body", "usage"),
    [
        ({"usage": {"prompt_tokens": 1, "completion_tokens": 2}}, Usage(1, 2)),
        ({"timings": {"cache_n": 24, "prompt_n": 1, "predicted_n": 4}}, Usage(25, 4, cached_tokens=24)),
        ({"x_groq": {"usage": {"prompt_tokens": 1, "completion_tokens": 2}}}, Usage(1, 2)),
        ({"usage": None}, None),
        ({}, None),
    ],
)
def test_usage_is_found_where_a_server_puts_it(body, usage):
    assert response_from_body(reply({"role": "assistant", "content": "x"}, **body)).usage == usage


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": {"message": "no", "code": 400}}, {"message": "no", "code": 400}),
        ({"error": "too long", "code": "invalid"}, {"message": "too long", "code": "invalid"}),
        ({"choices": [{"error": {"message": "upstream", "code": 502}}]}, {"message": "upstream", "code": 502}),
        ({"choices": [], "error": None}, None),
    ],
)
def test_an_error_in_an_answer_of_status_200_is_found(body, error):
    assert error_in(body) == error
    with pytest.raises(BrokenReplyError):
        response_from_body(body)


@pytest.mark.parametrize(
    "body",
    [
        "x",
        {},
        {"choices": []},
        {"choices": "x"},
        {"choices": ["x"]},
        {"choices": [{"text": "x"}]},
        {"choices": [{"message": "x"}]},
        {"choices": [{"message": {"role": "assistant", "content": 5}}]},
    ],
)
def test_what_is_no_reply_is_a_broken_one(body):
    with pytest.raises(BrokenReplyError, match="the reply is not in OpenAI's chat format"):
        response_from_body(body)


def test_a_broken_reply_quotes_no_key():
    with pytest.raises(BrokenReplyError) as caught:
        response_from_body({"error": {"message": "bad key sk-abcdefghijklmnop", "code": 401}})
    assert "abcdefgh" not in str(caught.value)
    assert (caught.value.status_code, caught.value.code) == (401, "401")


# Parts of other formats

PNG = "iVBORw0KGgo="
IMAGE = OpaquePart(
    "image",
    json.dumps({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}),
    "anthropic",
)
URL_IMAGE = OpaquePart("image", '{"type":"image","source":{"type":"url","url":"https://x.test/a.png"}}', "anthropic")
SOUND = OpaquePart("inlineData", '{"inlineData":{"mimeType":"audio/mpeg","data":"AAAA"}}', "gemini")
FILM = OpaquePart("inlineData", '{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}}', "gemini")
PDF = OpaquePart("inlineData", '{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}', "gemini")
OWN_FILE = OpaquePart("input_file", '{"type":"input_file","file_id":"file-1"}', "openai-responses")
THEIR_FILE = OpaquePart("document", '{"type":"document","source":{"type":"file","file_id":"f"}}', "anthropic")
BARE_IMAGE = OpaquePart("image", json.dumps({"image": "/9j/4AAQ"}), "ollama")
THINKING = OpaquePart("thinking", '{"type":"thinking","thinking":"hm","signature":"s"}', "anthropic")
REFUSAL = OpaquePart("refusal", '{"type":"refusal","refusal":"I will not"}', "openai-responses")


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (IMAGE, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}),
        (URL_IMAGE, {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}),
        (BARE_IMAGE, {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/4AAQ"}}),
        (SOUND, {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}),
        (
            PDF,
            {"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
        ),
        (OWN_FILE, {"type": "file", "file": {"file_id": "file-1"}}),
        (REFUSAL, {"type": "text", "text": "I will not"}),
    ],
)
def test_media_of_other_formats_are_shown_in_a_message_of_the_user(part, written):
    assert message_to_dict(Message("user", (TextPart("look"), part)))["content"][1:] == [written]


@pytest.mark.parametrize("part", [FILM, THEIR_FILE, THINKING])
def test_what_the_format_cannot_show_is_left_out(part):
    assert message_to_dict(Message("user", (TextPart("look"), part)))["content"] == [{"type": "text", "text": "look"}]


def test_media_that_are_left_out_are_warned_of_once(caplog, monkeypatch):
    monkeypatch.setattr(openai_chat_notes, "_warned", set())
    film = OpaquePart("inlineData", '{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}}', "gemini")
    with caplog.at_level(logging.WARNING, "aaa.wire"):
        for _ in range(3):
            message_to_dict(Message("user", (film,)))
    assert [record.getMessage() for record in caplog.records] == [
        "video/mp4 has no place in OpenAI's chat format; left out"
    ]


@pytest.mark.parametrize(
    ("message", "written"),
    [
        (Message("assistant", (THINKING,), (ToolCall("1", "read"),)), None),
        (Message("assistant", (THINKING,)), ""),
        (Message("assistant", (IMAGE,)), ""),
        (Message("user", (THINKING,)), ""),
        (Message("tool", (THINKING,), tool_call_id="1"), ""),
        (Message("assistant", (THINKING, TextPart("so"))), [{"type": "text", "text": "so"}]),
        (Message("user", ()), []),
    ],
)
def test_a_message_that_loses_all_its_parts_has_content_that_servers_take(message, written):
    assert message_to_dict(message).get("content") == written


def test_what_a_tool_result_shows_follows_the_results_in_a_message_of_the_user():
    calls = (ToolCall("1", "look"), ToolCall("2", "read"))
    results = [Message("tool", (TextPart("done"), IMAGE), tool_call_id="1"), Message("tool", "x", tool_call_id="2")]
    request = LLMRequest((Message("user", "go"), Message("assistant", None, calls), *results, Message("user", "well?")))
    dicts = request_to_body(request)["messages"]
    assert [fields["role"] for fields in dicts] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert dicts[2]["content"] == [{"type": "text", "text": "done"}, {"type": "text", "text": "[image]"}]
    assert dicts[4]["content"][1] == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    shorter = LLMRequest(request.messages[:3])
    assert [fields["role"] for fields in request_to_body(shorter)["messages"]][-1] == "user"


def test_an_image_that_a_server_of_this_format_sent_in_a_result_stays_there():
    image = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
    body = {"messages": [{"role": "tool", "tool_call_id": "1", "content": [image]}]}
    assert request_to_body(request_from_body(body)) == body


def test_keys_of_other_formats_are_not_written():
    call = ToolCall("1", "read", "{}", extra='{"aaa:gemini":{"signature":"s"}}')
    part = TextPart("x", extra='{"aaa:anthropic":{"block":{"citations":[]}},"cache_control":{"type":"ephemeral"}}')
    message = Message("assistant", (part,), (call,), extra='{"aaa:openai-responses":{"reasoned":true}}')
    written = message_to_dict(message)
    assert "aaa:" not in json.dumps(written)
    assert written["content"] == [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]


def test_a_tool_that_another_provider_runs_is_left_out():
    theirs = ToolSpec("web", extra='{"aaa:absent":["function"],"aaa:anthropic":{"tool":{}},"type":"web_20250305"}')
    own = {"type": "web_search", "web_search": {"enable": True}}  # as z.ai has it
    request = request_from_body({"messages": [{"role": "user", "content": "x"}], "tools": [own, TOOL]})
    mixed = LLMRequest(request.messages, (theirs, *request.tools))
    assert request_to_body(mixed)["tools"] == [own, TOOL]


def test_a_tool_result_read_with_parts_of_this_format_is_one_message_each():
    dicts = [{"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "a"}]}]
    assert request_to_body(LLMRequest((message_from_dict(dicts[0]),)))["messages"] == dicts
