"""A run from outside: cancelled or sent something, by this engine or by another one on the same store."""

import asyncio

import pytest

from aaa.algos import ToolLoop
from aaa.errors import RunError
from aaa.llm import FakeLLMClient
from aaa.llm.fake import tool_call
from aaa.runtime import MemoryEventStore, SQLiteEventStore
from aaa.tools import ToolRegistry, tool
from tests.runtime.making import WAIT_SECONDS, Given, ask, bounded, engine_of, handle_of, interrupted, kinds, reached


async def wait_for_go(run, input):
    return await run.wait_for("go")


async def sleep_long(run, input):
    await run.sleep(3_600)
    return "slept"


def store_at(tmp_path, name):
    return MemoryEventStore() if name == "memory" else SQLiteEventStore(tmp_path / "runs.db", poll_seconds=0.02)


both_stores = pytest.mark.parametrize("name", ["memory", "sqlite"])


@both_stores
def test_cancelling_ends_the_run_and_the_log_says_who_asked(tmp_path, name):
    async def scenario():
        async with store_at(tmp_path, name) as store, engine_of(store) as engine:
            handle = await engine.start(Given(sleep_long), None, run_id="r")
            await reached(store, "r", "aaa.run.waiting")
            await handle.cancel()
            assert (await handle.result()).status == "cancelled"
            assert kinds(await store.read("r")) == [
                "run.started",
                "run.waiting 0",
                "run.cancel_requested",
                "run.completed",
            ]
            assert [info.status for info in await store.runs()] == ["cancelled"]

    bounded(scenario())


@both_stores
def test_cancelling_before_the_task_began_still_ends_cancelled(tmp_path, name):
    async def scenario():
        async with store_at(tmp_path, name) as store, engine_of(store) as engine:
            handle = await engine.start(Given(sleep_long), None, run_id="r")
            await handle.cancel()
            assert (await handle.result()).status == "cancelled"
            log = kinds(await store.read("r"))
            assert (log[0], log[-1]) == ("run.started", "run.completed")
            assert log.count("run.cancel_requested") == 1

    bounded(scenario())


@both_stores
@pytest.mark.parametrize("at_once", [True, False])
def test_cancelling_twice_is_the_same_as_once(tmp_path, name, at_once):
    async def scenario():
        async with store_at(tmp_path, name) as store, engine_of(store) as engine:
            handle = await engine.start(Given(sleep_long), None, run_id="r")
            await reached(store, "r", "aaa.run.waiting")
            if at_once:
                await asyncio.gather(handle.cancel(), handle.cancel())
            else:
                await handle.cancel()
                await handle.cancel()
            assert (await handle.result()).status == "cancelled"
            await handle.cancel()
            assert list(dict.fromkeys(kinds(await store.read("r")))) == [
                "run.started",
                "run.waiting 0",
                "run.cancel_requested",
                "run.completed",
            ]
            assert kinds(await store.read("r"))[-1] == "run.completed"

    bounded(scenario())


def test_a_run_that_has_ended_stays_as_it_is_when_it_is_cancelled_or_sent_something():
    async def scenario():
        async with engine_of() as engine:

            async def quick(run, input):
                return await run.now() and "done"

            handle = await engine.start(Given(quick), None, run_id="r")
            assert (await handle.result()).value == "done"
            before = await engine.store.read("r")
            await handle.cancel()
            await handle.send("go", 1)
            assert await engine.store.read("r") == before
            assert (await handle.result()).value == "done"

    bounded(scenario())


def test_a_cancellation_that_is_recorded_ends_the_run_when_it_is_driven_next():
    async def scenario():
        store, did = MemoryEventStore(), []

        async def waits(run, input):
            await run.wait_for("go", timeout_seconds=3_600)
            did.append("went on")

        await interrupted(store, Given(waits))
        async with engine_of(store) as other:
            await handle_of(other, "r").cancel()
        async with engine_of(store) as engine:
            (handle,) = await engine.recover([Given(waits)])
            assert (await handle.result()).status == "cancelled"
        assert kinds(await store.read("r"))[-2:] == ["run.cancel_requested", "run.completed"]
        assert did == []

    bounded(scenario())


def test_a_recorded_cancellation_needs_neither_the_algorithm_nor_a_handler_to_be_carried_out_once_more():
    async def scenario():
        store = MemoryEventStore()

        async def asks(run, input):
            await run.wait_for("go")
            return (await run.llm(ask("anything"))).message.text

        await interrupted(store, Given(asks))
        async with engine_of(store) as other:
            await handle_of(other, "r").cancel()
            await handle_of(other, "r").cancel()
        for _ in range(2):
            async with engine_of(store) as engine:
                assert (await (await engine.resume("r", Given(asks))).result()).status == "cancelled"
        log = kinds(await store.read("r"))
        assert log.count("run.completed") == 1
        assert not any(entry.startswith("llm") for entry in log)

    bounded(scenario())


