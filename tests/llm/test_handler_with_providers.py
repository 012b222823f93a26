"""The handler with clients of providers: what is sent is valid, what is shown is live, what is cut is noticed."""

import logging
from itertools import pairwise

import pytest

from aaa.algos import ToolLoop
from aaa.context import ContextPolicy
from aaa.errors import ContextOverflowError, EffectError
from aaa.llm import FakeLLMClient, LLMHandler, client
from aaa.llm.fake import text
from aaa.messages import LLMRequest, LLMResponse, Message, ToolCall, Usage
from aaa.runtime import Engine
from aaa.runtime.prompts import prompt_at
from aaa.tools import ToolHandler, ToolRegistry, tool
from aaa.wire import anthropic
from tests.llm.making import Recorder
from tests.llm.served import PROVIDERS
from tests.llm.test_handler import long_talk
from tests.runtime.making import Given, bounded
from tests.servers.anthropic import AnthropicServer
from tests.servers.replies import Call, calls


@pytest.fixture(params=PROVIDERS.values(), ids=PROVIDERS)
def served(request):
    return request.param


@tool
def read(page: int) -> str:
    """Read a page of a long book.

    Args:
        page: its number
    """
    return f"page {page} " + "lorem ipsum " * 60


def turn(body) -> object:
    """Read pages until twelve are read; the number of results is not what the compacted prompt shows."""
    turn.count += 1
    if turn.count > 12:
        return "All read."
    return calls(Call("read", {"page": turn.count}), Call("read", {"page": 100 + turn.count}), thinking="On.")


def test_an_agent_runs_past_its_window_at_every_provider_and_is_never_refused(served):
    turn.count = 0

    async def scenario():
        with served.server(turn, window=6_000) as server:
            registry = ToolRegistry([read])
            async with client(served.name, **served.connection(server)) as model, Engine() as engine:
                policy = ContextPolicy(3_000, reserve_output=500, sticky=True)
                LLMHandler(model, context=policy).attach(engine)
                ToolHandler(registry).attach(engine)
                loop = ToolLoop(registry, max_turns=30, system="You read books.")
                outcome = await engine.run(loop, {"task": "Read it all."}, run_id="r")
                log = await engine.store.read("r")
            assert outcome.status == "done", outcome
            assert outcome.value == {"text": "All read."}
            assert [refused.message for refused in server.refused] == []
            assert len(server.requests) == 13
            compacted = [event for event in log if event.data.get("context")]
            assert compacted
            return log

    bounded(scenario())


def test_every_prompt_of_a_log_is_what_was_sent():
    """Also where the conversation had to be made valid."""

    async def scenario():
        fake = FakeLLMClient(lambda _: text("ok"))
        fake.dialect = "anthropic"
        broken = [
            Message("assistant", "hello"),
            Message("user", "go"),
            Message("assistant", None, (ToolCall("a b", "look"), ToolCall("c", "look"))),
            Message("tool", "seen", tool_call_id="a b"),
            Message("user", "and?"),
        ]

        async def twice(run, input):
            for extra in ([], [Message("assistant", "ok"), Message("user", "x " * 4_000), Message("user", "more")]):
                await run.llm([*broken, *extra])

        for policy in (None, ContextPolicy(1_500, reserve_output=0, sticky=True)):
            fake.requests.clear()
            async with Engine() as engine:
                LLMHandler(fake, context=policy).attach(engine)
                await engine.run(Given(twice), None, run_id="r")
                log = await engine.store.read("r")
            for number, request in enumerate(fake.requests, 1):
                assert prompt_at(log, number) == list(request.messages)
                assert request.messages[0].role == "user"
            completed = next(event.data for event in log if event.type == "aaa.llm.completed")
            repairs = completed["repairs"] if policy is None else completed["context"]["repairs"]
            assert {repair["action"] for repair in repairs} >= {"added", "changed"}

    bounded(scenario())


@pytest.mark.parametrize("is_live", [True, False])
def test_pieces_of_a_reply_reach_whoever_watches_and_no_log(is_live):
    async def scenario():
        fake = FakeLLMClient([text("one two three")])

        async def once(run, input):
            return (await run.llm([Message("user", "count")])).message.text

        async with Engine() as engine:
            LLMHandler(fake).attach(engine)
            handle = await engine.start(Given(once), None, run_id="r")
            seen = [event async for event in handle.events(live=is_live)]
            assert (await handle.result()).value == "one two three"
            log = await engine.store.read("r")
        pieces = [event for event in seen if event.type == "aaa.llm.delta"]
        assert "".join(event.data["text"] for event in pieces) == ("one two three" if is_live else "")
        assert all(event.seq == 0 for event in pieces)
        assert [event for event in seen if event.seq] == log
        if is_live:
            types = [event.type for event in seen]
            assert types.index("aaa.llm.delta") < types.index("aaa.llm.completed")

    bounded(scenario())


