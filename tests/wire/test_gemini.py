"""Gemini's requests: read, written, the same again; and conversations of other providers written for it."""

import json
import logging

import pytest

from aaa.errors import WireError
from aaa.messages import LLMRequest, Message, OpaquePart, TextPart, ToolCall
from aaa.messages.message import with_text
from aaa.wire import openai_chat
from aaa.wire.gemini import parts as gemini_parts
from aaa.wire.gemini import request_from_body, request_to_body

USER = {"role": "user", "parts": [{"text": "go"}]}


def call(name="read", **fields):
    return {"functionCall": {"name": name, "args": {}, **fields}}


def result(name="read", text="done", **fields):
    return {"functionResponse": {"name": name, "response": {"output": text}, **fields}}


def model(*parts):
    return {"role": "model", "parts": list(parts)}


def user(*parts):
    return {"role": "user", "parts": list(parts)}


def body(*contents, **fields):
    return {"contents": list(contents), **fields}


def read(*contents, **fields):
    """The messages of a body that comes back as it was."""
    given = body(*contents, **fields)
    request = request_from_body(given)
    assert request_to_body(request) == given
    return request.messages


def written(*messages):
    return request_to_body(LLMRequest(messages))["contents"]


def pairs_of(messages):
    return [(message.name, message.tool_call_id, message.text) for message in messages if message.role == "tool"]


