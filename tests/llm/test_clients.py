"""Every provider's client, against a server that refuses what the provider would refuse."""

import asyncio
import json
import traceback
from pathlib import Path
from typing import Any

import pytest

from aaa.errors import (
    AaaError,
    AuthenticationError,
    BrokenReplyError,
    ClientSetupError,
    ContextOverflowError,
    ProviderError,
    RateLimitError,
    ServerError,
    UnreachableError,
)
from aaa.llm import ModelClient, client
from aaa.llm.providers import Connection, provider_named
from aaa.llm.providers.dialects import HOSTS
from aaa.messages import Delta, LLMRequest, LLMResponse, Message, ToolSpec
from aaa.wire import gemini
from aaa.wire.rules import PROVIDERS as RULES
from tests.llm.served import PROVIDERS, Served
from tests.servers.replies import (
    Call,
    auth_error,
    calls,
    half_stream,
    not_json,
    overloaded,
    rate_limit,
    raw,
    stream_error,
)

WEATHER = ToolSpec("weather", "The weather of a city.", '{"type":"object","properties":{"city":{"type":"string"}}}')
BOTH = calls(
    Call("weather", {"city": "Oslo"}), Call("weather", {"city": "Rome"}), text="Two cities.", thinking="Ask both."
)


@pytest.fixture(params=PROVIDERS.values(), ids=PROVIDERS)
def served(request: pytest.FixtureRequest) -> Served:
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def is_streamed(request: pytest.FixtureRequest) -> bool:
    return request.param


async def ask(
    model: ModelClient, messages: list[Message], *, is_streamed: bool, shown: list[Delta] | None = None
) -> LLMResponse:
    request = LLMRequest(tuple(messages), (WEATHER,))
    if not is_streamed:
        return await model.complete(request)
    return await model.stream(request, (shown if shown is not None else []).append)


def conversation() -> list[Message]:
    return [Message("system", "Be brief."), Message("user", "What is the weather in Oslo and in Rome?")]


def asked_once(served: Served, script, *, is_streamed: bool, **settings) -> LLMResponse:
    """One question to a server with this script."""

    async def run() -> LLMResponse:
        with served.server(script, **settings) as server:
            async with client(served.name, **served.connection(server)) as model:
                return await ask(model, conversation(), is_streamed=is_streamed)

    return asyncio.run(run())


def test_a_conversation_with_parallel_calls_goes_on_to_its_answer(served, is_streamed):
    async def run():
        with served.server([BOTH, "Cold there, warm here.", "Bring a coat."]) as server:
            async with client(served.name, **served.connection(server)) as model:
                messages = conversation()
                first = await ask(model, messages, is_streamed=is_streamed)
                messages.append(first.message)
                for call in first.message.tool_calls:
                    messages.append(Message("tool", f"{call.arguments['city']}: fine", tool_call_id=call.id))
                second = await ask(model, messages, is_streamed=is_streamed)
                messages += [second.message, Message("user", "And tomorrow?")]
                third = await ask(model, messages, is_streamed=is_streamed)
            assert not server.refused
            return first, second, third

    first, second, third = asyncio.run(run())
    assert [(call.name, call.arguments) for call in first.message.tool_calls] == [
        ("weather", {"city": "Oslo"}),
        ("weather", {"city": "Rome"}),
    ]
    assert first.finish_reason == "tool_calls"
    assert (second.message.text, second.finish_reason) == ("Cold there, warm here.", "stop")
    assert third.message.text == "Bring a coat."
    for response in (first, second, third):
        assert response.usage is not None
        assert response.usage.prompt_tokens > 0
        assert response.usage.completion_tokens > 0


def test_a_stream_shows_the_reply_piece_by_piece(served):
    shown: list[Delta] = []

    async def run():
        with served.server(["One two three four five six seven eight."]) as server:
            async with client(served.name, **served.connection(server)) as model:
                return await ask(model, conversation(), is_streamed=True, shown=shown)

    response = asyncio.run(run())
    texts = [delta.text for delta in shown if delta.kind == "text"]
    assert "".join(texts) == response.message.text == "One two three four five six seven eight."
    assert len(texts) > 1


def test_a_streamed_reply_is_the_reply_that_is_not_streamed(served):
    whole, streamed = (asked_once(served, [BOTH], is_streamed=is_streamed).message for is_streamed in (False, True))
    assert whole.text == streamed.text
    assert [(call.name, call.arguments) for call in whole.tool_calls] == [
        (call.name, call.arguments) for call in streamed.tool_calls
    ]


def test_an_overflow_is_recognised_with_its_cause(served, is_streamed):
    with pytest.raises(ContextOverflowError) as raised:
        asked_once(served, ["too late"], is_streamed=is_streamed, window=5)
    is_event = is_streamed and served.provider == "openai-responses"  # no exception of the SDK, an event of the stream
    assert is_event or raised.value.__cause__ is not None
    if served.provider not in ("openai-responses", "ollama"):  # these give no numbers
        assert raised.value.limit == 5


