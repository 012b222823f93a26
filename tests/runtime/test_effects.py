"""The small effects: steps, times, ids; and that their values are what the log holds, live too."""

import asyncio
import threading
from functools import partial

import pytest

from aaa.algos import ToolLoop
from aaa.errors import EffectError, RunError
from aaa.llm import FakeLLMClient
from aaa.llm.fake import text, tool_call
from aaa.messages import LLMResponse, Message, ToolCall
from aaa.runtime import MemoryEventStore, SQLiteEventStore
from aaa.tools import ToolRegistry, tool
from tests.runtime.making import Given, ask, bounded, engine_of, interrupted, kinds, reached


async def live_and_resumed(function, input=None):
    """What the algorithm saw first, and what it saw once the process was another: `function` gives what it sees."""
    store, seen = MemoryEventStore(), []

    async def watched(run, input):
        seen.append(await function(run, input))
        await run.wait_for("go")
        return len(seen)

    await interrupted(store, Given(watched), input)
    async with engine_of(store) as engine:
        handle = await engine.resume("r", Given(watched))
        await handle.send("go")
        assert (await handle.result()).status == "done"
    assert len(seen) == 2
    return seen


@pytest.mark.parametrize("effect", ["now", "uuid"])
def test_a_time_or_an_id_is_the_same_on_every_attempt(effect):
    async def twice(run, input):
        return [await getattr(run, effect)(), await getattr(run, effect)()]

    first, again = bounded(live_and_resumed(twice))
    assert first == again
    assert effect == "now" or first[0] != first[1]


@pytest.mark.parametrize(
    ("value", "held"),
    [
        ((1, (2, 3)), [1, [2, 3]]),
        ({"a": (1,)}, {"a": [1]}),
        ({1: "one"}, {"1": "one"}),
        (Message("user", "hello"), {"role": "user", "content": "hello"}),
        (None, None),
        ("\ud800", "\\ud800"),
        ({"\ud800": ("\udfff",)}, {"\\ud800": ["\\udfff"]}),
        (1.5, 1.5),
        ("x" * 100_000, "x" * 100_000),
    ],
)
def test_the_value_of_a_step_is_what_the_log_holds_live_too(value, held):
    async def step(run, input):
        return await run.step("s", lambda: value)

    assert bounded(live_and_resumed(step)) == [held, held]


@pytest.mark.parametrize("value", [object(), {"a": object()}, lambda: 1])
def test_a_step_whose_value_is_no_json_is_recorded_as_failed(value):
    async def step(run, input):
        with pytest.raises(EffectError) as caught:
            await run.step("s", lambda: value)
        return caught.value.kind

    assert bounded(live_and_resumed(step)) == ["TypeError", "TypeError"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [-float("inf")]}])
def test_a_step_whose_value_is_no_number_is_recorded_as_failed(value):
    async def step(run, input):
        with pytest.raises(EffectError) as caught:
            await run.step("s", lambda: value)
        return caught.value.kind

    first, again = bounded(live_and_resumed(step))
    assert first == again
    assert first in ("TypeError", "ValueError")


def test_the_input_is_what_the_log_holds_live_too():
    async def sees(run, input):
        return input

    given = {"pair": (1, 2), "words": "\ud800"}
    held = {"pair": [1, 2], "words": "\\ud800"}
    assert bounded(live_and_resumed(sees, given)) == [held, held]


def test_an_input_that_is_no_json_is_refused_and_nothing_is_started():
    async def scenario():
        async with engine_of() as engine:

            async def sees(run, input):
                return input

            for bad in (float("nan"), {"a": float("inf")}, object()):
                with pytest.raises((TypeError, ValueError)):
                    await engine.start(Given(sees), bad, run_id="r")
            assert await engine.store.runs() == []

    bounded(scenario())


def test_starting_twice_with_an_equal_input_that_has_tuples_is_one_run():
    async def scenario():
        async with engine_of() as engine:

            async def sees(run, input):
                return input

            first = await engine.start(Given(sees), {"pair": (1, 2)}, run_id="r")
            again = await engine.start(Given(sees), {"pair": (1, 2)}, run_id="r")
            assert await first.result() == await again.result()
            assert (await again.result()).value == {"pair": [1, 2]}
            assert len(await engine.store.read("r")) == 2

    bounded(scenario())


def test_the_outcome_is_what_the_log_holds_live_too():
    async def scenario():
        async with engine_of() as engine:

            async def returns(run, input):
                return {"pair": (1, 2), "text": "\ud800"}

            outcome = await engine.run(Given(returns), None, run_id="r")
            assert outcome.value == {"pair": [1, 2], "text": "\\ud800"}
            assert await engine.run(Given(returns), None, run_id="r") == outcome

    bounded(scenario())


@pytest.mark.parametrize("value", [object(), float("nan"), {"a": float("inf")}])
def test_a_result_that_is_no_json_is_a_failure_that_says_so(value):
    async def scenario():
        async with engine_of() as engine:

            async def returns(run, input):
                return value

            outcome = await engine.run(Given(returns), None)
            assert (outcome.status, outcome.value) == ("failed", None)
            assert "no JSON" in outcome.error["message"]

    bounded(scenario())


def test_what_is_sent_is_what_the_log_holds_and_no_number_is_refused():
    async def scenario():
        async with engine_of() as engine:

            async def waits(run, input):
                return await run.wait_for("go")

            handle = await engine.start(Given(waits), None, run_id="r")
            for bad in (float("nan"), object()):
                with pytest.raises((TypeError, ValueError)):
                    await handle.send("go", bad)
            await handle.send("go", (1, 2))
            assert (await handle.result()).value == [1, 2]

    bounded(scenario())


