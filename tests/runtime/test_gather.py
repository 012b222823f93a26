"""Parallel branches: keys of their own, results in order, and nothing of one depends on the timing of another."""

import asyncio

import pytest

from aaa.context import ContextPolicy, HeuristicCounter
from aaa.llm import FakeLLMClient, LLMHandler
from aaa.messages import LLMResponse, Message, ToolCall, Usage
from aaa.runtime import Engine, MemoryEventStore
from aaa.runtime.prompts import prompt_at
from tests.runtime.making import Given, bounded, engine_of, fingerprint, interrupted, kinds, visible


def test_branches_have_keys_of_their_own_and_results_come_in_the_order_given():
    async def scenario():
        async def branch(run, name, count):
            return [await run.step(f"{name}{n}", lambda n=n: f"{name}{n}") for n in range(count)]

        async def both(run, input):
            first = await run.now()
            values = await run.gather(branch(run, "a", 2), branch(run, "b", 1))
            inner = await run.gather(run.gather(branch(run, "c", 1)))
            return [values, inner, isinstance(first, float), await run.step("last", lambda: 1)]

        async with engine_of() as engine:
            outcome = await engine.run(Given(both), None, run_id="r")
            log = await engine.store.read("r")
        assert outcome.value == [[["a0", "a1"], ["b0"]], [[["c0"]]], True, 1]
        requested = [event.data["key"] for event in log if event.type == "aaa.step.requested"]
        assert sorted(requested) == ["1.0.0", "1.0.1", "1.1.0", "2.0.0.0.0", "3"]

    bounded(scenario())


def test_all_branches_run_to_their_end_and_then_the_first_error_is_raised():
    async def scenario():
        did = []

        async def branch(run, name, fails):
            await run.step(name, lambda: did.append(name))
            if fails:
                raise ValueError(name)
            await run.step(name, lambda: did.append(name))

        async def three(run, input):
            with pytest.raises(ValueError, match="b"):
                await run.gather(branch(run, "a", False), branch(run, "b", True), branch(run, "c", True))
            return "caught"

        async with engine_of() as engine:
            assert (await engine.run(Given(three), None)).value == "caught"
        assert sorted(did) == ["a", "a", "b", "c"]

    bounded(scenario())


def test_branches_are_resumed_each_from_where_it_was():
    async def scenario():
        store, did = MemoryEventStore(), []

        async def branch(run, name, waits):
            await run.step(name, lambda: did.append(name))
            return await run.wait_for(name) if waits else name

        async def two(run, input):
            return await run.gather(branch(run, "a", False), branch(run, "b", True))

        await interrupted(store, Given(two))
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(two))
            await handle.send("b", "late")
            assert (await handle.result()).value == ["a", "late"]
        assert sorted(did) == ["a", "b"]

    bounded(scenario())


def test_two_branches_that_wait_for_the_same_name_get_one_message_each():
    async def scenario():
        async def two(run, input):
            return await run.gather(run.wait_for("go"), run.wait_for("go"))

        async with engine_of() as engine:
            handle = await engine.start(Given(two), None, run_id="r")
            await handle.send("go", 1)
            await handle.send("go", 2)
            assert sorted((await handle.result()).value) == [1, 2]

    bounded(scenario())


ORDER = "AB" * 8 + "B" * 4 + "A" * 4


class Ordered:
    """A model whose replies come in a given order of the branches, and whose usage differs from branch to branch."""

    def __init__(self, order: str) -> None:
        self.seen: dict[str, list[bytes]] = {"A": [], "B": [], "-": []}
        self._left = list(order)
        self._turn = asyncio.Condition()
        self.is_out = asyncio.Event()

    async def __call__(self, request):
        branch = request.params.get("branch", "-")
        self.seen[branch].append(visible(request))
        if branch != "-":
            async with self._turn:
                if not self._left:
                    self.is_out.set()
                await self._turn.wait_for(lambda: self._left and self._left[0] == branch)
                self._left.pop(0)
                self._turn.notify_all()
                if not self._left:
                    self.is_out.set()
        factor = {"A": 1.0, "B": 2.0}.get(branch, 1.0)
        usage = Usage(int(factor * HeuristicCounter().count(request.messages)), 10)
        return LLMResponse(Message("assistant", "a" * 600), usage)


