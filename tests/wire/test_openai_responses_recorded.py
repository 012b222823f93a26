"""Every recorded body in OpenAI's Responses format, of any provider: read, written, the same again.

No field is left out of the comparison: items go back as they were received, output-only fields among them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from aaa.errors import BrokenReplyError
from aaa.wire.openai_responses import (
    ReplyStream,
    items_from_messages,
    messages_from_items,
    request_from_body,
    request_to_body,
    response_from_body,
)
from tests.wire.test_openai_chat_recorded import as_json, events_of, exchanges, llama_server

# Streams that cannot be read to their end, and why.
CUT_STREAMS = {
    **{f"contextmgmt.{number}.openai.responses.json": "its middle was left out" for number in range(31, 35)},
    "fixture.parallel-tool-call-wrapper-1-chunks.openai.json": "its last event lacks a brace",
}
MOCKED = ("contextmgmt.13", "contextmgmt.14", "contextmgmt.15", "openai.responses.01", "openai.responses.06")


def responses_exchanges() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, api, exchange in exchanges():
        if api.startswith("responses"):
            yield name, api, exchange
    for name, path, exchange in llama_server():
        if path == "/v1/responses":
            yield f"llama-server/{name}", "responses", exchange


def test_requests_are_written_as_they_were_read():
    read: Counter[str] = Counter()
    for name, _, exchange in responses_exchanges():
        body = exchange.get("request", {}).get("body")
        if isinstance(body, Mapping):
            assert as_json(request_to_body(request_from_body(body))) == as_json(body), name
            read[exchange.get("provider", "llama-server")] += 1
    assert sum(read.values()) > 65
    assert set(read) == {"azure", "bedrock", "deepseek", "llama-server", "openai", "xai"}


def test_the_items_of_a_reply_go_back_as_they_were_received():
    read = 0
    for name, api, exchange in responses_exchanges():
        body = exchange["response"].get("body") or {}
        if api != "responses" or "output" not in body:
            continue
        response = response_from_body(body)
        assert as_json(items_from_messages([response.message])) == as_json(body["output"]), name
        assert response.model == body["model"], name
        calls = [item["call_id"] for item in body["output"] if item["type"] == "function_call"]
        assert [call.id for call in response.message.tool_calls] == calls, name
        if not name.startswith(MOCKED):
            assert response.finish_reason == ("tool_calls" if calls else "stop"), name
            assert response.usage is not None, name
        read += 1
    assert read > 40


def test_the_output_of_a_compaction_is_read_and_goes_into_the_next_request():
    read = 0
    for name, api, exchange in responses_exchanges():
        if api != "responses-compact":
            continue
        output = exchange["response"]["body"]["output"]
        messages = messages_from_items(output)
        assert [message.role for message in messages] == ["user"] * (len(output) - 1) + ["assistant"], name
        assert as_json(items_from_messages(messages)) == as_json(output), name
        read += 1
    assert read == 10


def test_streams_are_read_whole_and_shown_piece_by_piece():
    read = 0
    for name, _, exchange in responses_exchanges():
        events = events_of(exchange["response"])
        if not events or name in CUT_STREAMS:
            continue
        stream = ReplyStream()
        deltas = [delta for event in events for delta in stream.feed(event)]
        response = stream.response()
        whole = next(event["response"] for event in events if event["type"] == "response.completed")
        assert as_json(items_from_messages([response.message])) == as_json(whole["output"]), name
        assert response == response_from_body(whole), name
        assert "".join(delta.text for delta in deltas if delta.kind == "text") == response.message.text, name
        for index, call in enumerate(response.message.tool_calls):
            pieces = [delta.text for delta in deltas if delta.kind == "arguments" and delta.index == index]
            assert "".join(pieces) == call.arguments_json, name
        read += 1
    assert read == 8


def test_a_stream_without_its_last_event_is_a_broken_reply():
    for name, _, exchange in responses_exchanges():
        if name in CUT_STREAMS:
            stream = ReplyStream()
            for event in events_of(exchange["response"]):
                stream.feed(event)
            with pytest.raises(BrokenReplyError, match="before the response was complete"):
                stream.response()