def test_a_step_may_be_a_coroutine_function_or_a_plain_one_which_runs_in_a_thread():
    async def scenario():
        async with engine_of() as engine:
            threads = []

            async def in_loop():
                threads.append(threading.current_thread())
                return "loop"

            def in_thread():
                threads.append(threading.current_thread())
                return "thread"

            async def steps(run, input):
                return [
                    await run.step("a", in_loop),
                    await run.step("b", in_thread),
                    await run.step("c", partial(in_loop)),
                ]

            assert (await engine.run(Given(steps), None)).value == ["loop", "thread", "loop"]
            assert threads[0] is threading.current_thread()
            assert threads[1] is not threading.current_thread()

    bounded(scenario())


def test_an_effect_inside_a_step_is_refused():
    async def scenario():
        async with engine_of() as engine:

            async def nested(run, input):
                async def step():
                    return await run.now()

                with pytest.raises(EffectError, match=r"run\.now while run\.step"):
                    await run.step("outer", step)
                return "refused"

            assert (await engine.run(Given(nested), None)).value == "refused"

    bounded(scenario())


def test_lone_surrogates_anywhere_neither_stop_a_run_nor_change_it_on_resume(tmp_path):
    async def scenario():
        odd, hang = "name \ud800 of a file", asyncio.Event()

        @tool
        async def look(path: str) -> str:
            return odd

        calls = []

        async def model(request):
            calls.append(request)
            if len(calls) == 3:
                hang.set()
                await asyncio.Event().wait()
            if len(calls) in (1, 2):
                call = ToolCall(f"call_{len(calls)}", "look", '{"path":"\ud801"}')
                return LLMResponse(Message("assistant", odd, (call,)))
            return text(odd)

        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            registry = ToolRegistry([look])
            engine = engine_of(store, client=FakeLLMClient(model), tools=[look])
            await engine.start(ToolLoop(registry, system=odd), {"task": odd}, run_id="r")
            await hang.wait()
            await engine.close()
            async with engine_of(store, client=FakeLLMClient(model), tools=[look]) as engine:
                outcome = await (await engine.resume("r", ToolLoop(registry, system=odd))).result()
            assert outcome.status == "done"
            assert "\\ud800" in outcome.value["text"]
            assert calls[2].messages == calls[3].messages

    bounded(scenario())


def test_tools_are_asked_for_in_one_append_and_answered_in_the_order_of_the_calls():
    async def scenario():
        gates = [asyncio.Event() for _ in range(3)]

        @tool
        async def wait(number: int) -> str:
            if number < 2:
                await gates[number + 1].wait()
            gates[number].set()
            return f"result {number}"

        async def calls(run, input):
            asked = [ToolCall(str(n), "wait", f'{{"number":{n}}}') for n in range(3)]
            return [[m.role, m.tool_call_id, m.text] for m in await run.tools(asked)]

        async with engine_of(tools=[wait]) as engine:
            outcome = await engine.run(Given(calls), None, run_id="r")
            log = await engine.store.read("r")
        assert outcome.value == [["tool", str(n), f"result {n}"] for n in range(3)]
        assert kinds(log) == [
            "run.started",
            *(f"tool.requested 0.{n}" for n in range(3)),
            *(f"tool.completed 0.{n}" for n in (2, 1, 0)),
            "run.completed",
        ]

    bounded(scenario())


def test_no_calls_are_no_results():
    async def scenario():
        async with engine_of() as engine:

            async def none(run, input):
                return await run.tools([])

            assert (await engine.run(Given(none), None)).value == []

    bounded(scenario())


def test_a_model_call_that_fails_for_good_is_raised_into_the_algorithm_and_recorded():
    async def scenario():
        async with engine_of(client=FakeLLMClient([ValueError("bad request"), text("second")])) as engine:

            async def asks(run, input):
                with pytest.raises(EffectError) as caught:
                    await run.llm(ask("x"))
                assert isinstance(caught.value, RunError)
                return [caught.value.key, caught.value.kind, (await run.llm(ask("y"))).message.text]

            assert (await engine.run(Given(asks), None, run_id="r")).value == ["0", "ValueError", "second"]
            assert kinds(await engine.store.read("r")) == [
                "run.started",
                "llm.requested 0",
                "llm.failed 0",
                "llm.requested 1",
                "llm.completed 1",
                "run.completed",
            ]

    bounded(scenario())


def test_a_tool_step_of_a_run_in_sqlite_takes_two_appends(tmp_path):
    class Counting(SQLiteEventStore):
        appends = 0

        async def append(self, run_id, expected_seq, epoch, events):
            self.appends += 1
            return await super().append(run_id, expected_seq, epoch, events)

    async def scenario(steps):
        @tool
        async def look() -> str:
            return "seen"

        client = FakeLLMClient([tool_call("look")] * steps + [text("done")])
        async with Counting(tmp_path / f"{steps}.db") as store, engine_of(store, client=client, tools=[look]) as engine:
            await engine.run(ToolLoop(ToolRegistry([look]), max_turns=steps + 1), {"task": "look"})
            return store.appends

    assert bounded(scenario(20)) - bounded(scenario(10)) == 20


def test_a_run_that_waits_is_reached_by_name():
    async def scenario():
        async with engine_of() as engine:

            async def waits(run, input):
                return await run.wait_for("go")

            handle = await engine.start(Given(waits), None, run_id="r")
            event = await reached(engine.store, "r", "aaa.run.waiting")
            assert (event.data["name"], event.data["wake_at"]) == ("go", None)
            await handle.send("go")
            assert (await handle.result()).value is None

    bounded(scenario())
