"""OpenAI's Responses format: requests, replies, items, and what of other formats can be written in it."""

import json
import logging

import pytest
from msgspec.structs import replace

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import LLMRequest, Message, OpaquePart, TextPart, ToolCall, ToolSpec, Usage, pair, with_text
from aaa.wire import openai_chat
from aaa.wire.openai_chat import message_from_dict, message_to_dict
from aaa.wire.openai_chat import notes as openai_chat_notes
from aaa.wire.openai_responses import (
    error_in,
    items_from_messages,
    messages_from_items,
    request_from_body,
    request_to_body,
    response_from_body,
)

USER = {"role": "user", "content": "hello"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AA=="}
CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "done"}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
COMPACTION = {"type": "compaction", "id": "cmp_1", "encrypted_content": "AA=="}


def said(text="hi", item_id="msg_1", **more):
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": [part], **more}


def own(item):
    return OpaquePart(item["type"], json.dumps(item, separators=(",", ":")), "openai-responses")


def only(items):
    (message,) = messages_from_items(items)
    return message


# Requests


def test_a_request_is_messages_tools_a_model_and_the_rest():
    body = {
        "model": "gpt-x",
        "instructions": "Be brief.",
        "input": [USER],
        "tools": [{"type": "function", "name": "read", "parameters": {}, "strict": True}],
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "truncation": "auto",
        "context_management": [{"type": "compaction", "compact_threshold": 1000}],
        "previous_response_id": "resp_1",
    }
    request = request_from_body(body)
    assert [(message.role, message.content) for message in request.messages] == [
        ("system", "Be brief."),
        ("user", "hello"),
    ]
    assert ([tool.name for tool in request.tools], request.model) == (["read"], "gpt-x")
    assert set(request.params) == {"store", "include", "truncation", "context_management", "previous_response_id"}
    assert request_to_body(request) == body


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": "hello"},
        {"input": ""},
        {"input": [], "previous_response_id": "resp_1"},
        {"input": None, "instructions": None, "tools": None, "model": None},
        {"input": [USER], "instructions": ""},
        {"input": [{"role": "system", "content": "a"}, {"role": "developer", "content": "b"}, USER]},
        {"input": [USER], "instructions": [{"role": "system", "content": "a"}]},
        {"input": [USER], "tools": []},
    ],
)
def test_a_body_is_written_as_it_was_read(body):
    assert request_to_body(request_from_body(body)) == body


def test_system_messages_of_ours_are_items_and_instructions_stay_instructions():
    request = LLMRequest((Message("system", "a"), Message("system", "b"), Message("user", "x")))
    items = request_to_body(request)["input"]
    assert items[:2] == [{"role": "system", "content": "a"}, {"role": "system", "content": "b"}]
    read = request_from_body({"instructions": "a", "input": "x"})
    longer = LLMRequest((*read.messages, Message("assistant", "y")))
    assert request_to_body(longer) == {
        "instructions": "a",
        "input": [*items[2:], {"role": "assistant", "content": "y"}],
    }
    edited = LLMRequest((with_text(read.messages[0], "b"), read.messages[1]))
    assert request_to_body(edited) == {"instructions": "b", "input": "x"}


def test_instructions_that_no_longer_lead_are_an_item():
    read = request_from_body({"instructions": "a", "input": "x"})
    body = request_to_body(LLMRequest((Message("user", "first"), *read.messages)))
    assert "instructions" not in body
    assert body["input"][1] == {"role": "system", "content": "a"}


@pytest.mark.parametrize(
    ("body", "problem", "index"),
    [
        ("hello", "a request must be an object, not str", None),
        ({"input": 5}, "input must be a list, not int", None),
        ({"input": [USER, "x"]}, "input item 1: an item must be an object, not str", 1),
        ({"input": [{"role": "user", "content": ["x"]}]}, "input item 0: a content part must be an object", 0),
        ({"input": [{**USER, "aaa:x": 1}]}, "input item 0: the key 'aaa:x' is reserved", 0),
        ({"input": [{**REASONING, "aaa:x": 1}]}, "input item 0: the key 'aaa:x' is reserved", 0),
        ({"tools": "x"}, "tools must be a list, not str", None),
        ({"tools": [{"type": "function"}]}, "tool 0: a tool needs a name", 0),
        ({"tools": [{"type": "function", "name": "x", "parameters": [1]}]}, "tool 0: the parameters of a tool", 0),
    ],
)
def test_what_is_no_request_is_refused_with_its_place(body, problem, index):
    with pytest.raises(WireError, match=problem) as caught:
        request_from_body(body)
    assert caught.value.index == index


