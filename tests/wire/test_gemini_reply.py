"""Gemini's replies, in one piece and streamed."""

import pytest

from aaa.errors import BrokenReplyError
from aaa.messages import Delta, LLMRequest, Message, OpaquePart, TextPart, Usage
from aaa.wire.gemini import ReplyStream, request_to_body, response_from_body

USAGE = {"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 2, "totalTokenCount": 15}


def reply(*parts, **fields):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", **fields}
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "gemini-3", "responseId": "r1"}


def chunk(*parts, **fields):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **fields}]}


def fed(*chunks):
    """A stream that has taken these chunks, and what they made visible."""
    stream = ReplyStream()
    return stream, [delta for each in chunks for delta in stream.feed(each)]


def parts_of(stream):
    [content] = request_to_body(LLMRequest((stream.response().message,)))["contents"]
    return content["parts"]


def call(name="read", **fields):
    return {"functionCall": {"name": name, **fields}}


def test_a_reply_is_its_first_candidate():
    body = reply({"text": "hm", "thought": True}, {"text": "hello", "thoughtSignature": "c2ln"})
    body["candidates"].insert(0, {"index": 1, "content": {"parts": [{"text": "another"}]}, "finishReason": "STOP"})
    response = response_from_body(body)
    thought, text = response.message.content
    assert thought == OpaquePart("thought", '{"text":"hm","thought":true}', "gemini")
    assert text.text == "hello"
    assert response.finish_reason == "stop"
    assert response.model == "gemini-3"
    assert response.usage == Usage(prompt_tokens=10, completion_tokens=5, total_tokens=15, reasoning_tokens=2)


def test_calls_of_different_replies_have_different_ids():
    first = response_from_body(reply(call(args={}), call(args={})))
    again = response_from_body(reply(call(args={}), call(args={})))
    second = response_from_body(reply(call(args={})) | {"responseId": "r2"})
    ids = [each.id for each in (*first.message.tool_calls, *second.message.tool_calls)]
    assert len(set(ids)) == 3
    assert all(each.startswith("read-") for each in ids)
    assert again == first
    assert first.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("given", "reason"),
    [("STOP", "stop"), ("MAX_TOKENS", "length"), ("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"), (None, None)],
)
def test_why_a_reply_ended_is_told_in_our_words_where_we_have_one(given, reason):
    assert response_from_body(reply({"text": "a"}, finishReason=given)).finish_reason == reason


def test_a_reply_without_content_is_empty_and_not_sent_back():
    response = response_from_body({"candidates": [{"finishReason": "SAFETY"}]})
    assert response.message == Message("assistant", "")
    assert response.finish_reason == "SAFETY"
    assert request_to_body(LLMRequest((response.message,)))["contents"] == []


def test_a_blocked_prompt_gives_an_empty_reply_that_says_why():
    response = response_from_body({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": USAGE})
    assert response.message.text == ""
    assert response.finish_reason == "blocked"
    assert "PROHIBITED_CONTENT" in response.message.extra
    assert response.usage.prompt_tokens == 10


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "a reply must be an object"),
        ({"detail": "no"}, "no candidates; its keys are"),
        ({"candidates": "no"}, "candidates must be a list"),
        ({"candidates": [{"content": {"parts": ["no"]}}]}, "a part must be an object"),
    ],
)
def test_what_is_no_reply_is_a_broken_one(body, message):
    with pytest.raises(BrokenReplyError, match=message):
        response_from_body(body)


# Streams


def test_pieces_of_one_kind_are_joined():
    stream, deltas = fed(
        chunk({"text": "h", "thought": True}),
        chunk({"text": "m", "thought": True}),
        chunk({"text": "hel"}),
        chunk({"text": "lo"}),
        chunk({"text": ""}, finishReason="STOP") | {"usageMetadata": USAGE, "modelVersion": "gemini-3"},
    )
    assert parts_of(stream) == [{"text": "hm", "thought": True}, {"text": "hello"}]
    assert deltas == [Delta("thinking", "h"), Delta("thinking", "m"), Delta("text", "hel"), Delta("text", "lo")]
    assert stream.response().usage.total_tokens == 15
    assert stream.response().model == "gemini-3"


def test_a_signature_stays_on_the_part_it_came_with():
    parts = [
        {"text": "a"},
        {"text": "b", "thoughtSignature": "MQ=="},
        {"text": "c"},
        {"text": "", "thoughtSignature": "Mg=="},
    ]
    stream, _ = fed(*map(chunk, parts), chunk(finishReason="STOP"))
    assert parts_of(stream) == parts
    assert [part.text for part in stream.response().message.content if isinstance(part, TextPart)] == [
        "a",
        "b",
        "c",
        "",
    ]


