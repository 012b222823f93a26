"""The front door: start, resume, recover, delete, watch, close."""

import asyncio
import gc
import logging

import msgspec
import pytest
from msgspec.structs import replace

from aaa.algos import ToolLoop
from aaa.errors import NonDeterminismError, RunError, UnknownRunError
from aaa.llm import FakeLLMClient
from aaa.llm.fake import text, together, tool_call
from aaa.runtime import Engine, LocalDispatcher, MemoryEventStore, SQLiteEventStore
from aaa.tools import ToolRegistry, tool
from tests.runtime.making import Given, ask, bounded, engine_of, handle_of, interrupted, kinds, reached


def saying(word, name="given"):
    async def algorithm(run, input):
        await run.now()
        return word

    return Given(algorithm, name)


def redact(event):
    return replace(event, data=msgspec.json.decode(msgspec.json.encode(event.data).replace(b"sk-secret", b"[key]")))


async def waits(run, input):
    return await run.wait_for("go")


def test_a_run_is_the_algorithm_it_was_started_with_though_another_has_its_name():
    async def scenario():
        async with engine_of() as engine:
            first = await engine.start(saying("a"), None)
            second = await engine.start(saying("b"), None)
            assert ((await first.result()).value, (await second.result()).value) == ("a", "b")

    bounded(scenario())


def test_a_run_is_the_algorithm_it_was_resumed_with_though_another_has_its_name():
    async def scenario():
        store = MemoryEventStore()
        for run_id in ("r1", "r2"):
            engine = engine_of(store)
            await engine.start(Given(waits), None, run_id=run_id)
            await reached(store, run_id, "aaa.run.waiting")
            await engine.close()

        def saying_after(word):
            async def algorithm(run, input):
                await run.wait_for("go")
                return word

            return Given(algorithm)

        async with engine_of(store) as engine:
            handles = [await engine.resume(run_id, saying_after(run_id)) for run_id in ("r1", "r2")]
            for handle in handles:
                await handle.send("go")
            assert [(await handle.result()).value for handle in handles] == ["r1", "r2"]

    bounded(scenario())


def test_starting_the_same_run_again_gets_hold_of_it_and_does_nothing_twice():
    async def scenario():
        did = []

        async def once(run, input):
            return await run.step("s", lambda: did.append(1))

        async with engine_of() as engine:
            handles = [await engine.start(Given(once), {"a": 1}, run_id="r") for _ in range(3)]
            outcomes = [await handle.result() for handle in handles]
            outcomes.append(await engine.run(Given(once), {"a": 1}, run_id="r"))
        assert len(set(map(repr, outcomes))) == 1
        assert did == [1]

    bounded(scenario())


@pytest.mark.parametrize(("name", "input", "problem"), [("given", 2, "input"), ("another", 1, "algorithm")])
def test_a_run_id_names_one_run(name, input, problem):
    async def scenario():
        async with engine_of() as engine:
            await engine.run(saying("a"), 1, run_id="r")
            with pytest.raises(RunError, match=f"another {problem}"):
                await engine.start(saying("a", name), input, run_id="r")

    bounded(scenario())


def test_resuming_an_unknown_run_is_refused_at_once():
    async def scenario():
        async with engine_of() as engine:
            with pytest.raises(UnknownRunError, match="'nope'"):
                await engine.resume("nope")
            with pytest.raises(UnknownRunError, match="'nope'"):
                await engine.resume("nope", saying("a"))

    bounded(scenario())


def test_resuming_a_run_that_has_ended_gives_its_outcome():
    async def scenario():
        store = MemoryEventStore()
        async with engine_of(store) as engine:
            await engine.run(saying("a"), None, run_id="r")
        before = await store.read("r")
        async with engine_of(store) as engine:
            assert (await (await engine.resume("r", saying("b"))).result()).value == "a"
        assert await store.read("r") == before

    bounded(scenario())


def test_recover_goes_on_with_all_that_have_not_ended_and_says_of_which_it_could_not():
    async def scenario():
        store = MemoryEventStore()

        async def other(run, input):
            await run.step("other", lambda: 1)
            await run.wait_for("go")

        async def changed(run, input):
            await run.step("changed", lambda: 1)

        engine = engine_of(store)
        for name, function in (("good", waits), ("unknown", waits), ("changed", other)):
            await engine.start(Given(function, name), None, run_id=name)
            await reached(store, name, "aaa.run.waiting")
        await engine.run(saying("a", "ended"), None, run_id="ended")
        await engine.close()

        async with engine_of(store) as engine:
            handles = {
                handle.run_id: handle
                for handle in await engine.recover([Given(waits, "good"), Given(changed, "changed")])
            }
            assert set(handles) == {"good", "unknown", "changed"}
            await handles["good"].send("go", 1)
            assert (await handles["good"].result()).value == 1
            with pytest.raises(RunError, match="'unknown'"):
                await handles["unknown"].result()
            with pytest.raises(NonDeterminismError):
                await handles["changed"].result()
        assert {info.run_id: info.status for info in await store.runs()} == {
            "good": "done",
            "unknown": "waiting",
            "changed": "waiting",
            "ended": "done",
        }

    bounded(scenario())


