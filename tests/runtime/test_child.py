"""Runs of runs: logs of their own, one budget, ended together."""

import pytest

from aaa.errors import EffectError, NonDeterminismError, RunError
from aaa.llm import FakeLLMClient
from aaa.llm.fake import text
from aaa.runtime import Budget, MemoryEventStore
from tests.runtime.making import Given, ask, bounded, engine_of, handle_of, interrupted, kinds, listed, reached


def parent_of(child, input=None, **settings):
    async def parent(run, _):
        return (await run.child(child, input, **settings)).value

    return Given(parent, "parent")


def test_a_child_has_a_log_of_its_own_under_the_key_of_its_effect():
    async def scenario():
        async def child(run, input):
            return [run.run_id, input, await run.step("s", lambda: 1)]

        async with engine_of() as engine:
            outcome = await engine.run(parent_of(Given(child, "child"), {"pair": (1, 2)}), None, run_id="r")
            assert outcome.value == ["r/0", {"pair": [1, 2]}, 1]
            assert kinds(await engine.store.read("r")) == [
                "run.started",
                "child.requested 0",
                "child.completed 0",
                "run.completed",
            ]
            assert kinds(await engine.store.read("r/0")) == [
                "run.started",
                "step.requested 0",
                "step.completed 0",
                "run.completed",
            ]

    bounded(scenario())


def test_a_child_is_the_algorithm_it_was_started_with_even_if_it_is_named_like_its_parent():
    async def scenario():
        async def child(run, input):
            return "the child's code"

        async def parent(run, input):
            if input is None:
                return "the parent's code"
            return [(await run.child(Given(child), None)).value, (await run.child(Given(parent), None)).value]

        async with engine_of() as engine:
            outcome = await engine.run(Given(parent), "go")
            assert outcome.value == ["the child's code", "the parent's code"]

    bounded(scenario())


def test_two_children_of_one_name_are_each_their_own_also_after_a_restart():
    async def scenario():
        store = MemoryEventStore()

        def saying(word):
            async def child(run, input):
                await run.wait_for("go")
                return word

            return Given(child, "child")

        async def parent(run, input):
            outcomes = await run.gather(run.child(saying("a"), None), run.child(saying("b"), None))
            return [outcome.value for outcome in outcomes]

        engine = engine_of(store)
        await engine.start(Given(parent), None, run_id="r")
        for run_id in ("r/0.0.0", "r/0.1.0"):
            await listed(store, run_id, "waiting")
        await engine.close()
        async with engine_of(store) as engine:
            (handle,) = await engine.recover([Given(parent), saying("wrong")])
            for run_id in ("r/0.0.0", "r/0.1.0"):
                await handle_of(engine, run_id).send("go")
            assert (await handle.result()).value == ["a", "b"]

    bounded(scenario())


def test_a_child_that_has_ended_is_not_run_again():
    async def scenario():
        store, ran = MemoryEventStore(), []

        async def child(run, input):
            ran.append(input)
            return input * 2

        async def parent(run, input):
            value = (await run.child(Given(child, "child"), 21)).value
            await run.wait_for("go")
            return value

        await interrupted(store, Given(parent))
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(parent))
            await handle.send("go")
            assert (await handle.result()).value == 42
        assert ran == [21]

    bounded(scenario())


def test_a_child_that_fails_is_an_outcome():
    async def scenario():
        async def child(run, input):
            raise KeyError("lost")

        async def parent(run, input):
            outcome = await run.child(Given(child, "child"), None)
            return [outcome.status, outcome.error["type"]]

        async with engine_of() as engine:
            assert (await engine.run(Given(parent), None)).value == ["failed", "KeyError"]

    bounded(scenario())


def test_a_child_that_does_not_match_its_log_is_the_error_of_the_parent_and_both_logs_stay_as_they_are():
    async def scenario():
        store = MemoryEventStore()

        def doing(name):
            async def child(run, input):
                await run.step(name, lambda: 1)
                await run.wait_for("go")

            return parent_of(Given(child, "child"))

        engine = engine_of(store)
        await engine.start(doing("a"), None, run_id="r")
        await listed(store, "r/0", "waiting")
        await engine.close()
        before = [await store.read("r"), await store.read("r/0")]
        async with engine_of(store) as engine:
            handle = await engine.resume("r", doing("b"))
            with pytest.raises(NonDeterminismError) as caught:
                await handle.result()
        assert caught.value.run_id == "r/0"
        assert [await store.read("r"), await store.read("r/0")] == before
        async with engine_of(store) as engine:
            handle = await engine.resume("r", doing("a"))
            await reached(store, "r/0", "aaa.run.waiting")
            await handle_of(engine, "r/0").send("go")
            assert (await handle.result()).status == "done"

    bounded(scenario())