@both_stores
def test_what_another_engine_sends_reaches_a_run_that_waits(tmp_path, name):
    async def scenario():
        async with store_at(tmp_path, name) as store, engine_of(store) as engine, engine_of(store) as other:
            handle = await engine.start(Given(wait_for_go), None, run_id="r")
            await reached(store, "r", "aaa.run.waiting")
            await handle_of(other, "r").send("go", {"number": 5})
            assert (await asyncio.wait_for(handle.result(), WAIT_SECONDS)).value == {"number": 5}

    bounded(scenario())


def test_what_another_store_object_sends_reaches_a_run_that_waits(tmp_path):
    async def scenario():
        async with (
            store_at(tmp_path, "sqlite") as store,
            store_at(tmp_path, "sqlite") as away,
            engine_of(store) as engine,
            engine_of(away) as other,
        ):
            handle = await engine.start(Given(wait_for_go), None, run_id="r")
            await reached(store, "r", "aaa.run.waiting")
            await handle_of(other, "r").send("go", 7)
            assert (await asyncio.wait_for(handle.result(), WAIT_SECONDS)).value == 7

    bounded(scenario())


@both_stores
@pytest.mark.parametrize("function", [wait_for_go, sleep_long])
def test_a_cancellation_by_another_engine_reaches_a_run_that_waits(tmp_path, name, function):
    async def scenario():
        async with store_at(tmp_path, name) as store, engine_of(store) as engine, engine_of(store) as other:
            handle = await engine.start(Given(function), None, run_id="r")
            await reached(store, "r", "aaa.run.waiting")
            await handle_of(other, "r").cancel()
            assert (await asyncio.wait_for(handle.result(), WAIT_SECONDS)).status == "cancelled"

    bounded(scenario())


@both_stores
def test_a_cancellation_by_another_engine_reaches_a_run_that_works_with_its_next_append(tmp_path, name):
    async def scenario():
        async with store_at(tmp_path, name) as store, engine_of(store) as engine, engine_of(store) as other:
            started, go_on, did = asyncio.Event(), asyncio.Event(), []

            async def works(run, input):
                async def first():
                    started.set()
                    await go_on.wait()

                await run.step("first", first)
                for number in range(20):
                    await run.step("more", lambda number=number: did.append(number))

            handle = await engine.start(Given(works), None, run_id="r")
            await started.wait()
            await handle_of(other, "r").cancel()
            go_on.set()
            assert (await handle.result()).status == "cancelled"
            assert len(did) <= 1
            assert kinds(await store.read("r"))[-1] == "run.completed"

    bounded(scenario())


def test_a_cancellation_gets_into_the_log_of_a_busy_run_at_once(tmp_path):
    async def scenario():
        async with store_at(tmp_path, "sqlite") as store, engine_of(store) as engine:
            cancels, head_then = [], []

            async def busy(run, input):
                for number in range(2_000):

                    async def work(number=number):
                        if number == 20:
                            cancels.append(asyncio.create_task(handle.cancel()))
                            head_then.append((await store.runs())[0].head)

                    await run.step("work", work)

            handle = await engine.start(Given(busy), None, run_id="r")
            assert (await handle.result()).status == "cancelled"
            await asyncio.gather(*cancels)
            log = await store.read("r")
            (asked,) = [event.seq for event in log if event.type == "aaa.run.cancel_requested"]
            assert asked - head_then[0] <= 10
            assert len(log) - asked <= 10

    bounded(scenario())


def test_several_things_sent_before_the_run_waits_for_them_come_in_order_by_name():
    async def scenario():
        async with engine_of() as engine:

            async def three(run, input):
                return [await run.wait_for("a"), await run.wait_for("a"), await run.wait_for("b")]

            handle = await engine.start(Given(three), None)
            for name, data in (("b", 3), ("a", 1), ("a", None)):
                await handle.send(name, data)
            assert (await handle.result()).value == [1, None, 3]

    bounded(scenario())


def test_what_was_received_is_received_again_on_resume_and_the_rest_is_still_there():
    async def scenario():
        store = MemoryEventStore()

        async def two(run, input):
            return [await run.wait_for("a"), await run.wait_for("go"), await run.wait_for("a")]

        engine = engine_of(store)
        handle = await engine.start(Given(two), None, run_id="r")
        await handle.send("a", 1)
        await handle.send("a", 2)
        await reached(store, "r", "aaa.run.waiting", 2)
        await engine.close()
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(two))
            await handle.send("go", "now")
            assert (await handle.result()).value == [1, "now", 2]

    bounded(scenario())


