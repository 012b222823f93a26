"""The Chat Completions server: the official SDK can talk to it, and it refuses what OpenAI refuses."""

import json
from typing import Any

import openai
import pytest

from tests.servers.asking import bounded, post
from tests.servers.openai_chat import OpenAIChatServer
from tests.servers.replies import (
    auth_error,
    calls,
    cut,
    empty,
    half_stream,
    not_json,
    overflow,
    rate_limit,
    refusal,
    server_error,
    stream_error,
    text,
)

PATH = "/v1/chat/completions"
ASK = [{"role": "user", "content": "hi"}]
MODEL = "gpt-4.1"
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "call_2"}]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "a lamp"}
SECOND = {**RESULT, "tool_call_id": "call_2"}


def client(server: OpenAIChatServer) -> Any:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.key, max_retries=0)


def plain(server: OpenAIChatServer, **body: Any) -> Any:
    with client(server) as sdk:
        return sdk.chat.completions.create(**body)


def streamed(server: OpenAIChatServer, **body: Any) -> list[Any]:
    with client(server) as sdk, sdk.chat.completions.create(stream=True, **body) as stream:
        return list(stream)


async def plain_async(server: OpenAIChatServer, **body: Any) -> Any:
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.key, max_retries=0) as sdk:
        return await sdk.chat.completions.create(**body)


async def streamed_async(server: OpenAIChatServer, **body: Any) -> list[Any]:
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.key, max_retries=0) as sdk:
        return [chunk async for chunk in await sdk.chat.completions.create(stream=True, **body)]