# Items

ITEMS = {
    "easy messages": [USER, {"role": "assistant", "content": "hi"}, {"type": "message", **USER}],
    "parts": [{"role": "user", "content": [{"type": "input_text", "text": "look"}]}],
    "an image": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:,", "detail": "low"}]}],
    "empty content": [{"role": "user", "content": []}, {"role": "user", "content": None}, {"role": "user"}],
    "empty text beside a call": [{"role": "assistant", "content": ""}, CALL],
    "a reply": [said()],
    "a reply in two items": [said("a", "m1", phase="commentary"), said("b", "m2", phase="final_answer")],
    "two easy replies in a row": [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}],
    "two parts in one item": [said() | {"content": [*said()["content"], {"type": "refusal", "refusal": "no"}]}],
    "a refusal": [said() | {"content": [{"type": "refusal", "refusal": "no"}]}],
    "two refusals": [said() | {"content": [{"type": "refusal", "refusal": "no"}]}] * 2,
    "annotations": [said() | {"content": [{"type": "output_text", "text": "x", "annotations": [{"url": "y"}]}]}],
    "a message without content": [said() | {"content": []}, said() | {"content": None}],
    "reasoning": [USER, REASONING, CALL | {"id": "fc_1", "status": "completed"}, OUTPUT, REASONING, said()],
    "reasoning between calls": [REASONING, CALL, REASONING | {"id": "rs_2"}, CALL | {"call_id": "c2"}],
    "a call before text": [CALL, said()],
    "text between calls": [CALL, {"role": "assistant", "content": "x"}, CALL | {"call_id": "c2"}],
    "a custom call": [
        {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "select 1", "id": "ctc_1"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"},
    ],
    "a function's result for a custom call": [
        {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "select 1"},
        OUTPUT,
        USER,
        OUTPUT | {"type": "custom_tool_call_output"},
    ],
    "a custom result for a function": [CALL, OUTPUT | {"type": "custom_tool_call_output"}],
    "a result in parts": [CALL, OUTPUT | {"output": [{"type": "input_text", "text": "a"}]}],
    "an odd result": [CALL, OUTPUT | {"output": {"a": 1}}, OUTPUT | {"output": None}, {"type": OUTPUT["type"]}],
    "arguments as an object": [CALL | {"arguments": {"a": [1, None]}}],
    "a call without an id": [{"type": "function_call", "name": "read", "arguments": "{}"}],
    "calls the provider ran": [SEARCH, said(), {"type": "code_interpreter_call", "id": "ci_1", "outputs": None}],
    "a compaction": [USER, said(), COMPACTION, USER, {"type": "compaction_trigger"}],
    "references": [{"type": "item_reference", "id": "rs_1"}, {"id": "fc_1"}, OUTPUT],
    "a client's own calls": [
        {"type": "computer_call", "call_id": "c1", "action": {"type": "click"}},
        {"type": "computer_call_output", "call_id": "c1", "output": {"type": "computer_screenshot"}},
        said(),
    ],
    "approvals": [
        {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "x", "tools": []},
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "x", "arguments": "{}", "server_label": "x"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ],
    "an unknown part": [{"role": "user", "content": [{"type": "smell", "of": {"b": 1, "a": 2}}]}, said()],
    "a role of tool": [{"role": "tool", "content": "x"}],
    "an unknown role": [{"role": "critic", "content": "x"}],
    "content among the items": [{"type": "input_image", "image_url": "x"}, said()],
}


@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS.keys())
def test_items_are_written_as_they_were_read(items):
    before = json.dumps(items, sort_keys=True)
    assert json.dumps(items_from_messages(messages_from_items(items)), sort_keys=True) == before
    assert json.dumps(items, sort_keys=True) == before


def test_the_items_of_a_turn_are_one_message_and_each_result_is_one():
    items = [USER, REASONING, said("so"), CALL, CALL | {"call_id": "c2"}, OUTPUT, OUTPUT | {"call_id": "c2"}, said()]
    messages = messages_from_items(items)
    assert [message.role for message in messages] == ["user", "assistant", "tool", "tool", "assistant"]
    turn = messages[1]
    assert isinstance(turn.content, tuple)
    assert turn.content[0] == own(REASONING)
    assert turn.text == "so"
    assert [call.id for call in turn.tool_calls] == ["c1", "c2"]
    assert pair(messages).call_of == {2: 1, 3: 1}