def test_a_deleted_run_is_forgotten_and_its_id_can_be_used_again():
    async def scenario():
        async with engine_of() as engine:
            assert (await engine.run(saying("a"), 1, run_id="r")).value == "a"
            assert await engine.delete_run("r")
            with pytest.raises(UnknownRunError):
                await engine.store.read("r")
            assert not await engine.delete_run("r")
            assert (await engine.run(saying("b"), 2, run_id="r")).value == "b"
            assert kinds(await engine.store.read("r")) == ["run.started", "step.completed 0", "run.completed"]

    bounded(scenario())


def test_a_run_under_way_is_stopped_before_it_is_deleted():
    async def scenario():
        async with engine_of() as engine:
            handle = await engine.start(Given(waits), None, run_id="r")
            await reached(engine.store, "r", "aaa.run.waiting")
            waiting = asyncio.create_task(handle.result())
            await asyncio.sleep(0)
            assert await engine.delete_run("r")
            with pytest.raises(RunError):
                await waiting
            assert await engine.store.runs() == []
            assert (await engine.run(saying("b"), None, run_id="r")).value == "b"

    bounded(scenario())


def test_deleting_a_run_deletes_its_children_and_theirs_and_nothing_else():
    async def scenario():
        async def parent(run, depth):
            return (await run.child(Given(parent), depth - 1)).value if depth else "bottom"

        async with engine_of() as engine:
            await engine.run(Given(parent), 2, run_id="a")
            for stranger in ("a/b", "a/0/strange", "ab", "a/00"):
                await engine.run(saying("x"), None, run_id=stranger)
            assert {info.run_id for info in await engine.store.runs()} == {
                *("a", "a/0", "a/0/0"),
                *("a/b", "a/0/strange", "ab", "a/00"),
            }
            await engine.delete_run("a")
            assert {info.run_id for info in await engine.store.runs()} == {"a/b", "a/0/strange", "ab", "a/00"}

    bounded(scenario())


@pytest.mark.parametrize("turns", range(6))
def test_closing_writes_what_is_noted(tmp_path, turns):
    async def scenario():
        acted, never = asyncio.Event(), asyncio.Event()

        @tool
        async def act() -> str:
            acted.set()
            return "acted"

        @tool
        async def hang() -> str:
            await never.wait()
            return "hung"

        client = FakeLLMClient([together(tool_call("act"), tool_call("hang"))])
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            engine = engine_of(store, client=client, tools=[act, hang])
            await engine.start(ToolLoop(ToolRegistry([act, hang])), {"task": "x"}, run_id="r")
            await acted.wait()
            for _ in range(turns + 8):  # until the result of the tool is noted, which takes a few turns of the loop
                await asyncio.sleep(0)
            await engine.close()
            assert "tool.completed 1.0" in kinds(await store.read("r"))

    bounded(scenario())


def test_closing_waits_for_a_write_that_is_slow():
    class Slow(MemoryEventStore):
        def __init__(self):
            super().__init__()
            self.is_writing = asyncio.Event()

        async def append(self, run_id, expected_seq, epoch, events):
            if any(event.type == "aaa.tool.completed" for event in events):
                self.is_writing.set()
                for _ in range(50):
                    await asyncio.sleep(0)
            return await super().append(run_id, expected_seq, epoch, events)

    async def scenario():
        @tool
        async def act() -> str:
            return "acted"

        @tool
        async def hang() -> str:
            await asyncio.Event().wait()
            return "hung"

        store = Slow()
        client = FakeLLMClient([together(tool_call("act"), tool_call("hang"))])
        engine = engine_of(store, client=client, tools=[act, hang])
        await engine.start(ToolLoop(ToolRegistry([act, hang])), {"task": "x"}, run_id="r")
        await store.is_writing.wait()
        await engine.close()
        assert kinds(await store.read("r"))[-1] == "tool.completed 1.0"

    bounded(scenario())


def test_an_algorithm_that_fails_as_its_engine_closes_leaves_no_error_that_nobody_looked_at():
    async def fails_when_stopped(run, input):
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("could not tidy up") from None

    async def closed():
        async with engine_of() as engine:
            await engine.start(Given(fails_when_stopped), None, run_id="r")
            await begun.wait()

    async def scenario():
        asyncio.get_running_loop().set_exception_handler(lambda _, told: noted.append(told["message"]))
        await closed()
        gc.collect()

    noted: list[str] = []
    begun = asyncio.Event()
    bounded(scenario())
    assert noted == []