def said(chunks: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def refused(*messages: Any, settings: dict[str, Any] | None = None, **body: Any) -> Any:
    """The error for a conversation, as (status, message)."""
    with OpenAIChatServer(["fine"], **(settings or {})) as server:
        answer = post(server, PATH, {"model": MODEL, "messages": list(messages) or ASK, **body})
        return answer.status, answer.body.get("error", {}).get("message")


def test_a_reply_is_the_same_with_and_without_streaming_sync_and_async() -> None:
    with OpenAIChatServer(lambda _: text("Hello, friend.")) as server:
        body = {"model": MODEL, "messages": ASK}
        assert plain(server, **body).choices[0].message.content == "Hello, friend."
        assert said(streamed(server, **body)) == "Hello, friend."
        assert bounded(lambda: plain_async(server, **body)).choices[0].message.content == "Hello, friend."
        assert said(bounded(lambda: streamed_async(server, **body))) == "Hello, friend."
        assert [request["messages"] for request in server.requests] == [ASK] * 4
        assert server.refused == []


def test_parallel_calls_are_taken_back_with_their_results() -> None:
    script = [calls(("look", {"at": "lamp"}), ("look", {})), text("done")]
    with OpenAIChatServer(script) as server, client(server) as sdk:
        message = sdk.chat.completions.create(model=MODEL, messages=ASK, tools=[TOOL]).choices[0].message
        results = [{"role": "tool", "tool_call_id": call.id, "content": "ok"} for call in message.tool_calls]
        history = [*ASK, message.to_dict(), *results]
        assert (
            sdk.chat.completions.create(model=MODEL, messages=history, tools=[TOOL]).choices[0].finish_reason == "stop"
        )
        assert [call.function.arguments for call in message.tool_calls] == ['{"at": "lamp"}', "{}"]


def test_calls_are_streamed_in_pieces_by_index() -> None:
    with OpenAIChatServer([calls(("look", {"at": "lamp"}), ("go", {}), text="Let me see.")]) as server:
        chunks = streamed(server, model=MODEL, messages=ASK, tools=[TOOL])
        pieces = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
        written = ["".join(piece.function.arguments for piece in pieces if piece.index == index) for index in (0, 1)]
        assert written == ['{"at": "lamp"}', "{}"]
        assert [piece.function.name for piece in pieces if piece.id] == ["look", "go"]
        assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_a_stream_has_usage_only_when_asked_and_ends_with_done() -> None:
    with OpenAIChatServer(lambda _: text("Hello")) as server:
        bare = post(server, PATH, {"model": MODEL, "messages": ASK, "stream": True})
        full = post(
            server, PATH, {"model": MODEL, "messages": ASK, "stream": True, "stream_options": {"include_usage": True}}
        )
        assert "usage" not in bare.text
        assert full.text.endswith("data: [DONE]\n\n")
        last = json.loads(full.text.split("\n\n")[-3].removeprefix("data: "))
        assert last["choices"] == []
        assert last["usage"]["prompt_tokens"] == 7
        assert full.headers["content-type"].startswith("text/event-stream")


def test_the_cache_has_what_a_prompt_shares_with_an_earlier_one() -> None:
    with OpenAIChatServer(lambda _: text("ok")) as server:
        first = [{"role": "system", "content": "s" * 400}, *ASK]
        usages = [
            plain(server, model=MODEL, messages=messages).usage
            for messages in (
                first,
                [*first, {"role": "user", "content": "more"}],
                [{**first[0], "content": "other"}, *ASK],
            )
        ]
        cached = [usage.prompt_tokens_details.cached_tokens for usage in usages]
        assert cached[0] == 0
        assert cached[1] == usages[0].prompt_tokens
        assert 0 < cached[2] < 20


def test_thinking_is_only_counted_unless_the_server_shows_it() -> None:
    with OpenAIChatServer(lambda _: text("ok", thinking="t" * 80)) as server:
        reply = plain(server, model=MODEL, messages=ASK)
        assert reply.usage.completion_tokens_details.reasoning_tokens == 20
        assert reply.usage.completion_tokens == 21
    with OpenAIChatServer(lambda _: text("ok", thinking="so"), reasoning_field="reasoning_content") as server:
        assert plain(server, model=MODEL, messages=ASK).choices[0].message.reasoning_content == "so"


def test_replies_end_as_the_script_or_the_limit_says() -> None:
    script = [refusal("I cannot."), cut(calls(("look", {"at": "lamp"}))), empty(), "a long text " * 9]
    with OpenAIChatServer(script) as server:
        replies = [plain(server, model=MODEL, messages=ASK, max_completion_tokens=5).choices[0] for _ in range(4)]
        assert replies[0].message.refusal == "I cannot."
        assert (replies[1].finish_reason, replies[1].message.tool_calls[0].function.arguments) == ("length", '{"at": ')
        assert (replies[2].finish_reason, replies[2].message.content) == ("stop", "")
        assert (replies[3].finish_reason, len(replies[3].message.content)) == ("length", 20)


def test_faults_come_as_the_sdk_knows_them() -> None:
    faults = [rate_limit(2.5), server_error(), auth_error(), overflow()]
    kinds = [openai.RateLimitError, openai.InternalServerError, openai.AuthenticationError, openai.BadRequestError]
    with OpenAIChatServer(faults) as server:
        errors = []
        for kind in kinds:
            with pytest.raises(kind) as caught:
                plain(server, model=MODEL, messages=ASK)
            errors.append(caught.value)
        assert [error.status_code for error in errors] == [429, 500, 401, 400]
        assert errors[0].response.headers["retry-after-ms"] == "2500"
        assert errors[3].code == "context_length_exceeded"
        assert len(server.overflows) == 1


def test_a_stream_can_break_off_or_end_with_an_error_or_be_no_stream() -> None:
    with OpenAIChatServer([half_stream(), stream_error(), not_json()]) as server:
        with pytest.raises(openai.APIConnectionError):
            streamed(server, model=MODEL, messages=ASK)
        with pytest.raises(openai.APIError, match="had an error while processing"):
            streamed(server, model=MODEL, messages=ASK)
        assert post(server, PATH, {"model": MODEL, "messages": ASK}).text.startswith("<html>")


def test_an_overflow_names_the_numbers_in_the_form_that_fits_the_request() -> None:
    long = {"role": "user", "content": "x" * 4000}
    status, message = refused(long, settings={"window": 1000})
    assert (status, message) == (
        400,
        "This model's maximum context length is 1000 tokens. However, your messages resulted in 1007 tokens. Please "
        "reduce the length of the messages.",
    )
    _, message = refused(long, settings={"window": 1000}, max_tokens=50)
    assert message.endswith(
        "you requested 1057 tokens (1007 in the messages, 50 in the completion). Please reduce the length of the "
        "messages or completion."
    )
    _, message = refused(long, settings={"window": 1000}, max_tokens=50, tools=[TOOL])
    assert "(1007 in the messages, 23 in the functions, and 50 in the completion)" in message
    assert message.endswith("length of the messages, functions, or completion.")
    _, message = refused(long, settings={"window": 1000}, tools=[TOOL])
    assert message.endswith(
        "(1007 in the messages, 23 in the functions). Please reduce the length of the messages or functions."
    )
    _, message = refused(long, settings={"window": 1000}, model="gpt-5")
    assert message.startswith("Input tokens exceed the configured limit of 1000 tokens. Your messages resulted in 1007")


def test_the_key_the_model_and_the_size_are_checked_first() -> None:
    with OpenAIChatServer(["ok"], models=["gpt-5"], byte_limit=200) as server:
        body = {"model": MODEL, "messages": ASK}
        missing = post(server, PATH, body, authorization=None)
        wrong = post(server, PATH, body, authorization="Bearer no")
        unknown = post(server, PATH, body)
        large = post(server, PATH, {**body, "messages": [{"role": "user", "content": "x" * 200}]})
        assert [answer.status for answer in (missing, wrong, unknown, large)] == [401, 401, 404, 413]
        assert missing.body["error"]["message"].startswith("You didn't provide an API key.")
        assert wrong.body["error"]["code"] == "invalid_api_key"
        assert unknown.body["error"]["code"] == "model_not_found"
        assert len(server.requests) == 1


REFUSALS = [
    ([RESULT], "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
    ([*ASK, CALLED, RESULT], "The following tool_call_ids did not have response messages: call_2"),
    ([*ASK, CALLED, RESULT, *ASK, SECOND], "did not have response messages: call_2"),
    (
        [*ASK, CALLED, RESULT, SECOND, RESULT],
        "Duplicate value for 'tool_call_id' of 'call_1', in messages[2] and messages[4].",
    ),
    (
        [*ASK, CALLED, {**RESULT, "tool_call_id": "x"}],
        "'tool_call_id' of 'x' not found in 'tool_calls' of previous message.",
    ),
    ([{"role": "model", "content": "x"}], "Invalid value: 'model'. Supported values are: 'system', 'assistant',"),
    ([{"content": "x"}], "Missing required parameter: 'messages[0].role'."),
    ([{"role": "user", "content": None}], "Invalid value for 'content': expected a string, got null."),
    ([{"role": "assistant", "content": None}], "Invalid value for 'content': expected a string, got null."),
    ([{"role": "user", "content": []}], "Invalid 'messages[0].content': empty array."),
    ([{"role": "user", "content": [{"type": "tool_result"}]}], "Invalid value: 'tool_result'."),
    ([{"role": "user", "content": "x", "thinking": "y"}], "Unknown parameter: 'messages[0].thinking'."),
    ([*ASK, {"role": "assistant", "content": "x", "tool_calls": []}], "Invalid 'messages[1].tool_calls': empty array."),
    (
        [*ASK, {"role": "assistant", "tool_calls": [{**CALL, "id": "c" * 43}]}],
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a "
        "string with length 43 instead.",
    ),
    (
        [*ASK, {"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "a b", "arguments": "{}"}}]}],
        "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern.",
    ),
    (
        [*ASK, {"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "a", "arguments": {}}}]}],
        "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object",
    ),
    (
        [*ASK, CALLED, {**RESULT, "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}, SECOND],
        "Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an",
    ),
]


@pytest.mark.parametrize(("messages", "expected"), REFUSALS)
def test_a_conversation_is_refused_for_each_rule(messages: list[Any], expected: str) -> None:
    status, message = refused(*messages)
    assert status == 400
    assert expected in message


OPTIONS = [
    ({"messages": []}, "Invalid 'messages': empty array."),
    ({"stream_options": {"include_usage": True}}, "only allowed when 'stream' is enabled."),
    ({"tool_choice": "auto"}, "'tool_choice' is only allowed when 'tools' are specified."),
    ({"tools": []}, "Invalid 'tools': empty array."),
    (
        {"tools": [TOOL] * 129},
        "array too long. Expected an array with maximum length 128, but got an array with length 129",
    ),
    ({"tools": [{"type": "function", "function": {"name": "a.b"}}]}, "Invalid 'tools[0].function.name'"),
    ({"tools": [{"type": "function", "name": "look"}]}, "Unknown parameter: 'tools[0].name'."),
    (
        {"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "string"}}}]},
        "Invalid schema for function 'a': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"string\"'.",
    ),
    ({"model": "gpt-5", "max_tokens": 5}, "'max_tokens' is not supported with this model. Use 'max_completion_tokens'"),
    ({"model": "gpt-5", "temperature": 0}, "'temperature' does not support 0 with this model."),
    ({"max_tokens": 999}, "max_tokens is too large: 999. This model supports at most 100 completion tokens"),
]


@pytest.mark.parametrize(("body", "expected"), OPTIONS)
def test_options_are_refused_for_each_rule(body: dict[str, Any], expected: str) -> None:
    with OpenAIChatServer(["fine"], max_output=100) as server:
        answer = post(server, PATH, {"model": MODEL, "messages": ASK, **body})
        assert answer.status == 400
        assert expected in answer.body["error"]["message"]
        assert answer.body["error"]["type"] == "invalid_request_error"


def test_roles_may_come_in_any_order() -> None:
    system = {"role": "system", "content": "s"}
    assert refused({"role": "assistant", "content": "x"}, system, *ASK, *ASK, {**system, "role": "developer"})[0] == 200


def test_a_server_that_shows_its_reasoning_wants_it_back() -> None:
    settings = {"reasoning_field": "reasoning_content"}
    history = [*ASK, CALLED, RESULT, SECOND]
    missing = "Missing `reasoning_content` field in the assistant message at message index 1."
    assert refused(*history, settings=settings) == (400, missing)
    assert refused(*ASK, {**CALLED, "reasoning_content": ""}, RESULT, SECOND, settings=settings)[0] == 200
