"""The synchronous clients, against servers that refuse what their providers would refuse."""

import copy
import re

import pytest

import aaa.llm
import aimu
from aaa.errors import AaaError, BrokenReplyError, ClientSetupError, ContextOverflowError, RateLimitError
from aaa.tools import tool
from aimu.agents import Agent
from tests.llm.served import PROVIDERS, Served
from tests.servers.replies import Call, auth_error, calls, half_stream, not_json, rate_limit, server_error

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
BOTH = calls(Call("weather", {"city": "Oslo"}), Call("weather", {"city": "Rome"}), thinking="Ask both.")


@pytest.fixture(params=PROVIDERS.values(), ids=PROVIDERS)
def served(request: pytest.FixtureRequest) -> Served:
    return request.param


@tool
def weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: which
    """
    return f"{city}: fine"


def connected(served: Served, server, **settings):
    return aimu.client(served.name, **served.connection(server), **settings)


def test_a_chat_appends_what_was_said_and_keeps_the_system_message_first(served):
    with served.server(["Hello.", "Hello again."]) as server, connected(served, server, system="Be brief.") as client:
        assert client.chat("Hi.")["content"] == "Hello."
        client.chat("Hi again.")
        assert [message["role"] for message in client.messages] == ["system", "user", "assistant", "user", "assistant"]
        assert client.last_usage is not None
        assert client.last_usage.prompt_tokens > 0
        assert not server.refused


def test_a_conversation_with_calls_and_thinking_goes_back_as_it_came(served):
    with served.server([BOTH, "Fine.", "Still."]) as server, connected(served, server) as client:
        reply = client.chat("Oslo and Rome?", tools=[WEATHER])
        assert [call["function"]["name"] for call in reply["tool_calls"]] == ["weather", "weather"]
        client.messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": "fine"} for call in reply["tool_calls"]
        ]
        assert client.chat(tools=[WEATHER])["content"] == "Fine."
        assert client.chat("And now?", tools=[WEATHER])["content"] == "Still."
        assert not server.refused
        assert client.last_repairs == ()


def test_messages_of_a_copied_conversation_still_carry_the_thinking(served):
    with served.server([BOTH, "Fine."]) as server, connected(served, server) as client:
        reply = client.chat("Oslo and Rome?", tools=[WEATHER])
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "fine"} for call in reply["tool_calls"]]
        client.messages = copy.deepcopy(client.messages) + results
        assert client.chat(tools=[WEATHER])["content"] == "Fine."
        assert not server.refused


def test_a_stream_is_shown_and_kept(served):
    shown = []
    with served.server(["One two three four five six."]) as server, connected(served, server) as client:
        reply = client.chat("Count.", show=shown.append)
    assert "".join(delta.text for delta in shown if delta.kind == "text") == reply["content"]


def test_generate_leaves_the_conversation_alone(served):
    with served.server(["Four."]) as server, connected(served, server) as client:
        assert client.generate("2+2?") == "Four."
        assert client.messages == []


@pytest.mark.parametrize(
    ("fault", "expected"),
    [(rate_limit(), RateLimitError), (auth_error(), AaaError), (not_json(), BrokenReplyError)],
    ids=["rate limit", "key", "not json"],
)
def test_a_turn_that_fails_leaves_the_conversation_as_it_was(served, fault, expected):
    def script(body):
        return fault if len(server.requests) > 1 else "Hello."

    with served.server(script) as server, connected(served, server, system="Be brief.") as client:
        client.sdk = client.sdk.with_options(max_retries=0) if hasattr(client.sdk, "with_options") else client.sdk
        client.chat("Hi.")
        before = copy.deepcopy(client.messages)
        with pytest.raises(expected):
            client.chat("Hi again.")
        assert client.messages == before


def test_half_a_stream_leaves_the_conversation_as_it_was(served):
    with served.server([half_stream()]) as server, connected(served, server) as client:
        with pytest.raises(BrokenReplyError):
            client.chat("Hi.", show=lambda delta: None)
        assert client.messages == []


def test_an_overflow_is_caught_trimmed_and_run_again(served):
    with served.server(lambda body: "Done.", window=400) as server, connected(served, server) as client:
        agent = Agent(client, tools=[weather])
        client.messages = [
            {"role": role, "content": f"{number}: " + "word " * 50}
            for number in range(12)
            for role in ("user", "assistant")
        ]
        generous = {"context_length": 400, "truncate": False} if served.provider == "ollama" else {}
        client.generate_kwargs = generous
        with pytest.raises(ContextOverflowError) as raised:
            agent.run("What now?")
        assert raised.value.__cause__ is not None
        agent.model_client.messages = aimu.trim_messages(agent.model_client.messages, max_tokens=150)
        assert agent.run("What now?") == "Done."
        assert [message["content"] for message in client.messages].count("What now?") == 1


def test_context_length_sets_the_window_of_an_ollama_model():
    served = PROVIDERS["ollama"]
    with served.server(["Hi."]) as server:
        kwargs = {"context_length": 8192, "temperature": 0, "keep_alive": "5m"}
        with connected(served, server, generate_kwargs=kwargs) as client:
            client.chat("Hi.")
        assert server.requests[0]["options"] == {"num_ctx": 8192, "temperature": 0}
        assert server.requests[0]["keep_alive"] == "5m"


def test_an_sdk_client_of_ones_own_is_used(served):
    with served.server(["Hello."]) as server, connected(served, server) as client:
        with aimu.client(served.name, sdk=client.sdk) as other:
            assert other.chat("Hi.")["content"] == "Hello."
        assert len(server.requests) == 1


def test_an_asynchronous_sdk_client_is_refused_before_anything_is_sent(served):
    with served.server([]) as server:
        other = aaa.llm.client(served.name, **served.connection(server))
        with pytest.raises(ClientSetupError, match="must be a synchronous client"):
            aimu.client(served.name, sdk=other.sdk)


def test_headers_and_timeouts_of_a_call_are_no_parameters_of_a_model(served):
    kwargs = {"extra_headers": {"x-team": "blue"}, "timeout": 10.0}
    with served.server(["Hi."]) as server:
        with connected(served, server, generate_kwargs=kwargs) as client:
            client.chat("Hi.")
        assert server.headers[0]["x-team"] == "blue"


def test_a_message_that_is_none_is_refused_and_nothing_is_sent(served):
    with served.server([]) as server, connected(served, server) as client:
        client.messages = [{"content": "no role"}]
        with pytest.raises(AaaError, match="message 0"):
            client.chat("Hi.")
        assert server.requests == []


def test_a_broken_conversation_is_sent_as_a_valid_one_and_kept_as_it_is(served):
    orphan = {"role": "tool", "tool_call_id": "call_1", "content": "lost"}
    with served.server(["Hello."]) as server, connected(served, server) as client:
        client.messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, orphan]
        client.chat("Hi.")
        assert client.messages[2] is orphan
        assert client.last_repairs
        assert not server.refused


def test_a_server_error_is_tried_again_by_the_sdk():
    served = PROVIDERS["openai"]
    with served.server([server_error(), "Hello."]) as server, connected(served, server) as client:
        assert client.chat("Hi.")["content"] == "Hello."


def test_an_unknown_provider_is_named():
    with pytest.raises(ClientSetupError, match="unknown provider 'nobody'"):
        aimu.client("nobody:model")


@pytest.mark.parametrize("strict", [False, True])
def test_a_conversation_that_the_server_cuts_silently_is_noticed(strict, caplog):
    served = PROVIDERS["ollama"]
    with served.server(lambda body: "ok", window=1024) as server, connected(served, server, strict=strict) as client:
        client.chat("short")
        error = None
        for number in range(8):
            try:
                client.chat(f"{number} " + "word " * 200)
            except ContextOverflowError as raised:
                error = raised
                break
    assert server.dropped
    if strict:
        assert error is not None
        assert error.kind == "silent"
        assert client.messages[-1]["content"] == "ok"
    else:
        assert error is None
        assert "cut the conversation without a word" in caplog.text
        assert "word word" not in caplog.text


def test_mistral_gets_ids_as_it_wants_them():
    """Told by the address of a client of the SDK; one given by name does the same for a server of one's own."""
    served = PROVIDERS["openai"]
    with served.server([calls(Call("weather", {"city": "Oslo"})), "Fine."]) as server:
        with connected(served, server, dialect="mistral") as client:
            reply = client.chat("Oslo?", tools=[WEATHER])
            client.messages.append({"role": "tool", "tool_call_id": reply["tool_calls"][0]["id"], "content": "fine"})
            client.chat(tools=[WEATHER])
        sent = server.requests[1]["messages"]
        assert re.fullmatch("[a-zA-Z0-9]{9}", sent[-1]["tool_call_id"])
        assert sent[-1]["tool_call_id"] == sent[-2]["tool_calls"][0]["id"]
