"""What is recorded is not done again; an algorithm that asks for something else is told so, its log is untouched."""

import asyncio

import pytest

from aaa.errors import EffectError, NonDeterminismError, RunError
from aaa.llm import FakeLLMClient
from aaa.llm.fake import text
from aaa.messages import Message, ToolCall
from aaa.runtime import MemoryEventStore
from aaa.tools import tool
from tests.runtime.making import Given, ask, bounded, engine_of, interrupted, kinds


async def wait(run):
    return await run.wait_for("go")


async def old(run, input):
    await run.step("a", lambda: 1)
    await run.step("b", lambda: 2)
    await wait(run)


async def resumed(store, function, **settings):
    """The outcome of the run "r" under another algorithm."""
    async with engine_of(store, **settings) as engine:
        return await (await engine.resume("r", Given(function))).result()


async def untouched(store, before, function, **engine):
    """The error of a run that does not match its log, which stays as it was."""
    with pytest.raises(NonDeterminismError) as caught:
        await resumed(store, function, **engine)
    assert await store.read("r") == before
    assert [info.status for info in await store.runs()] == ["waiting"]
    return caught.value


def test_recorded_steps_are_not_done_again():
    async def scenario():
        store, did = MemoryEventStore(), []

        async def counts(run, input):
            values = [await run.step(f"s{n}", lambda n=n: did.append(n) or n * n) for n in range(3)]
            return [*values, await wait(run)]

        await interrupted(store, Given(counts))
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(counts))
            await handle.send("go", "on")
            assert (await handle.result()).value == [0, 1, 4, "on"]
        assert did == [0, 1, 2]

    bounded(scenario())


def test_a_failed_step_fails_again_without_being_done_again():
    async def scenario():
        store, did = MemoryEventStore(), []

        def fails():
            did.append(1)
            raise KeyError("lost")

        async def tries(run, input):
            with pytest.raises(EffectError) as caught:
                await run.step("fails", fails)
            await wait(run)
            return [caught.value.key, caught.value.kind, caught.value.problem]

        await interrupted(store, Given(tries))
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(tries))
            await handle.send("go")
            assert (await handle.result()).value == ["0", "KeyError", "'lost'"]
        assert did == [1]

    bounded(scenario())


@pytest.mark.parametrize(
    ("name", "recorded", "requested"),
    [
        ("another step", "step 'b'", "step 'c'"),
        ("another kind", "step 'b'", "llm with a conversation of 1 messages"),
        ("the end", "step.requested", "the end of the run"),
    ],
)
def test_another_effect_than_is_recorded_is_an_error_that_names_both(name, recorded, requested):
    async def new(run, input):
        await run.step("a", lambda: 1)
        if name == "another step":
            await run.step("c", lambda: 2)
        elif name == "another kind":
            await run.llm(ask("instead"))
        if name != "the end":
            await wait(run)

    async def scenario():
        store = MemoryEventStore()
        before = await interrupted(store, Given(old))
        error = await untouched(store, before, new)
        assert (error.run_id, error.key) == ("r", "1")
        assert recorded in error.recorded
        assert requested in error.requested

    bounded(scenario())


def test_the_version_that_started_a_run_can_go_on_after_one_that_could_not():
    async def scenario():
        async def new(run, input):
            await run.step("c", lambda: 1)

        store = MemoryEventStore()
        await untouched(store, await interrupted(store, Given(old)), new)
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(old))
            await handle.send("go")
            assert (await handle.result()).status == "done"

    bounded(scenario())


def test_another_conversation_than_is_recorded_is_an_error_without_a_word_of_it():
    async def scenario():
        store = MemoryEventStore()

        def asking(words):
            async def asks(run, input):
                await run.llm(ask(words))
                await wait(run)

            return asks

        before = await interrupted(store, Given(asking("the secret question")))
        error = await untouched(store, before, asking("another secret question"))
        assert "secret" not in str(error)
        assert "conversation of 1 messages" in error.recorded

    bounded(scenario())