def test_a_wait_that_timed_out_times_out_again_on_resume_though_something_came_meanwhile():
    async def scenario():
        store = MemoryEventStore()

        async def impatient(run, input):
            try:
                first = await run.wait_for("a", timeout_seconds=0.001)
            except TimeoutError as error:
                first = str(error)
            await run.wait_for("go")
            return first

        await interrupted_twice(store, Given(impatient))
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(impatient))
            await handle.send("a", "too late")
            await handle.send("go")
            assert "'a'" in (await handle.result()).value

    async def interrupted_twice(store, algorithm):
        engine = engine_of(store)
        await engine.start(algorithm, None, run_id="r")
        await reached(store, "r", "aaa.run.waiting", 2)
        await engine.close()

    bounded(scenario())


def test_a_sleep_that_is_over_when_the_run_is_resumed_is_not_slept_again():
    async def scenario():
        store = MemoryEventStore()

        async def sleeper(run, input):
            await run.sleep(0.01)
            await run.wait_for("go")
            return "awake"

        engine = engine_of(store)
        await engine.start(Given(sleeper), None, run_id="r")
        await reached(store, "r", "aaa.run.waiting", 2)
        await engine.close()
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(sleeper))
            await handle.send("go")
            assert (await handle.result()).value == "awake"
        assert sum(entry == "run.waiting 0" for entry in kinds(await store.read("r"))) == 1

    bounded(scenario())


def test_a_run_that_sleeps_or_waits_is_listed_as_waiting():
    async def scenario():
        store = MemoryEventStore()
        await interrupted(store, Given(wait_for_go))
        assert [info.status for info in await store.runs()] == ["waiting"]

    bounded(scenario())


def test_cancelling_stops_a_tool_and_the_children_of_the_run():
    async def scenario():
        started, stopped = asyncio.Event(), []

        @tool
        async def hang() -> str:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.append("tool")

        async def parent(run, input):
            await run.child(ToolLoop(ToolRegistry([hang])), {"task": "hang"})

        client = FakeLLMClient(lambda _: tool_call("hang"))
        async with engine_of(client=client, tools=[hang]) as engine:
            handle = await engine.start(Given(parent), None, run_id="r")
            await started.wait()
            await handle.cancel()
            assert (await handle.result()).status == "cancelled"
            assert stopped == ["tool"]
            assert {info.run_id: info.status for info in await engine.store.runs()} == {
                "r": "cancelled",
                "r/0": "cancelled",
            }

    bounded(scenario())


def test_an_algorithm_that_raises_cancelled_error_of_its_own_accord_has_failed():
    async def scenario():
        async with engine_of() as engine:

            async def gives_up(run, input):
                await run.now()
                raise asyncio.CancelledError

            outcome = await engine.run(Given(gives_up), None, run_id="r")
            assert outcome.status == "failed"
            assert outcome.error["type"] == "CancelledError"
            assert kinds(await engine.store.read("r"))[-1] == "run.completed"

    bounded(scenario())


def test_a_client_that_raises_cancelled_error_of_its_own_accord_has_failed():
    async def scenario():
        client = FakeLLMClient([asyncio.CancelledError()])
        async with engine_of(client=client) as engine:

            async def asks(run, input):
                return (await run.llm(ask("first"))).message.text

            outcome = await engine.run(Given(asks), None, run_id="r")
            assert outcome.status == "failed"
            assert "Cancelled" in outcome.error["type"] + outcome.error["message"]
            assert kinds(await engine.store.read("r"))[-1] == "run.completed"

    bounded(scenario())


def test_a_step_that_raises_cancelled_error_of_its_own_accord_has_failed():
    async def scenario():
        async with engine_of() as engine:

            async def cancelled():
                raise asyncio.CancelledError

            async def steps(run, input):
                return await run.step("cancelled", cancelled)

            outcome = await engine.run(Given(steps), None, run_id="r")
            assert outcome.status == "failed"
            assert kinds(await engine.store.read("r"))[-1] == "run.completed"

    bounded(scenario())


@pytest.mark.parametrize("is_waiting_already", [True, False])
def test_a_result_that_the_engine_did_not_live_to_see_is_an_error(is_waiting_already):
    async def scenario():
        store = MemoryEventStore()
        engine = engine_of(store)
        handle = await engine.start(Given(sleep_long), None, run_id="r")
        await reached(store, "r", "aaa.run.waiting")
        waiting = asyncio.create_task(handle.result()) if is_waiting_already else None
        await asyncio.sleep(0)
        await engine.close()
        with pytest.raises(RunError, match="'r'"):
            await asyncio.wait_for(waiting or handle.result(), WAIT_SECONDS)
        assert kinds(await store.read("r")) == ["run.started", "run.waiting 0"]

    bounded(scenario())


def test_cancelling_who_waits_for_a_result_leaves_the_run_alone():
    async def scenario():
        async with engine_of() as engine:
            handle = await engine.start(Given(wait_for_go), None, run_id="r")
            waiting = asyncio.create_task(handle.result())
            await reached(engine.store, "r", "aaa.run.waiting")
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await handle.send("go", 1)
            assert (await handle.result()).value == 1

    bounded(scenario())
