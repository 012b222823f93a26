"""Every recorded body in OpenAI's chat format, of any provider: read, written, the same again.

No field is left out of the comparison: what was read is written as it was.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from aaa.errors import BrokenReplyError
from aaa.wire.openai_chat import (
    ReplyStream,
    error_in,
    message_to_dict,
    request_from_body,
    request_to_body,
    response_from_body,
)
from tests.shared import data_folder

# Not in one of OpenAI's formats, by the `api` of the exchange or, where it names none, by the provider.
SKIPPED = {
    "messages": "Anthropic's format",
    "count_tokens": "Anthropic's, Gemini's and Bedrock's counting",
    "converse": "Bedrock's format",
    "converse-stream": "Bedrock's format",
    "generate": "Gemini's format",
    "generate-stream": "Gemini's format",
    "v2-chat": "Cohere's format",
    "api-chat": "Ollama's own format",
    "amazon-bedrock": "Bedrock's format",
    "anthropic": "Anthropic's format",
    "cohere": "Cohere's format",
    "google": "Gemini's format",
}


def as_json(value: Any) -> str:
    """Equal JSON, told apart from merely equal values (1, 1.0 and True)."""
    return json.dumps(value, sort_keys=True)


def exchanges() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every recorded exchange as (file name, api, exchange)."""
    for path in sorted(data_folder("wire").glob("*.json")):
        exchange = json.loads(path.read_text(encoding="utf-8"))
        body = exchange["response"].get("body")
        is_chat = "choices" in (body if isinstance(body, Mapping) else {}) or any(
            "choices" in event for event in events_of(exchange["response"])
        )
        default = "chat" if is_chat else exchange["provider"]
        yield path.name, exchange.get("api") or default, exchange


def events_of(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of a recorded stream that are whole: some have their middle left out."""
    lines = [*(response.get("sse") or response.get("raw") or "").split("\n"), *(response.get("chunks") or ())]
    texts = [line.removeprefix("data:").strip() for line in lines]
    found: list[dict[str, Any]] = []
    for text in texts:
        try:
            found.append(json.loads(text))
        except ValueError:
            continue
    return found


def llama_server() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every answer of a real llama-server as (file name, path, exchange)."""
    for path in sorted(data_folder("wire").joinpath("llama-server").glob("*.json")):
        exchange = json.loads(path.read_text(encoding="utf-8"))
        yield path.name, exchange["request"]["path"], exchange


def chat_exchanges() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, api, exchange in exchanges():
        if api == "chat":
            yield name, exchange
    for name, path, exchange in llama_server():
        if path == "/v1/chat/completions":
            yield f"llama-server/{name}", exchange


def test_every_recorded_body_is_of_a_format_that_is_known():
    unknown = [name for name, api, _ in exchanges() if api not in SKIPPED and api != "chat" and "responses" not in api]
    assert unknown == []


def test_requests_are_written_as_they_were_read():
    read: Counter[str] = Counter()
    for name, exchange in chat_exchanges():
        body = exchange.get("request", {}).get("body")
        if not isinstance(body, Mapping) or isinstance(body.get("messages"), str):  # response only; a description
            continue
        assert as_json(request_to_body(request_from_body(body))) == as_json(body), name
        read[exchange.get("provider", "llama-server")] += 1
    assert sum(read.values()) > 90
    assert len(read) > 13


def test_replies_are_written_as_they_were_received():
    read = 0
    for name, exchange in chat_exchanges():
        body = exchange["response"].get("body") or {}
        if "choices" not in body:
            continue
        response = response_from_body(body)
        choice = body["choices"][0]
        assert as_json(message_to_dict(response.message)) == as_json(choice["message"]), name
        assert (response.model, response.finish_reason) == (body["model"], choice["finish_reason"]), name
        assert response.usage is not None, name
        read += 1
    assert read > 60


def test_an_error_in_place_of_a_reply_is_told_as_one():
    refused = 0
    for name, exchange in chat_exchanges():
        body = exchange["response"].get("body") or {}
        if "error" not in body:
            continue
        assert error_in(body) == body["error"], name
        with pytest.raises(BrokenReplyError) as caught:
            response_from_body(body)
        assert caught.value.status_code == body["error"]["code"]
        refused += 1
    assert refused > 5


def in_pieces(events: list[dict[str, Any]]) -> dict[str, Any]:
    """What the deltas of a stream are together, put together in the simplest way."""
    deltas = [choice["delta"] for event in events for choice in event.get("choices", ())]
    whole: defaultdict[str, str] = defaultdict(str)
    arguments: defaultdict[Any, str] = defaultdict(str)
    for delta in deltas:
        for key in ("reasoning", "reasoning_content"):
            whole[key] += delta.get(key) or ""
        content = delta.get("content") or ""
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            whole["content"] += part["text"] if part["type"] == "text" else ""
        for call in delta.get("tool_calls") or ():
            arguments[call.get("index", 0)] += call["function"]["arguments"]
    return {**whole, "arguments": list(arguments.values())}


def test_streams_are_read_whole_and_shown_piece_by_piece():
    read = thought = 0
    for name, exchange in chat_exchanges():
        events = events_of(exchange["response"])
        if not events or any("error" in event for event in events):
            continue
        stream = ReplyStream()
        deltas = [delta for event in events for delta in stream.feed(event)]
        response = stream.response()
        expected, written = in_pieces(events), message_to_dict(response.message)
        assert response.message.text == expected["content"], name
        assert [call.arguments_json for call in response.message.tool_calls] == expected["arguments"], name
        for key in ("reasoning", "reasoning_content"):
            assert (written.get(key) or "") == expected[key], name
        assert "".join(delta.text for delta in deltas if delta.kind == "text") == expected["content"], name
        shown: defaultdict[int, str] = defaultdict(str)
        for delta in deltas:
            if delta.kind == "arguments":
                shown[delta.index] += delta.text
        assert list(shown.values()) == [text for text in expected["arguments"] if text], name
        thought += any(delta.kind == "thinking" for delta in deltas)
        reports_usage = any(event.get("usage") or event.get("timings") for event in events)
        assert (response.usage is not None) == reports_usage, name
        read += 1
    assert read > 40
    assert thought > 10


def test_a_stream_that_ends_in_an_error_keeps_it():
    failed = 0
    for name, exchange in chat_exchanges():
        errors = [event["error"] for event in events_of(exchange["response"]) if "error" in event]
        if not errors:
            continue
        stream = ReplyStream()
        for event in events_of(exchange["response"]):
            stream.feed(event)
        assert stream.error == errors[0], name
        with pytest.raises(BrokenReplyError):
            stream.response()
        failed += 1
    assert failed == 1