@pytest.mark.parametrize("change", ["name", "arguments", "count"])
def test_other_tool_calls_than_are_recorded_are_an_error(change):
    async def scenario():
        store = MemoryEventStore()

        @tool
        async def look(topic: str) -> str:
            return topic

        def calling(*calls):
            async def runs(run, input):
                await run.tools(calls)
                await wait(run)

            return runs

        first = calling(ToolCall("1", "look", '{"topic":"x"}'), ToolCall("2", "look", '{"topic":"y"}'))
        second = {
            "name": calling(ToolCall("1", "look", '{"topic":"x"}'), ToolCall("2", "peek", '{"topic":"y"}')),
            "arguments": calling(ToolCall("1", "look", '{"topic":"x"}'), ToolCall("2", "look", '{"topic":"z"}')),
            "count": calling(ToolCall("1", "look", '{"topic":"x"}')),
        }[change]
        engine = engine_of(store, tools=[look])
        await engine.start(Given(first), None, run_id="r")
        async for event in store.subscribe("r"):
            if event.type == "aaa.run.waiting":
                break
        await engine.close()
        if change == "count":
            # fewer calls are found at the end, where a recorded one was not asked for
            async with engine_of(store, tools=[look]) as engine:
                handle = await engine.resume("r", Given(second))
                await handle.send("go")
                with pytest.raises(NonDeterminismError):
                    await handle.result()
        else:
            await untouched(store, await store.read("r"), second, tools=[look])

    bounded(scenario())


def test_another_model_other_params_and_other_tools_are_no_error():
    async def scenario():
        store = MemoryEventStore()

        def asking(**settings):
            async def asks(run, input):
                reply = (await run.llm(ask("question"), **settings)).message.text
                await wait(run)
                return reply

            return asks

        await interrupted(store, Given(asking(model="old", params={"temperature": 1})))
        client = FakeLLMClient([])
        async with engine_of(store, client=client) as engine:
            handle = await engine.resume("r", Given(asking(model="new", params={"temperature": 0})))
            await handle.send("go")
            assert (await handle.result()).value == "ok"
        assert client.requests == []

    bounded(scenario())


def test_after_replay_has_diverged_every_further_effect_raises_the_same_and_nothing_is_written():
    async def scenario():
        store, errors, did = MemoryEventStore(), [], []

        async def stubborn(run, input):
            for name in "xyz":
                try:
                    await run.step(name, lambda name=name: did.append(name))
                except Exception as error:  # noqa: BLE001 - whatever it is
                    errors.append(error)
            for effect in (run.now, run.uuid, lambda: run.llm(ask("x")), lambda: run.wait_for("go")):
                try:
                    await effect()
                except Exception as error:  # noqa: BLE001 - whatever it is
                    errors.append(error)
            return "went on"

        error = await untouched(store, await interrupted(store, Given(old)), stubborn)
        assert did == []
        assert len(errors) == 7
        assert {str(each) for each in errors} == {str(error)}

    bounded(scenario())


def test_an_algorithm_that_raises_while_recorded_effects_are_unvisited_does_not_match_its_log():
    async def scenario():
        async def broken(run, input):
            await run.step("a", lambda: 1)
            raise KeyError("bug of a deploy")

        store = MemoryEventStore()
        error = await untouched(store, await interrupted(store, Given(old)), broken)
        assert error.key == "1"
        assert isinstance(error.__cause__, KeyError)

    bounded(scenario())


def test_an_algorithm_that_raises_where_its_log_ends_has_failed():
    async def scenario():
        async def broken(run, input):
            await old(run, input)
            raise KeyError("after all")

        store = MemoryEventStore()
        await interrupted(store, Given(old))
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(broken))
            await handle.send("go")
            outcome = await handle.result()
        assert (outcome.status, outcome.error) == ("failed", {"type": "KeyError", "message": "'after all'"})

    bounded(scenario())


