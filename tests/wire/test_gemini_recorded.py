"""Recorded bodies of Gemini, of AI Studio and Vertex alike, go both ways."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from aaa.messages import LLMRequest
from aaa.wire.gemini import ReplyStream, request_from_body, request_to_body, response_from_body
from tests.shared import data_folder, sample_step, wire_bodies

# Fields of a request that may be lost, with the reason: none.
IGNORED_IN_REQUESTS: dict[str, str] = {}

# What is at the top of a reply or its candidate, and in no message.
OUTPUT_ONLY = {
    "index": "of the candidates; we read the first",
    "finishReason": "finish_reason",
    "finishMessage": "says in words what finishReason says",
    "avgLogprobs": "tells of the reply, is not sent back",
}

NO_REPLY = {
    "gemini.count_tokens.00.json": "the reply is a count",
    "gemini.count_tokens.01.json": "the reply is a count",
    "vertex.count_tokens.00.json": "the reply is a count",
}


def exchanges() -> Iterator[tuple[str, dict[str, Any]]]:
    for api in ("generate", "generate-stream", "count_tokens", ""):
        for name, exchange in wire_bodies(api):
            if exchange["provider"] in ("gemini", "vertex", "google"):
                yield name, exchange


def request_bodies() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, exchange in exchanges():
        if body := exchange.get("request", {}).get("body"):
            yield name, body.get("generateContentRequest", body)
    with gzip.open(data_folder("wire") / "usage-pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            body = json.loads(line)["request"]
            if "contents" in body and number % sample_step(4) == 0:
                yield f"usage pair {number}", body


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def chunks_of(response: dict[str, Any]) -> list[dict[str, Any]]:
    """The chunks of a stream; [] if the reply came in one piece."""
    if isinstance(response.get("body"), list):
        return response["body"]
    if "chunks" in response:
        return [json.loads(chunk) for chunk in response["chunks"]]
    events = (line.removeprefix("data: ") for line in response.get("sse", "").splitlines() if line.startswith("data: "))
    return [json.loads(event) for event in events]


def content_of(reply) -> dict[str, Any]:
    [content] = request_to_body(LLMRequest((reply.message,)))["contents"]
    return content


def said(parts: list[dict[str, Any]], *, thought: bool) -> str:
    return "".join(part["text"] for part in parts if "text" in part and bool(part.get("thought")) == thought)


def test_recorded_requests_come_back_as_they_were():
    bodies = 0
    for name, body in request_bodies():
        request = request_from_body(body)
        written = request_to_body(request)
        kept = {key: value for key, value in body.items() if key not in IGNORED_IN_REQUESTS}
        assert as_json(written) == as_json(kept), name
        assert request_from_body(written) == request, name
        bodies += 1
    assert bodies > 30


def test_recorded_replies_come_back_as_they_were():
    replies = 0
    for name, exchange in exchanges():
        body = exchange["response"].get("body")
        if name in NO_REPLY or not isinstance(body, dict):
            continue
        candidate = body["candidates"][0]
        assert set(candidate) <= {"content", *OUTPUT_ONLY}, name
        reply = response_from_body(body)
        assert as_json(content_of(reply)) == as_json(candidate["content"]), name
        assert reply.model == body["modelVersion"], name
        assert reply.finish_reason == ("tool_calls" if reply.message.tool_calls else "stop"), name
        assert reply.usage.total_tokens == body["usageMetadata"]["totalTokenCount"], name
        replies += 1
    assert replies >= 18


def test_recorded_streams_are_read_whole():
    streams = 0
    for name, exchange in exchanges():
        if name in NO_REPLY or not (chunks := chunks_of(exchange["response"])):
            continue
        stream = ReplyStream()
        deltas = [delta for chunk in chunks for delta in stream.feed(chunk)]
        reply = stream.response()
        sent = [part for chunk in chunks for part in chunk["candidates"][0].get("content", {}).get("parts", ())]
        written = content_of(reply)["parts"]
        for thought, kind in ((False, "text"), (True, "thinking")):
            assert said(written, thought=thought) == said(sent, thought=thought), name
            assert "".join(delta.text for delta in deltas if delta.kind == kind) == said(sent, thought=thought), name
        signatures = [part["thoughtSignature"] for part in sent if "thoughtSignature" in part]
        assert [part["thoughtSignature"] for part in written if "thoughtSignature" in part] == signatures, name
        names = [part["functionCall"]["name"] for part in sent if part.get("functionCall", {}).get("name")]
        assert [call.name for call in reply.message.tool_calls] == names, name
        usages = [chunk["usageMetadata"] for chunk in chunks if "usageMetadata" in chunk]
        assert reply.usage.total_tokens == usages[-1]["totalTokenCount"], name
        streams += 1
    assert streams >= 15


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("no-args-tool-call", [{}, {"id": "A"}, {"id": "B"}, {"id": "C"}]),
        ("tool-call-arguments", [{"location": "Boston"}, {"location": "San Francisco"}]),
    ],
)
def test_arguments_that_stream_in_pieces_are_put_together(name, arguments):
    path = data_folder("wire") / f"fixture.google-stream-{name}-chunks.google.json"
    stream = ReplyStream()
    for chunk in chunks_of(json.loads(path.read_text(encoding="utf-8"))["response"]):
        stream.feed(chunk)
    assert [call.arguments for call in stream.response().message.tool_calls] == arguments


def test_a_call_that_is_never_ended_is_whole_when_the_reply_is():
    name = "fixture.google-stream-tool-call-array-arguments-missing-terminal-function-call-chunks.google.json"
    stream = ReplyStream()
    for chunk in chunks_of(json.loads((data_folder("wire") / name).read_text(encoding="utf-8"))["response"]):
        stream.feed(chunk)
    [call] = stream.response().message.tool_calls
    assert [operation["price"] for operation in call.arguments["operations"]] == [0.5, 0.3]