def test_a_rate_limit_is_one_and_says_when_to_come_back(served, is_streamed):
    with pytest.raises(RateLimitError) as raised:
        asked_once(served, [rate_limit(7.0)], is_streamed=is_streamed)
    error = raised.value
    assert error.is_transient
    assert error.status_code == 429
    assert error.__cause__ is not None
    assert error.retry_after == 7.0


@pytest.mark.parametrize(
    ("fault", "expected"),
    [(overloaded(), ServerError), (auth_error(), AuthenticationError), (not_json(), BrokenReplyError)],
    ids=["overloaded", "key", "not json"],
)
def test_other_failures_are_what_they_are(served, is_streamed, fault, expected):
    with pytest.raises(expected) as raised:
        asked_once(served, [fault], is_streamed=is_streamed)
    assert raised.value.__cause__ is not None or expected is BrokenReplyError


def test_half_a_stream_is_no_reply(served):
    with pytest.raises(BrokenReplyError):
        asked_once(served, [half_stream()], is_streamed=True)


def test_an_error_within_a_stream_is_that_error(served):
    with pytest.raises(ProviderError) as raised:
        asked_once(served, [stream_error()], is_streamed=True)
    assert not isinstance(raised.value, BrokenReplyError)


def test_a_server_that_is_not_there_is_unreachable(served, is_streamed):
    with served.server([]) as server:
        connection = served.connection(server)

    async def run():
        async with client(served.name, **connection) as model:
            await ask(model, conversation(), is_streamed=is_streamed)

    with pytest.raises(UnreachableError):
        asyncio.run(run())


def test_no_error_tells_the_key_or_the_conversation(served):
    for fault in (rate_limit(), overloaded(), auth_error(), not_json()):
        with pytest.raises(AaaError) as raised:
            asked_once(served, [fault], is_streamed=False, key="sk-very-secret-key-123456")
        said = "".join(traceback.format_exception_only(raised.value))
        assert "very-secret" not in said
        assert "Oslo" not in said


def test_half_a_character_is_sent_as_text(served):
    async def run():
        with served.server(["ok"]) as server:
            async with client(served.name, **served.connection(server)) as model:
                await model.complete(LLMRequest((Message("user", "half \ud83d a face"),)))
            return server.requests[0]

    assert "\\ud83d a face" in str(asyncio.run(run()))


@pytest.mark.parametrize("name", ["", "gpt-5", "openai:", ":gpt-5", "nobody:gpt-5"])
def test_a_malformed_model_string_is_explained(name):
    with pytest.raises(ClientSetupError, match="provider"):
        client(name)


@pytest.mark.parametrize("base_url", ["localhost:8000", "http://", "ftp://host", "http://host:99999", "nothing"])
@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "gemini"])
def test_an_address_that_is_none_is_explained(provider, base_url):
    with pytest.raises(ClientSetupError, match="base_url"):
        client(f"{provider}:some-model", base_url=base_url)


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "gemini"])
def test_a_missing_key_is_named(provider, monkeypatch):
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ClientSetupError, match="API_KEY"):
        client(f"{provider}:some-model")


@pytest.mark.parametrize(
    ("provider", "extra"),
    [("openai", "openai"), ("anthropic", "anthropic"), ("gemini", "gemini"), ("ollama", "ollama"), ("hf", "hf")],
)
def test_a_missing_package_names_its_extra(provider, extra, monkeypatch):
    for module in ("openai", "anthropic", "google.genai", "ollama", "transformers"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(ClientSetupError, match=rf"aaa-agents\[{extra}\]"):
        client(f"{provider}:some-model", api_key="k")


def _synchronous(served: Served, server):
    """A client of the provider's SDK, as a user would make one."""
    settings = served.connection(server)
    names = ("api_key", "base_url", "timeout_seconds")
    connection = Connection(model=served.model, is_async=False, **{name: settings[name] for name in names})
    return provider_named(served.provider).connect(connection)


def test_a_synchronous_sdk_client_is_refused_before_anything_is_sent(served):
    with served.server([]) as server:
        if served.provider == "gemini":  # one client has both sides
            assert client(served.name, sdk=_synchronous(served, server)).sdk is not None
        else:
            with pytest.raises(ClientSetupError, match="must be an asynchronous client"):
                client(served.name, sdk=_synchronous(served, server))


def test_a_client_of_another_sdk_is_refused_by_name(served):
    with pytest.raises(ClientSetupError, match=r"got \w+Path"):
        client(served.name, sdk=Path())


def test_how_a_call_is_made_is_no_part_of_its_body(served, is_streamed):
    params = {"extra_headers": {"x-team": "blue"}, "timeout": 10.0}

    async def run():
        with served.server(["ok"]) as server:
            async with client(served.name, params=params, **served.connection(server)) as model:
                await ask(model, conversation(), is_streamed=is_streamed)
            return server.headers[0], server.requests[0]

    headers, body = asyncio.run(run())
    assert headers["x-team"] == "blue"
    assert not {"extra_headers", "timeout"} & set(body)


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "ollama"])
def test_whether_to_stream_is_for_the_caller_to_say(provider, is_streamed):
    async def run():
        served = PROVIDERS[provider]
        with served.server(["ok"]) as server:
            async with client(served.name, params={"stream": not is_streamed}, **served.connection(server)) as model:
                return await ask(model, conversation(), is_streamed=is_streamed)

    assert asyncio.run(run()).message.text == "ok"