def test_an_interrupted_effect_is_done_again_under_the_same_key_and_counts_its_attempts():
    async def scenario():
        store, seen, hang = MemoryEventStore(), [], asyncio.Event()

        class Slow:
            async def handle(self, effects, request):
                seen.append((effects.attempt, effects.idempotency_key))
                if len(seen) < 3:
                    hang.set()
                    await asyncio.Event().wait()
                return {"content": "done"}

            def replay(self, effects, events):
                assert [type for type, _ in events] == ["aaa.tool.requested"]

        async def calls(run, input):
            return [message.text for message in await run.tools([ToolCall("1", "slow")])]

        for _ in range(2):
            hang.clear()
            engine = engine_of(store)
            engine.attach("tool", Slow())
            if await store.runs():
                await engine.resume("r", Given(calls))
            else:
                await engine.start(Given(calls), None, run_id="r")
            await hang.wait()
            await engine.close()
        async with engine_of(store) as engine:
            engine.attach("tool", Slow())
            assert (await (await engine.resume("r", Given(calls))).result()).value == ["done"]
        assert seen == [(1, "r:0.0"), (2, "r:0.0"), (3, "r:0.0")]
        assert kinds(await store.read("r")) == [
            "run.started",
            "tool.requested 0.0",
            "tool.completed 0.0",
            "run.completed",
        ]

    bounded(scenario())


def test_a_tool_that_is_not_repeatable_is_not_run_again_after_an_interruption():
    async def scenario():
        store, ran, hang = MemoryEventStore(), [], asyncio.Event()

        @tool(repeatable=False)
        async def pay() -> str:
            ran.append(1)
            hang.set()
            await asyncio.Event().wait()
            return "paid"

        async def calls(run, input):
            return [message.text for message in await run.tools([ToolCall("1", "pay")])]

        engine = engine_of(store, tools=[pay])
        await engine.start(Given(calls), None, run_id="r")
        await hang.wait()
        await engine.close()
        async with engine_of(store, tools=[pay]) as engine:
            (content,) = (await (await engine.resume("r", Given(calls))).result()).value
        assert "outcome is unknown" in content
        assert ran == [1]

    bounded(scenario())


def test_two_effects_at_once_outside_gather_are_refused():
    async def scenario():
        async def two(run, input):
            await asyncio.gather(run.llm(ask("a")), run.llm(ask("b")))

        async def never(request):
            await asyncio.Event().wait()

        async with engine_of(client=FakeLLMClient(never)) as engine:
            outcome = await engine.run(Given(two), None)
        assert outcome.status == "failed"
        assert outcome.error["type"] == "RuntimeError"
        assert "run.gather" in outcome.error["message"]

    bounded(scenario())


@pytest.mark.parametrize("way", ["llm", "step", "tools"])
def test_nothing_is_written_after_the_end_by_what_an_algorithm_left_behind(way):
    async def scenario():
        started, release, left = asyncio.Event(), asyncio.Event(), []

        async def hold():
            started.set()
            await release.wait()
            return "late"

        async def model(request):
            return text(await hold())

        @tool
        async def slow() -> str:
            return await hold()

        async def leaves(run, input):
            effects = {
                "llm": lambda: run.llm(ask("x")),
                "step": lambda: run.step("x", hold),
                "tools": lambda: run.tools([ToolCall("1", "slow")]),
            }
            left.append(asyncio.create_task(effects[way]()))
            await started.wait()
            raise ValueError("gone")

        async with engine_of(client=FakeLLMClient(model), tools=[slow]) as engine:
            outcome = await engine.run(Given(leaves), None, run_id="r")
            assert outcome.status == "failed"
            release.set()
            await asyncio.wait(left)
            assert left[0].cancelled() or left[0].exception() is not None
            assert kinds(await engine.store.read("r"))[-1] == "run.completed"

    bounded(scenario())


def test_a_missing_handler_is_an_error_from_result_and_the_run_waits_for_one():
    async def scenario():
        from aaa.runtime import Engine

        store = MemoryEventStore()

        async def asks(run, input):
            await wait(run)
            return (await run.llm([Message("user", "x")])).message.text

        await interrupted(store, Given(asks))
        async with Engine(store) as bare:
            handle = await bare.resume("r", Given(asks))
            await handle.send("go")
            with pytest.raises(RunError, match="no handler for 'llm'"):
                await handle.result()
        assert "run.completed" not in kinds(await store.read("r"))
        async with engine_of(store) as engine:
            assert (await (await engine.resume("r", Given(asks))).result()).value == "ok"

    bounded(scenario())
