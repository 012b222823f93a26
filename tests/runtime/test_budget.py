"""What a run may spend: checked before each effect, the same after a restart; the deadline ends what is under way."""

import asyncio
from datetime import UTC, datetime

import pytest

from aaa.algos import ToolLoop
from aaa.context import ContextPolicy
from aaa.llm import FakeLLMClient
from aaa.llm.fake import text, tool_call
from aaa.messages import LLMResponse, Message, Usage
from aaa.runtime import Budget, MemoryEventStore
from aaa.tools import ToolRegistry, tool
from tests.runtime.making import Given, ask, bounded, engine_of, kinds, reached

LONG_AGO = 1.0


@tool
async def look() -> str:
    """Look."""
    return "seen"


@pytest.mark.parametrize(
    ("budget", "calls", "words"),
    [
        (Budget(max_steps=2), 2, "max_steps is 2, spent 2"),
        (Budget(max_tokens=25), 3, "max_tokens is 25, spent 30"),
        (Budget(max_cost=0.02), 2, "max_cost is 0.02, spent 0.02"),
    ],
)
def test_a_budget_that_is_used_up_ends_the_run_before_the_next_effect(budget, calls, words):
    async def scenario():
        reply = LLMResponse(tool_call("look").message, Usage(9, 1), cost=0.01)
        client = FakeLLMClient(lambda _: reply, price_per_token=0.001)
        async with engine_of(client=client, tools=[look]) as engine:
            outcome = await engine.run(ToolLoop(ToolRegistry([look])), {"task": "x"}, run_id="r", budget=budget)
            spent = (await engine.store.read("r"))[-1].data["spent"]
        assert (outcome.status, outcome.value) == ("out_of_budget", None)
        assert words in outcome.error["message"]
        assert len(client.requests) == calls
        assert spent == {"tokens": 10 * calls, "cost": pytest.approx(0.01 * calls), "steps": calls}

    bounded(scenario())


def test_what_was_spent_before_a_restart_counts():
    async def scenario():
        store, client = MemoryEventStore(), FakeLLMClient(lambda _: text("ok"))

        async def asks(run, input):
            for number in range(9):
                await run.llm(ask(f"question {number}"))
                if number == 1:
                    await run.wait_for("go")

        engine = engine_of(store, client=client)
        await engine.start(Given(asks), None, run_id="r", budget=Budget(max_steps=3))
        await reached(store, "r", "aaa.run.waiting")
        await engine.close()
        async with engine_of(store, client=client) as engine:
            handle = await engine.resume("r", Given(asks))
            await handle.send("go")
            assert (await handle.result()).status == "out_of_budget"
        assert len(client.requests) == 3

    bounded(scenario())


def test_an_algorithm_cannot_catch_the_end_of_its_budget_by_accident():
    async def scenario():
        async def stubborn(run, input):
            for number in range(5):
                try:
                    await run.llm(ask(f"question {number}"))
                except Exception:  # noqa: BLE001 - what it must not catch
                    pytest.fail("caught")

        async with engine_of() as engine:
            outcome = await engine.run(Given(stubborn), None, budget=Budget(max_steps=2))
        assert outcome.status == "out_of_budget"

    bounded(scenario())


def test_summaries_count_towards_the_budget_those_that_were_rejected_too():
    async def scenario(summary):
        @tool
        async def read(number: int) -> str:
            return f"page {number}: " + "lorem ipsum " * 150

        calls = []

        def model(request):
            calls.append(request)
            return tool_call("read", number=len(calls)) if len(calls) <= 12 else text("done")

        summarizer = FakeLLMClient(lambda _: LLMResponse(Message("assistant", summary), Usage(1000, 100), cost=0.5))
        policy = ContextPolicy(4_000, reserve_output=0, summarizer=summarizer)
        async with engine_of(client=FakeLLMClient(model), tools=[read], context=policy) as engine:
            await engine.run(ToolLoop(ToolRegistry([read])), {"task": "x"}, run_id="r")
            log = await engine.store.read("r")
        own = sum(event.data["usage"]["total_tokens"] for event in log if event.type == "aaa.llm.completed")
        spent = log[-1].data["spent"]
        assert len(summarizer.requests) >= 1
        assert spent["tokens"] == own + 1_100 * len(summarizer.requests)
        assert spent["cost"] == pytest.approx(0.5 * len(summarizer.requests))

    bounded(scenario("The pages were read."))
    bounded(scenario(""))


@pytest.mark.parametrize("deadline", [LONG_AGO, datetime.fromtimestamp(LONG_AGO, UTC)])
def test_a_deadline_that_has_passed_ends_the_run_before_its_first_effect(deadline):
    async def scenario():
        client = FakeLLMClient(lambda _: text("ok"))

        async def asks(run, input):
            return (await run.llm(ask("x"))).message.text

        async with engine_of(client=client) as engine:
            outcome = await engine.run(Given(asks), None, budget=Budget(deadline=deadline), run_id="r")
            assert kinds(await engine.store.read("r")) == ["run.started", "run.completed"]
        assert outcome.status == "past_deadline"
        assert client.requests == []

    bounded(scenario())


def test_a_deadline_ends_what_is_under_way():
    async def scenario():
        import time

        stopped = []

        async def never(request):
            try:
                await asyncio.Event().wait()
            finally:
                stopped.append(1)

        async def asks(run, input):
            return (await run.llm(ask("x"))).message.text

        async with engine_of(client=FakeLLMClient(never)) as engine:
            budget = Budget(deadline=time.time() + 0.05)
            outcome = await engine.run(Given(asks), None, budget=budget, run_id="r")
            assert kinds(await engine.store.read("r")) == ["run.started", "llm.requested 0", "run.completed"]
        assert outcome.status == "past_deadline"
        assert stopped == [1]

    bounded(scenario())


def test_a_time_out_of_the_algorithms_own_is_not_the_deadline():
    async def scenario():
        import time

        async def patient(run, input):
            try:
                await run.wait_for("x", timeout_seconds=0.001)
            except TimeoutError:
                return "timed out"

        async with engine_of() as engine:
            budget = Budget(deadline=time.time() + 3_600)
            assert (await engine.run(Given(patient), None, budget=budget)).value == "timed out"

    bounded(scenario())


def test_a_max_cost_that_cannot_be_kept_is_refused_at_the_start():
    async def scenario():
        async with engine_of() as engine:

            async def nothing(run, input):
                return None

            with pytest.raises(ValueError, match="max_cost"):
                await engine.start(Given(nothing), None, budget=Budget(max_cost=1.0))
            assert await engine.store.runs() == []

    bounded(scenario())


@pytest.mark.parametrize("limit", ["max_tokens", "max_cost", "max_steps"])
@pytest.mark.parametrize("number", [0, -1, float("nan")])
def test_a_limit_that_is_not_above_zero_is_refused(limit, number):
    with pytest.raises(ValueError, match=limit):
        Budget(**{limit: number})


def test_a_deadline_without_a_time_zone_is_refused():
    with pytest.raises(ValueError, match="time zone"):
        Budget(deadline=datetime(2030, 1, 1))  # noqa: DTZ001 - that it has none is the point
