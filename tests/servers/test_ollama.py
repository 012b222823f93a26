"""The Ollama server: the official SDK can talk to it, it drops what Ollama drops, and says as little about it."""

import json
from typing import Any

import ollama
import pytest

from tests.servers.asking import bounded, post
from tests.servers.ollama import OllamaServer
from tests.servers.replies import (
    auth_error,
    calls,
    cut,
    half_stream,
    overflow,
    overloaded,
    rate_limit,
    stream_error,
    text,
)

PATH = "/api/chat"
MODEL = "llama3.1"
ASK = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
CALLED = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]}
RESULT = {"role": "tool", "tool_name": "look", "content": "a lamp"}
TOO_LONG = (
    "the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the "
    "context length in settings, or use a model with a longer context length"
)


def said(chunks: Any) -> str:
    return "".join(chunk.message.content or "" for chunk in chunks)


async def both_async(server: OllamaServer) -> tuple[str, str]:
    async with ollama.AsyncClient(host=server.url) as sdk:
        whole = await sdk.chat(MODEL, [ASK])
        stream = await sdk.chat(MODEL, [ASK], stream=True)
        return whole.message.content or "", said([chunk async for chunk in stream])


def test_a_reply_is_the_same_with_and_without_streaming_sync_and_async() -> None:
    with OllamaServer(lambda _: text("Hello, friend.")) as server, ollama.Client(host=server.url) as sdk:
        assert sdk.chat(MODEL, [ASK]).message.content == "Hello, friend."
        assert said(sdk.chat(MODEL, [ASK], stream=True)) == "Hello, friend."
        assert bounded(lambda: both_async(server)) == ("Hello, friend.", "Hello, friend.")


def test_a_chat_is_streamed_as_lines_unless_told_otherwise() -> None:
    with OllamaServer([calls(("look", {"at": "x"}), ("go", {}), text="Hm.", thinking="so")]) as server:
        given = post(server, PATH, {"model": MODEL, "messages": [ASK]})
        lines = [json.loads(line) for line in given.text.splitlines()]
        assert given.headers["content-type"] == "application/x-ndjson"
        assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
        assert lines[0]["message"]["thinking"] == "so"
        called = [call["function"]["name"] for line in lines for call in line["message"].get("tool_calls", ())]
        assert called == ["look", "go"]
        assert lines[-1]["prompt_eval_count"] == server.turns[0].prompt_tokens
        assert lines[-1]["eval_count"] == server.turns[0].output_tokens


def test_parallel_calls_are_taken_back_with_their_results() -> None:
    script = [calls(("look", {"at": "x"}), ("look", {})), text("done")]
    with OllamaServer(script) as server, ollama.Client(host=server.url) as sdk:
        message = sdk.chat(MODEL, [ASK], tools=[TOOL]).message
        assert [call.function.arguments for call in message.tool_calls] == [{"at": "x"}, {}]
        history = [ASK, message, RESULT, RESULT]
        assert sdk.chat(MODEL, history, tools=[TOOL]).message.content == "done"


def test_the_oldest_messages_are_dropped_and_only_the_count_shows_it() -> None:
    with OllamaServer(lambda _: text("ok"), window=100) as server, ollama.Client(host=server.url) as sdk:
        system = {"role": "system", "content": "s"}
        messages = [system, ASK, CALLED, RESULT, *[{**ASK, "content": "x" * 40}] * 5]
        reply = sdk.chat(MODEL, messages)
        assert server.seen[-1] == [system, *messages[-5:]]
        assert server.dropped == [3]
        assert reply.prompt_eval_count == server.turns[-1].prompt_tokens <= 100
        sdk.chat(MODEL, messages, options={"num_ctx": 4096})
        assert server.dropped == [3, 0]
        assert sdk.ps().models[0].context_length == 4096


def test_a_result_can_lose_its_call() -> None:
    with OllamaServer(["ok"], window=40) as server:
        body = {"model": MODEL, "messages": [ASK, CALLED, {**RESULT, "content": "x" * 60}], "stream": False}
        assert post(server, PATH, body).status == 200
        assert server.seen[-1] == [body["messages"][-1]]


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{**ASK, "content": "x" * 800}]},
        {"messages": [{"role": "system", "content": "x" * 800}, ASK]},
        {"messages": [ASK] * 50, "truncate": False},
    ],
)
def test_a_prompt_that_dropping_does_not_help_is_refused(body: dict[str, Any]) -> None:
    with OllamaServer([], window=100) as server:
        given = post(server, PATH, {"model": MODEL, **body})
        assert (given.status, given.body) == (400, {"error": TOO_LONG})
        assert (len(server.overflows), server.refused) == (1, [])


