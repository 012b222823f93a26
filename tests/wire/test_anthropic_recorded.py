"""Recorded bodies of Anthropic's API go both ways."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from aaa.errors import BrokenReplyError
from aaa.messages import LLMRequest, Message
from aaa.wire.anthropic import ReplyStream, request_from_body, request_to_body, response_from_body
from tests.shared import data_folder, sample_step, wire_bodies

# Fields of a request that may be lost, with the reason: none.
IGNORED_IN_REQUESTS: dict[str, str] = {}
# Fields of a reply's blocks that are not handed back, with the reason: none; the API takes all of them.
IGNORED_IN_BLOCKS: dict[str, str] = {}

# What has "anthropic" in its name and is not read here.
SKIPPED = {
    "fixture.anthropic-fallback-tool-call-sse.openai-compatible.json": "OpenAI's chat format",
}
NO_REPLY = {
    "anthropic.count_tokens.00.json": "the reply is a count",
    "anthropic.count_tokens.01.json": "the reply is a count",
    "contextmgmt.08.anthropic.messages.json": "the recorded stream is shortened in its middle",
}


def exchanges() -> Iterator[tuple[str, dict[str, Any]]]:
    for api in ("messages", "count_tokens", ""):
        for name, exchange in wire_bodies(api):
            if exchange["provider"] == "anthropic":
                yield name, exchange


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def without(fields: Any, ignored: dict[str, str]) -> Any:
    return {key: value for key, value in fields.items() if key not in ignored}


def without_nulls(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The SDK sets a compaction's `encrypted_content` to null where the stream had none."""
    return [{key: value for key, value in block.items() if value is not None} for block in blocks]


def assert_goes_both_ways(name: str, body: dict[str, Any]) -> None:
    request = request_from_body(body)
    written = request_to_body(request)
    assert as_json(without(written, IGNORED_IN_REQUESTS)) == as_json(without(body, IGNORED_IN_REQUESTS)), name
    assert request_from_body(written) == request, name


def events_of(response: dict[str, Any]) -> list[dict[str, Any]]:
    if "chunks" in response:
        return [json.loads(chunk) for chunk in response["chunks"]]
    lines = response.get("sse", "").splitlines()
    return [json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data:")]


def streamed(events: list[dict[str, Any]]) -> ReplyStream:
    stream = ReplyStream()
    for event in events:
        stream.feed(event)
    return stream


def handed_back(message: Message) -> Any:
    """The content of the assistant's message in the next request."""
    turns = request_to_body(LLMRequest((message,)))["messages"]
    assert [turn["role"] for turn in turns] == ["assistant"]
    return [without(block, IGNORED_IN_BLOCKS) for block in turns[0]["content"]]


def test_every_recorded_request_is_read_and_written_the_same():
    names = []
    for name, exchange in exchanges():
        if "request" in exchange:
            assert_goes_both_ways(name, exchange["request"]["body"])
            names.append(name)
    assert len(names) >= 38


def test_every_request_recorded_with_its_usage_is_read_and_written_the_same():
    with gzip.open(data_folder("wire") / "usage-pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        pairs = [line for line in lines if '"api": "messages"' in line or '"api":"messages"' in line]
    taken = pairs[:: sample_step(4)]
    for line in taken:
        pair = json.loads(line)
        assert_goes_both_ways(pair["id"], pair["request"])
    assert len(taken) >= 80


def test_every_recorded_reply_is_handed_back_as_it_came():
    names = []
    for name, exchange in exchanges():
        body = exchange["response"].get("body", {})
        if name not in NO_REPLY and "content" in body:
            response = response_from_body(body)
            content = [without(block, IGNORED_IN_BLOCKS) for block in body["content"]]
            assert as_json(handed_back(response.message)) == as_json(content), name
            assert response.model == body["model"]
            assert response.usage
            names.append(name)
    assert len(names) >= 34


def test_every_recorded_stream_gives_the_reply_that_the_sdk_puts_together():
    names = []
    for name, exchange in exchanges():
        if name not in NO_REPLY and (events := events_of(exchange["response"])):
            response, body = streamed(events).response(), sdk_reply(events)
            expected = response_from_body(body)
            assert as_json(handed_back(response.message)) == as_json(without_nulls(body["content"])), name
            assert response.message.tool_calls == expected.message.tool_calls, name
            assert response.message.texts == expected.message.texts, name
            assert (response.usage, response.model) == (expected.usage, expected.model), name
            assert response.finish_reason == expected.finish_reason, name
            names.append(name)
    assert len(names) >= 11


def test_what_a_recorded_stream_shows_is_what_it_says_in_the_end():
    for name, exchange in exchanges():
        if name not in NO_REPLY and (events := events_of(exchange["response"])):
            stream = ReplyStream()
            deltas = [delta for event in events for delta in stream.feed(event)]
            message = stream.response().message
            assert "".join(delta.text for delta in deltas if delta.kind == "text") == message.text, name
            for index, call in enumerate(message.tool_calls):
                shown = "".join(delta.text for delta in deltas if delta.kind == "arguments" and delta.index == index)
                assert json.loads(shown or "{}") == call.arguments, name


def test_a_recorded_stream_that_is_cut_anywhere_is_a_broken_reply():
    _, exchange = next((name, one) for name, one in exchanges() if "sse" in one["response"] and name not in NO_REPLY)
    events = events_of(exchange["response"])
    for end in range(len(events)):
        with pytest.raises(BrokenReplyError):
            streamed(events[:end]).response()


def test_every_recorded_body_is_read_or_said_to_be_skipped():
    read = {name for name, _ in exchanges()}
    named = {path.name for path in data_folder("wire").glob("*anthropic*.json")}
    assert named - read == set(SKIPPED)


def sdk_reply(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The reply as Anthropic's own SDK accumulates it."""
    pytest.importorskip("anthropic")
    import httpx2
    from anthropic.lib.streaming._beta_messages import accumulate_event

    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for event in events:
        if event["type"] not in ("ping", "message_stop"):
            snapshot = accumulate_event(
                event=event,  # pyright: ignore[reportArgumentType] - the function takes plain events too
                current_snapshot=snapshot,
                json_bufs=buffers,
                request_headers=httpx2.Headers(),
            )
    return snapshot.to_dict(mode="json")