LAYOUTS = {
    "text": [USER],
    "empty text": [user({"text": ""})],
    "two texts": [user({"text": "a"}, {"text": "b"})],
    "text and image": [user({"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}})],
    "no parts": [user(), model(), USER],
    "parts absent or null": [{"role": "model"}, {"role": "user", "parts": None}],
    "one part for a list of one": [{"role": "user", "parts": {"text": "go"}}],
    "no role": [{"parts": [{"text": "go"}]}],
    "role of old function results": [model(call()), {"role": "function", "parts": [result()]}],
    "an unknown key": [{"role": "user", "parts": [{"text": "go"}], "x": 1}],
    "users in a row": [USER, USER],
    "models in a row": [USER, model({"text": "a"}), model(call())],
    "text before a call": [USER, model({"text": "a"}, call())],
    "text behind a call": [USER, model(call(), {"text": "a", "thoughtSignature": "c2ln"})],
    "text between calls": [USER, model(call(), {"text": "a"}, call("run"), {"text": "b"})],
    "thought and signed call": [
        model({"text": "hm", "thought": True}, {**call(), "thoughtSignature": "c2ln"}, call("run")),
    ],
    "signature on an empty text": [model({"text": "a"}, {"text": "", "thoughtSignature": "c2ln"})],
    "calls without arguments": [model({"functionCall": {"name": "a"}}, {"functionCall": {"name": "a", "args": None}})],
    "results with text": [model(call()), user(result(), {"text": "and?"})],
    "text before results": [model(call()), user({"text": "here"}, result())],
    "text between results": [model(call(), call("run")), user(result(), {"text": "and"}, result("run"))],
    "results in the order of calls": [model(call(), call("run")), user(result(), result("run"))],
    "results in another order": [model(call(), call("run")), user(result("run"), result())],
    "a content for each result": [model(call(), call("run")), user(result()), user(result("run"))],
    "results behind other words": [model(call()), USER, user(result())],
    "a result without a call": [user(result()), USER],
    "results of two turns in one": [model(call()), model(call("run")), user(result(), result("run"))],
    "calls and results with ids": [model(call(id="1"), call(id="2")), user(result(id="2"), result(id="1"))],
    "an id on the result alone": [model(call()), user(result(id="x"))],
    "an id on the call alone": [model(call(id="x")), user(result())],
    "what the provider runs": [
        model(
            {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "c2ln"},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
            {"text": "one"},
        ),
    ],
    "spelled with underscores": [
        model({"function_call": {"name": "read", "args": {}}, "thought_signature": "c2ln"}),
        user({"function_response": {"name": "read", "response": {"result": "x"}}}),
        user(
            {"inline_data": {"mime_type": "image/png", "data": "AAAA"}}, {"inlineData": {"mime_type": "a", "data": ""}}
        ),
    ],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_contents_come_back_as_they_were(name):
    read(*LAYOUTS[name])


def test_a_plain_conversation_needs_no_notes():
    messages = read(
        USER, model({"text": "I read"}, call(id="1"), call(id="2")), user(result(id="1"), result(id="2")), USER
    )
    assert messages == (
        Message("user", "go"),
        Message("assistant", "I read", (ToolCall("1", "read"), ToolCall("2", "read"))),
        Message("tool", "done", (), "1", "read"),
        Message("tool", "done", (), "2", "read"),
        Message("user", "go"),
    )


def test_everything_around_the_contents_comes_back():
    request = request_from_body(
        body(
            USER,
            systemInstruction={"role": "user", "parts": [{"text": "Be brief."}]},
            model="models/gemini-3",
            generationConfig={"temperature": 0},
            safetySettings=[],
            toolConfig={"functionCallingConfig": {"mode": "AUTO"}},
            cachedContent="cachedContents/1",
            tools=[],
        )
    )
    assert request.messages[0] == Message("system", "Be brief.")
    assert request.model == "models/gemini-3"
    assert set(request.params) == {"generationConfig", "safetySettings", "toolConfig", "cachedContent", "tools"}


@pytest.mark.parametrize(
    "system",
    [
        {"parts": [{"text": "a"}]},
        {"parts": {"text": ""}},
        {"role": "system", "parts": [{"text": "a"}, {"text": "b"}]},
        {"parts": []},
        None,
    ],
)
@pytest.mark.parametrize("key", ["systemInstruction", "system_instruction"])
def test_a_system_instruction_comes_back_as_it_was(system, key):
    read(USER, **{key: system})


def test_system_messages_at_the_front_are_one_instruction_and_later_ones_stand_in_their_place():
    body = request_to_body(
        LLMRequest(
            (
                Message("system", "a"),
                Message("developer", "b"),
                Message("user", "go"),
                Message("assistant", "ok"),
                Message("system", "c"),
            )
        )
    )
    assert body["systemInstruction"]["parts"] == [{"text": "a"}, {"text": "b"}]
    assert body["contents"][-1] == user({"text": "c"})


# Calls and results


def test_calls_without_an_id_get_one_that_is_not_sent():
    messages = read(USER, model(call(), call(), call("run")), user(result(), result(), result("run")))
    assert [call.id for call in messages[1].tool_calls] == ["read-1", "read-2", "run-3"]
    assert [message.tool_call_id for message in messages[2:]] == ["read-1", "read-2", "run-3"]


def test_an_id_of_ours_is_never_one_that_was_given_before():
    messages = read(model(call(id="read-1"), call()))
    assert [call.id for call in messages[0].tool_calls] == ["read-1", "read-2"]


def test_our_own_result_to_a_call_without_an_id_is_sent_without_one():
    messages = read(USER, model(call()))
    contents = written(*messages, Message("tool", "done", (), messages[1].tool_calls[0].id))
    assert contents[-1] == user(result())


def test_an_id_that_a_run_made_unique_stays_unsent():
    message = read(model(call()))[0]
    renamed = Message("assistant", None, (ToolCall("read-1~2", "read", "{}", message.tool_calls[0].extra),))
    assert written(renamed, Message("tool", "done", (), "read-1~2")) == [model(call()), user(result())]


def test_results_without_ids_answer_the_calls_of_the_latest_turn_in_order():
    messages = read(
        *(model(call(), call("run")), USER),
        *(
            model(call(), call()),
            user(result(text="a"), result(text="b"), result("run", "late"), result("else", "none")),
        ),
    )
    assert pairs_of(messages) == [
        ("read", "read-3", "a"),
        ("read", "read-4", "b"),
        ("run", "run-2", "late"),
        ("else", None, "none"),
    ]


def test_turns_in_a_row_are_answered_as_one():
    messages = read(model(call()), model(call()), user(result(text="a"), result(text="b")))
    assert pairs_of(messages) == [("read", "read-1", "a"), ("read", "read-2", "b")]


RESULTS = {
    "output": ({"output": "text"}, "text"),
    "result": ({"result": "text"}, "text"),
    "error": ({"error": "no"}, '{"error":"no"}'),
    "an object": ({"b": 1, "a": [1.0, None]}, '{"b":1,"a":[1.0,null]}'),
    "more than output": ({"output": "text", "n": 1}, '{"output":"text","n":1}'),
    "output that is no text": ({"output": 1}, '{"output":1}'),
    "nothing": ({}, "{}"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_a_result_says_is_its_text_or_its_json(name):
    response, text = RESULTS[name]
    messages = read(model(call()), user({"functionResponse": {"name": "read", "response": response}}))
    assert messages[1].content == text


def test_a_result_of_which_the_middle_was_cut_is_sent_as_text():
    messages = read(model(call()), user({"functionResponse": {"name": "read", "response": {"lines": ["a", "b"]}}}))
    cut = with_text(messages[1], '{"lines":["a" [...]')
    assert written(messages[0], cut)[1] == user(result(text='{"lines":["a" [...]'))


def test_images_in_a_result_are_parts_behind_its_text():
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    messages = read(model(call()), user(result(parts=[image])))
    assert messages[1].content == (
        TextPart("done"),
        OpaquePart("inlineData", json.dumps(image, separators=(",", ":")), "gemini"),
    )


def test_results_go_behind_their_turn_in_the_order_of_its_calls():
    turn = Message("assistant", None, (ToolCall("1", "read"), ToolCall("2", "run")))
    contents = written(
        turn,
        Message("tool", "b", (), "2"),
        Message("user", "wait"),
        Message("assistant", "I wait"),
        Message("tool", "a", (), "1"),
    )
    assert contents == [
        model(call(id="1"), call("run", id="2")),
        user(result(text="a", id="1"), result("run", "b", id="2")),
        user({"text": "wait"}),
        model({"text": "I wait"}),
    ]


def test_words_of_the_user_stand_apart_from_results_and_are_joined_to_each_other():
    contents = written(
        Message("assistant", None, (ToolCall("1", "read"),)),
        Message("tool", "done", (), "1"),
        Message("user", "a"),
        Message("user", "b"),
        Message("assistant", "c"),
        Message("assistant", "d"),
    )
    assert contents[1:] == [
        user(result(id="1")),
        user({"text": "a"}, {"text": "b"}),
        model({"text": "c"}, {"text": "d"}),
    ]


def test_a_content_of_which_the_first_message_is_gone_is_still_one():
    messages = read(model(call(), call("run")), user({"text": "x"}, result("run"), result()))
    assert written(messages[0], *messages[2:])[1] == user(result("run"), result())


# What other providers know


def test_messages_that_say_nothing_are_left_out():
    contents = written(
        Message("user", "go"), Message("assistant", ""), Message("assistant", None), Message("user", (TextPart(""),))
    )
    assert contents == [USER]


def test_media_of_other_formats_are_sent_and_thinking_is_not():
    parts = (
        OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}'),
        OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"https://a.b/c.jpg?d=1"}}'),
        OpaquePart("input_audio", '{"type":"input_audio","input_audio":{"format":"wav","data":"AAAA"}}'),
        OpaquePart("image", '{"image":"/9j/AAAA"}', "ollama"),
        OpaquePart("file", '{"type":"file","file":{"file_id":"file-1"}}'),
        OpaquePart("thinking", '{"type":"thinking","thinking":"hm"}', "anthropic"),
        OpaquePart("refusal", '{"type":"refusal","refusal":"no"}'),
    )
    assert written(Message("user", parts)) == [
        user(
            {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://a.b/c.jpg?d=1"}},
            {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}},
            {"inlineData": {"mimeType": "image/jpeg", "data": "/9j/AAAA"}},
            {"text": "no"},
        )
    ]


def test_results_with_images_of_other_formats_are_sent_with_them():
    turn = Message("assistant", None, (ToolCall("1", "read"),))
    image = OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}')
    answer = Message("tool", (TextPart("a"), image, TextPart("b")), (), "1")
    media = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    assert written(turn, answer)[1] == user(result(text="a\nb", id="1", parts=[media]))


@pytest.mark.parametrize("arguments", ["not json {", "[1]", "null", '{"a": NaN}', "7"])
def test_arguments_that_are_no_object_are_handed_on_inside_one(arguments):
    message = Message("assistant", None, (ToolCall("1", "read", arguments),))
    [content] = written(message)
    assert content["parts"][0]["functionCall"]["args"] == {"INVALID_JSON": arguments}
    assert request_from_body(body(content)).messages == (message,)


def test_a_signature_read_from_googles_server_of_the_other_format_is_sent():
    message = openai_chat.message_from_dict(
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "read", "arguments": "{}"},
                    "extra_content": {"google": {"thought_signature": "c2ln"}},
                }
            ],
        }
    )
    assert written(message) == [model({**call(id="1"), "thoughtSignature": "c2ln"})]