def test_a_reply_of_one_text_is_a_string():
    assert only([said("hi")]).content == "hi"
    assert only([{"role": "assistant", "content": "hi"}]) == Message("assistant", "hi")
    assert isinstance(only(ITEMS["annotations"]).content, tuple)


def test_a_custom_call_has_its_text_as_arguments_and_is_one_in_the_chat_format_too():
    message = messages_from_items(ITEMS["a custom call"])[0]
    (call,) = message.tool_calls
    assert (call.id, call.name, call.arguments_json) == ("c1", "sql", "select 1")
    assert message_to_dict(message)["tool_calls"] == [
        {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    ]


def test_a_custom_call_of_the_chat_format_is_one_here_and_so_is_its_result():
    call = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    message = message_from_dict({"role": "assistant", "content": None, "tool_calls": [call]})
    assert items_from_messages([message, Message("tool", "1", tool_call_id="c1")]) == [
        {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"},
    ]


def test_the_answer_to_a_call_of_another_kind_ends_a_message():
    messages = messages_from_items([*ITEMS["a client's own calls"][:2], REASONING, *ITEMS["a client's own calls"][:2]])
    assert [len(message.content or ()) for message in messages] == [2, 3]


def test_what_a_client_says_beside_messages_is_the_users():
    messages = messages_from_items([said(), {"type": "compaction_trigger"}])
    assert [message.role for message in messages] == ["assistant", "user"]


def test_a_message_of_ours_is_written_in_the_format():
    messages = [
        Message("user", (TextPart("look"),), name="ann", pinned=True),
        Message("assistant", "", (ToolCall("c1", "read"),)),
        Message("tool", (TextPart("a"), TextPart("b")), tool_call_id="c1", name="read"),
        Message("assistant", (TextPart("a"), TextPart("b"))),
        Message("assistant"),
        Message("user", None),
        Message("tool", None),
    ]
    assert items_from_messages(messages) == [
        {"role": "user", "content": [{"type": "input_text", "text": "look"}]},
        CALL,
        OUTPUT | {"output": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]},
        {
            "role": "assistant",
            "content": [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}],
        },
        {"role": "user", "content": ""},
        {"type": "function_call_output", "call_id": "", "output": ""},
    ]


def test_a_result_that_was_cleared_is_written_with_what_stands_in_its_place():
    for output in ("long", [{"type": "input_image", "image_url": "x"}], {"odd": 1}):
        message = messages_from_items([CALL, OUTPUT | {"output": output, "status": "completed"}])[1]
        cleared = with_text(message, "[cleared]")
        assert items_from_messages([cleared]) == [OUTPUT | {"output": "[cleared]", "status": "completed"}]


def test_a_call_that_got_another_id_or_other_arguments_is_written_so():
    message = only([CALL | {"id": "fc_1"}])
    changed = replace(message, tool_calls=(replace(message.tool_calls[0], id="c1~2", arguments_json="[]"),))
    assert items_from_messages([changed]) == [CALL | {"id": "fc_1", "call_id": "c1~2", "arguments": "[]"}]


def test_what_belonged_to_reasoning_that_is_gone_has_no_id_and_no_calls_of_the_providers():
    message = only([REASONING, SEARCH, said("so", phase="commentary"), CALL | {"id": "fc_1", "status": "completed"}])
    assert isinstance(message.content, tuple)
    bare = replace(message, content=tuple(part for part in message.content if part != own(REASONING)))
    spoken = {key: value for key, value in said("so", phase="commentary").items() if key != "id"}
    assert items_from_messages([bare]) == [spoken, CALL | {"status": "completed"}]
    assert items_from_messages([with_text(message, "so")])[0] == {"role": "assistant", "content": "so"}


def test_calls_keep_their_places_as_far_as_the_parts_are_there():
    message = only(ITEMS["reasoning between calls"])
    assert isinstance(message.content, tuple)
    for kept in ((), message.content[:1], message.content[1:]):
        written = items_from_messages([replace(message, content=kept)])
        assert [item["call_id"] for item in written if item["type"] == "function_call"] == ["c1", "c2"]


def test_an_unknown_item_is_kept_and_warned_of_once(caplog, monkeypatch):
    monkeypatch.setattr(openai_chat_notes, "_warned", set())
    items = [{"type": "brand_new_thing", "x": 1}, USER, {"type": "brand_new_thing", "x": 2}]
    with caplog.at_level(logging.WARNING, "aaa.wire"):
        messages = messages_from_items(items)
    assert items_from_messages(messages) == items
    assert [record.getMessage() for record in caplog.records] == [
        "an item of the unknown type brand_new_thing is kept, and sent back as it came"
    ]