def test_an_image_counts_as_768_tokens() -> None:
    with OllamaServer(lambda _: text("ok")) as server, ollama.Client(host=server.url) as sdk:
        bare, shown = (sdk.chat(MODEL, [message]) for message in (ASK, {**ASK, "images": [b"png" * 5]}))
        assert 0 <= shown.prompt_eval_count - bare.prompt_eval_count - 768 < 8


def test_the_models_are_listed_shown_and_capped_by_what_they_were_trained_for() -> None:
    with (
        OllamaServer(["ok"], models=[MODEL], trained=2048) as server,
        ollama.Client(host=server.url) as sdk,
    ):
        assert [entry.model for entry in sdk.list().models] == [MODEL]
        assert sdk.show(MODEL).modelinfo["llama.context_length"] == 2048
        sdk.chat(f"{MODEL}:latest", [ASK], options={"num_ctx": 8192})
        assert sdk.ps().models[0].context_length == 2048
        with pytest.raises(ollama.ResponseError, match="model 'other' not found") as caught:
            sdk.chat("other", [ASK])
        assert caught.value.status_code == 404


def test_faults_come_as_the_sdk_knows_them() -> None:
    faults = [rate_limit(), overloaded(), auth_error(), overflow(), stream_error()]
    with OllamaServer(faults) as server, ollama.Client(host=server.url) as sdk:
        statuses = []
        for _ in faults[:4]:
            with pytest.raises(ollama.ResponseError) as caught:
                sdk.chat(MODEL, [ASK])
            statuses.append(caught.value.status_code)
        assert statuses == [429, 503, 401, 400]
        with pytest.raises(ollama.ResponseError, match="runner process has terminated"):
            list(sdk.chat(MODEL, [ASK], stream=True))


def test_a_stream_can_break_off() -> None:
    with (
        OllamaServer([half_stream()]) as server,
        ollama.Client(host=server.url) as sdk,
        pytest.raises(Exception, match="peer closed connection"),
    ):
        list(sdk.chat(MODEL, [ASK], stream=True))


def test_replies_end_for_their_own_reasons() -> None:
    with OllamaServer([cut("half"), "a long text " * 9]) as server, ollama.Client(host=server.url) as sdk:
        replies = [sdk.chat(MODEL, [ASK], options={"num_predict": 5}) for _ in range(2)]
        assert [reply.done_reason for reply in replies] == ["length", "length"]
        assert replies[1].eval_count == 5
        assert sdk.chat(MODEL, []).done_reason == "load"


REFUSALS = [
    ({"model": ""}, "model is required"),
    ({"messages": {}}, "json: cannot unmarshal object into Go struct field ChatRequest.messages of type []api.Message"),
    ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "ChatRequest.messages.content of type string"),
    (
        {"messages": [{"tool_calls": [{"function": {"name": "x", "arguments": "{}"}}]}]},
        "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of",
    ),
    ({"messages": [{"images": ["data:image/png;base64,x"]}]}, "illegal base64 data at input byte 0"),
    ({"tools": [TOOL]}, "registry.ollama.ai/library/llama3.1 does not support tools"),
    ({"think": True}, '"llama3.1" does not support thinking'),
]


@pytest.mark.parametrize(("body", "expected"), REFUSALS)
def test_a_body_is_refused_for_its_types_and_what_the_model_cannot_do(body: dict[str, Any], expected: str) -> None:
    with OllamaServer([], capabilities=["completion"]) as server:
        given = post(server, PATH, {"model": MODEL, "messages": [ASK], **body})
        assert given.status == 400
        assert expected in given.body["error"]


def test_orphans_and_unknown_roles_are_taken() -> None:
    with OllamaServer(["ok"]) as server:
        assert post(server, PATH, {"model": MODEL, "messages": [RESULT, {"role": "x", "content": "y"}]}).status == 200