def event(fields: dict[str, Any]) -> str:
    name = f"event: {fields['type']}\n" if "type" in fields else ""
    return f"{name}data: {json.dumps(fields)}\n\n"


def answered(provider: str, body: str, *, is_streamed: bool) -> LLMResponse:
    """The reply of a client whose server answers exactly this."""
    content_type = "text/event-stream" if is_streamed else "application/json"
    answer = raw(200, body, content_type=content_type)
    return asked_once(PROVIDERS[provider], [answer], is_streamed=is_streamed)


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        ("overloaded_error", "Overloaded", ServerError),
        ("invalid_request_error", "prompt is too long: 300 tokens > 200 maximum", ContextOverflowError),
        ("rate_limit_error", "This request would exceed your rate limit", RateLimitError),
    ],
)
def test_an_error_event_in_a_stream_of_anthropic_is_read(kind, said, expected):
    """Its SDK raises it with the stream's status, 200, whose body cannot be read any more."""
    body = event({"type": "error", "error": {"type": kind, "message": said}})
    with pytest.raises(expected) as raised:
        answered("anthropic", body, is_streamed=True)
    assert raised.value.__cause__ is not None


GEMINI_PARTS = [
    {"text": "hi", "thoughtSignature": "ab-_"},
    {"brandNew": {"k": 1.0}},
    {"functionCall": {"name": "f", "args": {}, "later": 2}, "thoughtSignature": "no base64"},
]


def test_what_the_sdk_of_gemini_does_not_know_comes_through_either_way():
    reply = {"candidates": [{"content": {"role": "model", "parts": GEMINI_PARTS}, "finishReason": "STOP"}]}
    whole = answered("gemini", json.dumps(reply), is_streamed=False)
    streamed = answered("gemini", event(reply), is_streamed=True)
    assert whole.message == streamed.message
    body = gemini.request_to_body(LLMRequest((Message("user", "go"), whole.message), (), "gemini-3-pro-preview"))
    assert body["contents"][-1]["parts"] == GEMINI_PARTS


@pytest.mark.filterwarnings("error")
def test_a_block_the_sdk_does_not_know_is_read_without_its_warnings():
    """They quote the reply."""
    blocks = [{"type": "brand_new", "data": {"k": 1.0}}, {"type": "text", "text": "hi"}]
    reply = {"type": "message", "role": "assistant", "content": blocks, "stop_reason": "end_turn"}
    assert answered("anthropic", json.dumps(reply), is_streamed=False).message.text == "hi"


@pytest.mark.parametrize("body", ["[]", "null", "3", '"text"'])
def test_json_that_is_no_object_is_no_reply(served, is_streamed, body):
    frame = body + "\n" if served.provider == "ollama" else f"data: {body}\n\n"
    with pytest.raises(BrokenReplyError):
        answered(served.provider, frame if is_streamed else body, is_streamed=is_streamed)


@pytest.mark.parametrize(
    ("name", "base_url", "dialect"),
    [
        ("openai:mistral-large-latest", "https://api.mistral.ai/v1", "mistral"),
        ("openai:deepseek-reasoner", "https://api.deepseek.com", "deepseek"),
        ("openai:anthropic/claude-opus-4.6", "https://openrouter.ai/api/v1", "openrouter"),
        ("openai:gpt-5", "https://api.openai.com/v1", "openai-chat"),
        ("openai:qwen3", "http://127.0.0.1:8000/v1", "openai-chat"),
        ("openai-responses:gpt-5", "https://api.openai.com/v1", "openai-responses"),
    ],
)
def test_the_rules_are_those_of_the_server_behind_the_address(name, base_url, dialect):
    assert client(name, base_url=base_url, api_key="k").dialect == dialect
    assert dialect in RULES


def test_the_rules_of_a_server_of_ones_own_can_be_named():
    assert client("openai:qwen3", base_url="http://127.0.0.1:8000/v1", dialect="vllm").dialect == "vllm"


def test_every_known_server_has_rules():
    assert set(HOSTS.values()) <= set(RULES)