def test_a_type_that_is_no_name_is_not_shown_in_the_log(caplog, monkeypatch):
    monkeypatch.setattr(openai_chat_notes, "_warned", set())
    with caplog.at_level(logging.WARNING, "aaa.wire"):
        messages_from_items([{"type": "what the user said"}, {"type": ["secret"]}])
    assert [record.args for record in caplog.records] == [("?",)]


def test_known_items_are_not_warned_of(caplog, monkeypatch):
    monkeypatch.setattr(openai_chat_notes, "_warned", set())
    with caplog.at_level(logging.WARNING, "aaa.wire"):
        for name in ITEMS.keys() - {"content among the items", "an unknown part"}:
            messages_from_items(ITEMS[name])
    assert caplog.records == []


# Replies


def body_of(*output, **more):
    usage = {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 8}}
    return {"id": "resp_1", "model": "m", "status": "completed", "output": list(output), "usage": usage, **more}


def test_a_reply_is_one_message_with_its_usage():
    response = response_from_body(body_of(REASONING, said("hi"), CALL))
    assert (response.message.role, response.message.text) == ("assistant", "hi")
    assert (response.model, response.usage) == ("m", Usage(10, 2, cached_tokens=8))
    assert items_from_messages([response.message]) == [REASONING, said("hi"), CALL]
    assert only([REASONING, said("hi"), CALL]) == response.message


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (body_of(said()), "stop"),
        (body_of(CALL), "tool_calls"),
        (body_of({"type": "custom_tool_call", "call_id": "c", "name": "x", "input": ""}), "tool_calls"),
        (body_of(said(), status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "length"),
        (body_of(CALL, status="incomplete", incomplete_details=None), "length"),
        (body_of(status="incomplete", incomplete_details={"reason": "content_filter"}), "content_filter"),
        (body_of(said(), status=None), "stop"),
        (body_of(said(), status="cancelled"), "cancelled"),
        (body_of({"type": "computer_call", "call_id": "c"}), "computer_call"),
        (body_of({"type": "shell_call", "call_id": "c"}, {"type": "shell_call_output", "call_id": "c"}), "stop"),
    ],
)
def test_the_reason_to_stop_comes_from_status_and_calls(body, reason):
    assert response_from_body(body).finish_reason == reason


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (body_of(status="failed", error={"code": "server_error", "message": "no"}), "server_error"),
        (body_of(status="failed"), None),
        ({"error": {"code": 400, "message": "no"}}, "400"),
        ({"error": "no", "code": "invalid"}, "invalid"),
    ],
)
def test_a_response_that_failed_is_an_error(body, code):
    assert error_in(body) is not None
    with pytest.raises(BrokenReplyError, match="the reply is an error") as caught:
        response_from_body(body)
    assert caught.value.code == code


@pytest.mark.parametrize("body", ["x", {"output": "x"}, {"output": ["x"]}, {"output": [{**CALL, "aaa:x": 1}]}])
def test_what_is_no_response_is_a_broken_reply(body):
    with pytest.raises(BrokenReplyError, match="not in OpenAI's Responses format"):
        response_from_body(body)


def test_a_response_that_says_nothing_is_an_empty_message():
    assert response_from_body({"output": []}).message == Message("assistant")


# Parts of other formats

IMAGE = OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}')
FILE = OpaquePart("file", '{"type":"file","file":{"file_id":"file-1"}}')
SOUND = OpaquePart("input_audio", '{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}')
LINK = OpaquePart("document", '{"type":"document","source":{"type":"url","url":"https://x.test/a.pdf"}}', "anthropic")
PDF = OpaquePart(
    "document",
    '{"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}',
    "anthropic",
)
THEIR_FILE = OpaquePart("document", '{"type":"document","source":{"type":"file","file_id":"f"}}', "anthropic")
FILM = OpaquePart("inlineData", '{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}}', "gemini")
THINKING = OpaquePart("thinking", '{"type":"thinking","thinking":"hm","signature":"s"}', "anthropic")
REFUSAL = OpaquePart("refusal", '{"type":"refusal","refusal":"no"}')


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (IMAGE, {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}),
        (FILE, {"type": "input_file", "file_id": "file-1"}),
        (SOUND, {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}),
        (LINK, {"type": "input_file", "file_url": "https://x.test/a.pdf"}),
        (PDF, {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}),
        (REFUSAL, {"type": "input_text", "text": "no"}),
    ],
)
def test_media_of_other_formats_are_shown_by_users_and_results(part, written):
    (item,) = items_from_messages([Message("user", (part,))])
    assert item == {"role": "user", "content": [written]}
    (item,) = items_from_messages([Message("tool", (part,), tool_call_id="c1")])
    assert item == OUTPUT | {"output": [written]}