@pytest.mark.parametrize("other", ["algorithm", "input"])
def test_a_child_whose_id_is_taken_by_another_run_is_an_error(other):
    async def scenario():
        async def stranger(run, input):
            return "a stranger"

        async def child(run, input):
            return "the child"

        async with engine_of() as engine:
            name = "stranger" if other == "algorithm" else "child"
            await engine.run(Given(stranger, name), "other input" if other == "input" else None, run_id="r/0")
            before = await engine.store.read("r/0")
            handle = await engine.start(parent_of(Given(child, "child")), None, run_id="r")
            try:
                outcome = await handle.result()
            except RunError as error:
                problem = str(error)
            else:
                assert (outcome.status, outcome.value) == ("failed", None)
                problem = outcome.error["message"]
            assert other in problem
            assert await engine.store.read("r/0") == before

    bounded(scenario())


def test_a_child_spends_from_the_budget_of_its_parent():
    async def scenario():
        async def child(run, input):
            for number in range(10):
                await run.llm(ask(f"question {number}"))

        async def parent(run, input):
            await run.llm(ask("first"))
            await run.child(Given(child, "child"), None)
            await run.llm(ask("after"))
            return "not reached"

        client = FakeLLMClient(lambda _: text("ok"))
        async with engine_of(client=client) as engine:
            outcome = await engine.run(Given(parent), None, budget=Budget(max_steps=4), run_id="r")
            assert outcome.status == "out_of_budget"
            assert len(client.requests) == 4
            assert {info.status for info in await engine.store.runs()} == {"out_of_budget"}

    bounded(scenario())


def test_a_budget_of_a_child_ends_the_child_alone_and_what_it_spent_counts_above():
    async def scenario():
        async def child(run, input):
            for number in range(10):
                await run.llm(ask(f"question {number}"))

        async def parent(run, input):
            outcome = await run.child(Given(child, "child"), None, budget=Budget(max_steps=2))
            await run.llm(ask("after"))
            return outcome.status

        async with engine_of() as engine:
            outcome = await engine.run(Given(parent), None, run_id="r")
            assert outcome.value == "out_of_budget"
            assert (await engine.store.read("r"))[-1].data["spent"]["steps"] == 3

    bounded(scenario())


def test_a_max_cost_that_cannot_be_kept_is_refused_for_a_child_too():
    async def scenario():
        async def child(run, input):
            await run.llm(ask("x"))

        async def parent(run, input):
            with pytest.raises((EffectError, ValueError)) as caught:
                await run.child(Given(child, "child"), None, budget=Budget(max_cost=0.01))
            return str(caught.value)

        client = FakeLLMClient(lambda _: text("ok"))
        async with engine_of(client=client) as engine:
            assert "max_cost" in (await engine.run(Given(parent), None)).value
        assert client.requests == []

    bounded(scenario())


def test_children_of_children_are_resumed_with_their_parents_and_do_nothing_twice():
    async def scenario():
        store, did = MemoryEventStore(), []

        async def work(run, waits):
            for number in range(3):
                await run.step(f"w{number}", lambda: did.append(run.run_id))
            return await run.wait_for("go") if waits else 0

        async def middle(run, waits):
            first = await run.child(Given(work, "work"), waits)
            return [first.value, (await run.child(Given(work, "work"), False)).value]

        async def top(run, input):
            outcomes = await run.gather(
                run.child(Given(middle, "middle"), False), run.child(Given(middle, "middle"), True)
            )
            return [outcome.value for outcome in outcomes]

        waiting = "r/0.1.0/0"
        engine = engine_of(store)
        await engine.start(Given(top, "top"), None, run_id="r")
        await listed(store, waiting, "waiting")
        await listed(store, "r/0.0.0", "done")
        await engine.close()
        async with engine_of(store) as engine:
            (handle,) = await engine.recover([Given(top, "top"), Given(middle, "middle"), Given(work, "work")])
            await handle_of(engine, waiting).send("go", 9)
            assert (await handle.result()).value == [[0, 0], [9, 0]]
        assert len(did) == 12
        assert {info.status for info in await store.runs()} == {"done"}

    bounded(scenario())