def test_a_watcher_that_leaves_changes_nothing():
    async def scenario():
        fake = FakeLLMClient([text("one two three"), text("four")])

        async def twice(run, input):
            await run.llm([Message("user", "count")])
            return (await run.llm([Message("user", "more")])).message.text

        async with Engine() as engine:
            LLMHandler(fake).attach(engine)
            handle = await engine.start(Given(twice), None, run_id="r")
            async for _ in handle.events(live=True):
                break
            assert (await handle.result()).value == "four"

    bounded(scenario())


def test_a_provider_that_is_watched_streams(served):
    async def scenario():
        with served.server(["one two three four"]) as server:

            async def once(run, input):
                return (await run.llm([Message("user", "count")])).message.text

            async with client(served.name, **served.connection(server)) as model, Engine() as engine:
                LLMHandler(model).attach(engine)
                handle = await engine.start(Given(once), None, run_id="r")
                seen = [event async for event in handle.events(live=True)]
                assert (await handle.result()).value == "one two three four"
            pieces = [event.data["text"] for event in seen if event.type == "aaa.llm.delta"]
            assert "".join(pieces) == "one two three four"

    bounded(scenario())


class Truncating:
    """A server of a window of 2,048 tokens that cuts the front of what is longer, and says nothing."""

    def __init__(self):
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        size = sum(len(message.text) for message in request.messages) // 4
        return LLMResponse(Message("assistant", "ok"), Usage(min(size, 2_051), 5))


async def _growing(run, input):
    messages = [Message("user", "the task")]
    for number in range(12):
        messages.append(Message("user", f"{number} " + "word " * 500))
        messages.append((await run.llm(messages)).message)
    return "done"


async def _grow(policy, *, strict=False):
    model = Truncating()
    async with Engine() as engine:
        LLMHandler(model, context=policy, strict=strict).attach(engine)
        outcome = await engine.run(Given(_growing), None, run_id="r")
        return model, outcome, await engine.store.read("r")