def branching(has_shared_prefix):
    async def branch(run, messages, name):
        messages = list(messages)
        for number in range(12):
            messages.append((await run.llm(messages, params={"branch": name})).message)
            messages.append(Message("assistant", None, (ToolCall(f"c{number}", "look"),)))
            messages.append(Message("tool", f"{name} " * 500, tool_call_id=f"c{number}"))

    async def algorithm(run, input):
        messages = [Message("user", "task")]
        if has_shared_prefix:
            messages.append((await run.llm(messages)).message)
        await run.gather(branch(run, messages, "A"), branch(run, messages, "B"))
        return "done"

    return Given(algorithm)


def engine_with(store, model, sticky):
    engine = Engine(store)
    policy = ContextPolicy(4_000, reserve_output=0, sticky=sticky)
    LLMHandler(FakeLLMClient(model), context=policy).attach(engine)
    return engine


@pytest.mark.parametrize("sticky", [False, True], ids=["default", "sticky"])
@pytest.mark.parametrize("has_shared_prefix", [False, True], ids=["apart", "shared"])
def test_the_prompts_of_a_branch_do_not_depend_on_the_timing_of_another(sticky, has_shared_prefix):
    async def whole(order):
        store, model = MemoryEventStore(), Ordered(order)
        async with engine_with(store, model, sticky) as engine:
            assert (await engine.run(branching(has_shared_prefix), None, run_id="r")).value == "done"
        return model.seen, await store.read("r")

    async def scenario():
        seen, log = await whole(ORDER)
        assert any("context" in event.data for event in log if event.type == "aaa.llm.completed")
        for order in ("A" * 12 + "B" * 12, "B" * 12 + "A" * 12, "BA" * 12):
            assert (await whole(order))[0] == seen
        sent = sorted(prompt for prompts in seen.values() for prompt in prompts)
        calls = range(1, len(sent) + 1)
        assert sorted(fingerprint(prompt_at(log, call)) for call in calls) == sent

    bounded(scenario())


@pytest.mark.parametrize("sticky", [False, True], ids=["default", "sticky"])
@pytest.mark.parametrize("has_shared_prefix", [False, True], ids=["apart", "shared"])
def test_the_prompts_of_branches_go_on_byte_for_byte_after_a_restart_anywhere(sticky, has_shared_prefix):
    async def scenario():
        store, model = MemoryEventStore(), Ordered(ORDER)
        async with engine_with(store, model, sticky) as engine:
            await engine.run(branching(has_shared_prefix), None, run_id="r")
        seen = model.seen
        for cut in range(1, len(ORDER), 3):
            store, first, second = MemoryEventStore(), Ordered(ORDER[:cut]), Ordered(ORDER[cut:])
            engine = engine_with(store, first, sticky)
            await engine.start(branching(has_shared_prefix), None, run_id="r")
            await first.is_out.wait()
            await engine.close()
            async with engine_with(store, second, sticky) as engine:
                handle = await engine.resume("r", branching(has_shared_prefix))
                assert (await handle.result()).value == "done"
            for name in "AB":
                again = second.seen[name]
                assert again == seen[name][len(seen[name]) - len(again) :], (cut, name)

    bounded(scenario())


def test_effects_that_only_note_a_value_have_keys_of_their_branch_too():
    async def scenario():
        async def branch(run, name):
            await run.now()
            return name

        async def two(run, input):
            return await run.gather(branch(run, "a"), branch(run, "b"))

        async with engine_of() as engine:
            assert (await engine.run(Given(two), None, run_id="r")).value == ["a", "b"]
            assert sorted(kinds(await engine.store.read("r"))) == sorted(
                ["run.started", "step.completed 0.0.0", "step.completed 0.1.0", "run.completed"]
            )

    bounded(scenario())