def test_a_listener_sees_every_event_in_order_those_from_outside_too():
    async def scenario():
        seen, away = [], []
        store = MemoryEventStore()
        async with engine_of(store) as engine, engine_of(store) as other:
            engine.on_event(seen.append)
            other.on_event(away.append)

            async def two(run, input):
                return [await run.wait_for("a"), await run.step("s", lambda: 1), await run.wait_for("b")]

            handle = await engine.start(Given(two), None, run_id="r")
            await reached(store, "r", "aaa.run.waiting")
            await handle.send("a", 1)
            await reached(store, "r", "aaa.run.waiting", 2)
            await handle_of(other, "r").send("b", 2)
            assert (await handle.result()).value == [1, 1, 2]
            assert seen == await store.read("r")

    bounded(scenario())


def test_a_listener_sees_the_events_of_children_too():
    async def scenario():
        seen = []
        async with engine_of() as engine:
            engine.on_event(seen.append)

            async def parent(run, input):
                return (await run.child(saying("a", "child"), None)).value

            await engine.run(Given(parent), None, run_id="r")
            for run_id in ("r", "r/0"):
                assert [event for event in seen if event.run_id == run_id] == await engine.store.read(run_id)

    bounded(scenario())


def test_a_listener_that_raises_changes_nothing(caplog):
    async def scenario():
        async with engine_of() as engine:

            def broken(event):
                raise ValueError("secret")

            seen = []
            engine.on_event(broken)
            engine.on_event(seen.append)
            assert (await engine.run(saying("a"), None, run_id="r")).value == "a"
            assert seen == await engine.store.read("r")

    with caplog.at_level(logging.ERROR, "aaa.runtime"):
        bounded(scenario())
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text


def test_what_is_redacted_is_nowhere_in_the_log_and_the_run_goes_on_with_what_the_log_holds():
    async def scenario():
        store, seen = MemoryEventStore(), []

        async def uses(run, input):
            seen.append([input["key"], await run.step("s", lambda: "sk-secret"), await run.wait_for("go")])
            return seen[-1] + ["sk-secret"]

        async with engine_of(store, redact=redact) as engine:
            handle = await engine.start(Given(uses), {"key": "sk-secret"}, run_id="r")
            await handle.send("go", "sk-secret")
            outcome = await handle.result()
            again = await engine.start(Given(uses), {"key": "sk-secret"}, run_id="r")
            assert await again.result() == outcome
        assert outcome.value == ["[key]"] * 4
        assert "sk-secret" not in str(await store.read("r"))

    bounded(scenario())


def test_a_reply_that_is_redacted_goes_into_the_next_prompt_as_the_log_holds_it():
    async def scenario():
        client = FakeLLMClient([text("the key is sk-secret"), text("done")])

        async def talks(run, input):
            messages = ask("what is the key?")
            messages.append((await run.llm(messages)).message)
            messages += ask("thanks")
            return (await run.llm(messages)).message.text

        async with engine_of(client=client, redact=redact) as engine:
            assert (await engine.run(Given(talks), None)).value == "done"
        assert client.requests[1].messages[1].text == "the key is [key]"

    bounded(scenario())


def test_only_so_many_runs_are_driven_at_a_time():
    async def scenario():
        running, most, gate, two = 0, 0, asyncio.Event(), asyncio.Event()

        async def counts(run, input):
            async def work():
                nonlocal running, most
                running += 1
                most = max(most, running)
                if running == 2:
                    two.set()
                await gate.wait()
                running -= 1

            await run.step("work", work)

        async with Engine(dispatcher=lambda drive: LocalDispatcher(drive, max_concurrent=2)) as engine:
            handles = [await engine.start(Given(counts), None) for _ in range(5)]
            await two.wait()
            gate.set()
            assert {(await handle.result()).status for handle in handles} == {"done"}
        assert most == 2

    bounded(scenario())


def test_a_dispatcher_that_may_drive_nothing_is_refused():
    with pytest.raises(ValueError, match="max_concurrent"):
        LocalDispatcher(lambda run_id: None, max_concurrent=0)


def test_an_engine_closes_the_store_it_made_and_not_the_one_it_was_given():
    async def scenario():
        store = MemoryEventStore()
        await interrupted(store, Given(waits))
        assert [info.run_id for info in await store.runs()] == ["r"]
        engine = Engine()
        await engine.close()
        with pytest.raises(RunError, match="closed"):
            await engine.store.runs()

    bounded(scenario())