def test_the_last_usage_counts():
    stream, _ = fed(
        chunk({"text": "a"}) | {"usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 10}},
        chunk({"text": "b"}) | {"usageMetadata": USAGE},
        chunk(finishReason="STOP"),
    )
    assert stream.response().usage.completion_tokens == 5


def test_calls_in_one_piece_are_parts_of_their_own():
    parts = [{"text": "I read"}, call(args={"a": 1}), call("run", id="7", args={})]
    stream, deltas = fed(chunk(*parts[:2]), chunk(parts[2], finishReason="STOP"))
    assert parts_of(stream) == parts
    assert deltas == [Delta("text", "I read"), Delta("arguments", '{"a":1}', 0), Delta("arguments", "{}", 1)]
    assert stream.response().finish_reason == "tool_calls"


def piece(path, value, *, more=False):
    kind = "stringValue" if isinstance(value, str) else "boolValue" if isinstance(value, bool) else "numberValue"
    argument = {"jsonPath": path, kind: value} if value is not None else {"jsonPath": path, "nullValue": "NULL_VALUE"}
    return argument | ({"willContinue": True} if more else {})


def partial(*pieces):
    return {"functionCall": {"partialArgs": list(pieces), "willContinue": True}}


def test_arguments_that_come_value_by_value_are_put_together():
    stream, deltas = fed(
        chunk({**call(willContinue=True), "thoughtSignature": "c2ln"}),
        chunk(partial(piece("$.text", "Fre", more=True))),
        chunk(partial(piece("$.text", "sh", more=True), piece("$.list[1].ok", True))),
        chunk(partial(piece("$.text", ""), piece("$.list[0]", None), piece('$[\'a b\'][0]["c\\""]', 1.5))),
        chunk({"functionCall": {}}),
        chunk(call("run", id="7", args={}), finishReason="STOP"),
    )
    first, second = stream.response().message.tool_calls
    assert first.arguments == {"text": "Fresh", "list": [None, {"ok": True}], "a b": [{'c"': 1.5}]}
    assert second.id == "7"
    assert [delta.index for delta in deltas] == [0, 1]
    assert parts_of(stream)[0]["thoughtSignature"] == "c2ln"
    assert "willContinue" not in parts_of(stream)[0]["functionCall"]


@pytest.mark.parametrize("end", [{"text": "done"}, call("run"), None])
def test_a_call_ends_with_what_follows_it(end):
    stream, _ = fed(
        chunk(call(willContinue=True)),
        chunk(partial(piece("$.a", 1))),
        chunk(*([end] if end else []), finishReason="STOP"),
    )
    assert stream.response().message.tool_calls[0].arguments == {"a": 1}


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([piece("a.b", 1)], "cannot be read"),
        ([piece("$", 1)], "cannot be read"),
        ([piece("$[0]", 1)], "cannot be read"),
        ([piece("$.a..b", 1)], "cannot be read"),
        ([piece("$.a[999999]", 1)], "index 999999"),
        ([piece("$.a", 1), piece("$.a.b", 1)], "contradict"),
        ([piece("$.a[0]", 1), piece("$.a.b", 1)], "contradict"),
        ([{"jsonPath": "$.a"}], "needs a jsonPath and a value"),
    ],
)
def test_arguments_that_cannot_be_put_together_break_the_reply(pieces, message):
    stream, _ = fed(chunk(call(willContinue=True)))
    with pytest.raises(BrokenReplyError, match=message):
        stream.feed(chunk(partial(*pieces)))


def test_a_stream_that_just_ends_is_a_broken_reply():
    stream, _ = fed(chunk({"text": "hel"}))
    with pytest.raises(BrokenReplyError, match="half-way, after 1 parts"):
        stream.response()
    with pytest.raises(BrokenReplyError):
        ReplyStream().response()


def test_a_blocked_stream_is_an_empty_reply():
    stream, _ = fed({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": USAGE})
    assert stream.response().finish_reason == "blocked"


def test_an_error_in_a_stream_is_kept_and_breaks_the_reply():
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    stream, deltas = fed(chunk({"text": "hel"}), error)
    assert (stream.error, deltas) == (error, [Delta("text", "hel")])
    with pytest.raises(BrokenReplyError, match="overloaded"):
        stream.response()
