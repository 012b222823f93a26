"""Every provider's client, against a server that refuses what the provider would refuse."""

import asyncio
import traceback

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
from aaa.messages import Delta, LLMRequest, LLMResponse, Message, ToolSpec
from tests.llm.served import PROVIDERS, Served
from tests.servers.replies import Call, auth_error, calls, half_stream, not_json, overloaded, rate_limit, stream_error

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
    if served.provider != "ollama":  # its SDK drops the headers
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