def test_a_silent_cut_is_warned_of_and_teaches_the_window(caplog):
    caplog.set_level(logging.WARNING, "aaa.llm")
    model, outcome, log = bounded(_grow(ContextPolicy(32_000, reserve_output=500)))
    assert outcome.status == "done"
    learned = [event.data for event in log if event.type == "aaa.context.learned"]
    assert learned
    assert learned[0]["kind"] == "silent"
    assert learned[0]["window_tokens"] == 2_051
    assert "cut silently" in caplog.text
    sizes = [sum(len(message.text) for message in request.messages) // 4 for request in model.requests]
    assert sizes[-1] <= 2_051 < max(sizes)


def test_a_strict_handler_makes_it_an_error():
    _, outcome, log = bounded(_grow(ContextPolicy(32_000, reserve_output=500), strict=True))
    assert outcome.status == "failed"
    failed = next(event.data for event in log if event.type == "aaa.llm.failed")
    assert failed["error"]["type"] == "ContextOverflowError"
    assert failed["usage"]["prompt_tokens"] == 2_051


def test_the_window_that_a_refusal_tells_of_holds_from_then_on():
    async def scenario():
        limit = 2_000

        def refuses(request):
            size = sum(len(message.text) for message in request.messages) // 3
            return ContextOverflowError(limit=limit, requested=size) if size > limit else None

        async def talk(run, input):
            messages = long_talk()
            for number in range(4):
                messages.append((await run.llm(messages)).message)
                messages.append(Message("user", f"and {number}? " + "more " * 300))

        model = Recorder(fail=refuses)
        async with Engine() as engine:
            LLMHandler(FakeLLMClient(model), context=ContextPolicy(9_000, reserve_output=200)).attach(engine)
            outcome = await engine.run(Given(talk), None, run_id="r")
            log = await engine.store.read("r")
        assert outcome.status == "done", outcome
        assert [event.data["window_tokens"] for event in log if event.type == "aaa.context.learned"] == [limit]
        retried = [event.seq for event in log if event.type == "aaa.llm.retried"]
        assert len(retried) == 1
        return log

    log = bounded(scenario())
    assert all(earlier.seq < later.seq for earlier, later in pairwise(log))


def test_a_failed_call_of_a_provider_is_an_effect_error(served):
    async def scenario():
        with served.server([]) as server:
            connection = served.connection(server)

        async def once(run, input):
            try:
                await run.llm([Message("user", "hi")])
            except EffectError as error:
                return error.kind

        async def sleep(seconds):
            return None

        async with client(served.name, **connection) as model, Engine() as engine:
            LLMHandler(model, sleep=sleep).attach(engine)
            assert (await engine.run(Given(once), None)).value == "UnreachableError"

    bounded(scenario())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDK's, of an older model
@pytest.mark.parametrize(
    ("model", "thinking", "is_bound"),
    [
        ("claude-opus-4-5", {"type": "enabled", "budget_tokens": 8_000}, False),
        ("claude-opus-5-5", {"type": "adaptive"}, True),
    ],
)
def test_model_and_parameters_of_the_client_decide_what_becomes_of_thinking(model, thinking, is_bound):
    """The request of a run names neither: older models want their thinking back, newer ones do not after an edit."""
    turn.count = 0

    async def scenario():
        with AnthropicServer(turn, binds_thinking=is_bound) as server:
            registry = ToolRegistry([read])
            connection = {"base_url": server.url, "api_key": server.key, "params": {"thinking": thinking}}
            async with client(f"anthropic:{model}", **connection) as sdk, Engine() as engine:
                policy = ContextPolicy(3_000, reserve_output=500, sticky=True)
                LLMHandler(sdk, context=policy).attach(engine)
                ToolHandler(registry).attach(engine)
                outcome = await engine.run(ToolLoop(registry, max_turns=30), {"task": "Read it all."}, run_id="r")
                log = await engine.store.read("r")
            assert outcome.value == {"text": "All read."}, outcome
            assert [refused.message for refused in server.refused] == []
            assert any(event.data.get("context") for event in log)
            for number, body in enumerate(server.requests, 1):
                sent = anthropic.request_to_body(LLMRequest(tuple(prompt_at(log, number)), (), model))
                assert sent["messages"] == body["messages"]

    bounded(scenario())


def test_no_parameter_of_a_client_but_what_decides_rules_is_in_a_log():
    async def scenario():
        fake = FakeLLMClient([text("ok")])
        fake.dialect = "anthropic"
        fake.params = {"extra_headers": {"authorization": "Bearer secret"}, "thinking": {"type": "adaptive"}}

        async def once(run, input):
            await run.llm([Message("assistant", "hello"), Message("user", "go")])

        async with Engine() as engine:
            LLMHandler(fake, context=ContextPolicy(9_000)).attach(engine)
            await engine.run(Given(once), None, run_id="r")
            return await engine.store.read("r")

    log = bounded(scenario())
    asked = next(event.data["asked"] for event in log if event.data.get("asked"))
    assert asked["params"] == {"thinking": {"type": "adaptive"}}
    assert "secret" not in str(log)


def test_reasoning_that_is_not_stored_comes_encrypted_and_goes_back():
    served = PROVIDERS["openai-responses"]
    turn.count = 0

    async def scenario():
        with served.server(turn) as server:
            registry = ToolRegistry([read])
            params = {"store": False}
            async with client(served.name, params=params, **served.connection(server)) as sdk, Engine() as engine:
                LLMHandler(sdk).attach(engine)
                ToolHandler(registry).attach(engine)
                outcome = await engine.run(ToolLoop(registry, max_turns=30), {"task": "Read it all."})
            assert outcome.value == {"text": "All read."}, outcome

    bounded(scenario())


class Local(FakeLLMClient):
    """A client of Ollama's that keeps what it is asked."""

    dialect = "ollama"
    params: dict = {}  # noqa: RUF012 - as a client has them


@pytest.mark.parametrize(("own", "sent"), [({}, 32_768), ({"options": {"num_ctx": 8192}}, 8192)])
def test_ollama_is_told_the_window_that_is_fitted_to_unless_its_client_says_another(own, sent):
    async def scenario():
        model = Local([text("hi")])
        model.params = own

        async def once(run, _):
            return (await run.llm([Message("user", "hi")])).message.text

        async with Engine() as engine:
            LLMHandler(model, context=ContextPolicy(32_768)).attach(engine)
            await engine.run(Given(once), None)
        assert model.requests[0].params["options"]["num_ctx"] == sent

    bounded(scenario())