def test_media_spelled_with_underscores_is_media_to_other_formats():
    image = {"inline_data": {"mime_type": "image/png", "data": "AAAA"}}
    [message] = read(user({"text": "look"}, image))
    assert message.content[1].json == '{"inlineData":{"mimeType":"image/png","data":"AAAA"}}'


def test_an_unknown_part_is_kept_and_warned_about_once(caplog, monkeypatch):
    monkeypatch.setattr(gemini_parts, "_warned", set())
    with caplog.at_level(logging.WARNING, logger="aaa.wire"):
        read(model({"hologram": {"a": 1}}, {"hologram": {"a": 2}}))
    assert [record.getMessage() for record in caplog.records] == [
        "a part of type 'hologram' is not known to this version; it is sent back as it came"
    ]


# What is no request


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "a request must be an object"),
        ({}, "needs contents"),
        ({"contents": "go"}, "contents must be a list, not str"),
        ({"contents": [USER, "go"]}, "content 1: a content must be an object"),
        ({"contents": [{"parts": "go"}]}, "content 0: parts must be a list, not str"),
        ({"contents": [{"parts": ["go"]}]}, "content 0: a part must be an object"),
        ({"contents": [model({"functionCall": {"name": "a", "args": {"b": {1}}}})]}, "content 0: a value is not JSON"),
        ({"contents": [], "systemInstruction": "x"}, "systemInstruction must be an object"),
        ({"contents": [], "tools": "x"}, "tools must be a list"),
        ({"contents": [], "tools": [{"functionDeclarations": [{}]}]}, "tool 0: a function declaration needs a name"),
    ],
)
def test_what_is_no_request_is_refused_with_the_place(given, message):
    with pytest.raises(WireError, match=message):
        request_from_body(given)


def test_an_id_and_a_name_are_found_by_the_call_where_a_result_has_none():
    turn = Message("assistant", None, (ToolCall("1", "read"),))
    assert written(turn, Message("tool", None, (), "1")) == [model(call(id="1")), user(result(text="", id="1"))]
    assert written(Message("tool", "x", (), "lost")) == [user(result("", "x", id="lost"))]