@pytest.mark.parametrize("part", [FILM, THEIR_FILE, THINKING])
def test_what_the_format_cannot_show_is_left_out(part):
    assert items_from_messages([Message("user", (part,))]) == [{"role": "user", "content": ""}]
    assert items_from_messages([Message("user", (part, TextPart("x")))]) == [
        {"role": "user", "content": [{"type": "input_text", "text": "x"}]}
    ]


def test_a_reply_shows_text_alone():
    message = Message("assistant", (THINKING, IMAGE, TextPart("x"), REFUSAL), (ToolCall("c1", "read"),))
    texts = [{"type": "output_text", "text": "x"}, {"type": "output_text", "text": "no"}]
    assert items_from_messages([message]) == [{"role": "assistant", "content": texts}, CALL]
    assert items_from_messages([Message("assistant", (THINKING,), (ToolCall("c1", "read"),))]) == [CALL]


# Tools


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "name": "read", "description": "Read.", "parameters": {"type": "object"}, "strict": True},
        {"type": "function", "name": "read", "parameters": {}, "strict": False},
        {"type": "function", "name": "read", "parameters": None, "strict": None},
        {"type": "function", "name": "read", "defer_loading": True},
        {"name": "read"},
        {"type": "web_search"},
        {"type": "mcp", "server_label": "x", "server_url": "https://x.test"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "custom", "name": "sql", "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"}},
        {"type": "custom", "name": "sql", "format": {"type": "text"}},
        {"type": "custom", "name": "sql"},
    ],
)
def test_a_tool_is_written_as_it_was_read(tool):
    body = {"input": "x", "tools": [tool]}
    assert request_to_body(request_from_body(body)) == body


def test_a_tool_of_ours_is_written_in_the_format():
    request = LLMRequest((Message("user", "x"),), (ToolSpec("read", "Read.", '{"type":"object"}'), ToolSpec("run")))
    assert request_to_body(request)["tools"] == [
        {"type": "function", "name": "read", "description": "Read.", "parameters": {"type": "object"}, "strict": False},
        {"type": "function", "name": "run", "parameters": {}, "strict": False},
    ]


def chat_tools(*tools):
    return openai_chat.request_from_body({"messages": [{"role": "user", "content": "x"}], "tools": list(tools)})


def test_tools_of_the_chat_format_keep_what_both_have():
    strict = {"type": "function", "function": {"name": "read", "parameters": {}, "strict": True}}
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: x"}}
    custom = {"type": "custom", "custom": {"name": "sql", "format": grammar}}
    assert request_to_body(chat_tools(strict, custom))["tools"] == [
        {"type": "function", "name": "read", "parameters": {}, "strict": True},
        {"type": "custom", "name": "sql", "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"}},
    ]


def test_tools_of_this_format_are_written_in_the_chat_format_unless_the_provider_runs_them():
    tools = [
        {"type": "function", "name": "read", "parameters": {}, "strict": True},
        {"type": "custom", "name": "sql", "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"}},
        {"type": "web_search"},
    ]
    body = openai_chat.request_to_body(request_from_body({"input": "x", "tools": tools}))
    assert [(tool["type"], sorted(tool[tool["type"]])) for tool in body["tools"]] == [
        ("function", ["description", "name", "parameters"]),
        ("custom", ["format", "name"]),
    ]
    assert body["tools"][1]["custom"]["format"]["grammar"] == {"syntax": "lark", "definition": "start: x"}


def test_a_conversation_of_this_format_is_valid_in_the_chat_format():
    items = [USER, REASONING, SEARCH, said("so"), CALL, OUTPUT, REASONING, CALL | {"call_id": "c2"}]
    dicts = [message_to_dict(message) for message in messages_from_items(items)]
    assert dicts[1]["content"] == [{"type": "text", "text": "so"}]
    assert "content" not in dicts[3]
    assert "aaa:" not in json.dumps(dicts)
    assert "rs_1" not in json.dumps(dicts)
