"""Large loads: they end, and the log is whole."""

import asyncio

import pytest

from aaa.algos import ToolLoop
from aaa.context import ContextPolicy
from aaa.llm import FakeLLMClient
from aaa.llm.fake import text, together, tool_call
from aaa.runtime import MemoryEventStore, SQLiteEventStore
from aaa.tools import ToolRegistry, tool
from tests.runtime.making import Given, bounded, engine_of, interrupted

stores = pytest.mark.parametrize("name", ["memory", "sqlite"])


def store_at(tmp_path, name):
    return MemoryEventStore() if name == "memory" else SQLiteEventStore(tmp_path / "runs.db")


@stores
def test_a_tool_result_of_fifty_megabytes_is_kept_whole_and_sent_cut(tmp_path, name):
    async def scenario():
        size, sent = 50_000_000, []

        @tool
        def dump() -> str:
            return "x" * size

        def model(request):
            sent.append(sum(len(message.text) for message in request.messages))
            return tool_call("dump") if len(sent) == 1 else text("done")

        async with store_at(tmp_path, name) as store:
            policy = ContextPolicy(10_000)
            async with engine_of(store, client=FakeLLMClient(model), tools=[dump], context=policy) as engine:
                outcome = await engine.run(ToolLoop(ToolRegistry([dump])), {"task": "x"}, run_id="r")
            log = await store.read("r")
        (result,) = [event for event in log if event.type == "aaa.tool.completed"]
        assert outcome.value == {"text": "done"}
        assert len(result.data["content"]) == size
        assert len(sent) == 2
        assert sent[1] < 40_000

    bounded(scenario())


@stores
@pytest.mark.parametrize("in_threads", [False, True], ids=["loop", "threads"])
def test_ten_thousand_calls_in_one_reply_all_have_their_result(tmp_path, name, in_threads):
    async def scenario():
        count = 10_000

        async def in_loop(number: int) -> str:
            return str(number)

        def in_thread(number: int) -> str:
            return str(number)

        square = tool(name="square")(in_thread if in_threads else in_loop)
        replies = [together(*(tool_call("square", number=n) for n in range(count))), text("done")]
        client = FakeLLMClient(replies)
        async with store_at(tmp_path, name) as store:
            async with engine_of(store, client=client, tools=[square]) as engine:
                outcome = await engine.run(ToolLoop(ToolRegistry([square])), {"task": "x"}, run_id="r")
            log = await store.read("r")
        assert outcome.status == "done"
        assert [message.text for message in client.requests[1].messages[2:]] == [str(n) for n in range(count)]
        assert [event.seq for event in log] == list(range(1, len(log) + 1))
        assert len({event.data["key"] for event in log if event.type == "aaa.tool.completed"}) == count

    bounded(scenario())


@stores
def test_a_run_of_five_thousand_events_is_resumed_without_a_call(tmp_path, name):
    async def scenario():
        turns, asked, full = 1_250, [], asyncio.Event()

        @tool
        async def look() -> str:
            return "seen"

        async def model(request):
            asked.append(1)
            if len(asked) == turns:
                full.set()
                await asyncio.Event().wait()
            return tool_call("look") if len(asked) < turns else text("done")

        def engine_on(store):
            return engine_of(store, client=FakeLLMClient(model), tools=[look])

        loop = ToolLoop(ToolRegistry([look]), max_turns=turns + 1)
        async with store_at(tmp_path, name) as store:
            engine = engine_on(store)
            await engine.start(loop, {"task": "x"}, run_id="r")
            await full.wait()
            await engine.close()
            before = await store.read("r")
            async with engine_on(store) as engine:
                assert (await (await engine.resume("r", loop)).result()).value == {"text": "done"}
            log = await store.read("r")
        assert len(before) >= 4 * (turns - 1)
        assert len(asked) == turns + 1
        assert log[: len(before)] == before
        assert [event.seq for event in log] == list(range(1, len(log) + 1))

    bounded(scenario())


def test_a_thousand_runs_at_once_all_end():
    async def scenario():
        async def three(run, number):
            return [await run.step(name, noop) for name in "abc"] + [number]

        async def noop():
            return 1

        async with engine_of() as engine:
            handles = [await engine.start(Given(three), number) for number in range(1_000)]
            assert [(await handle.result()).value[-1] for handle in handles] == list(range(1_000))

    bounded(scenario())


def test_a_run_that_waits_with_much_in_its_log_receives_what_is_sent():
    async def scenario():
        store = MemoryEventStore()

        async def many(run, input):
            for _ in range(1_000):
                await run.now()
            return await run.wait_for("go")

        assert len(await interrupted(store, Given(many))) == 1_002
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(many))
            await handle.send("go", "x" * 1_000_000)
            assert len((await handle.result()).value) == 1_000_000

    bounded(scenario())
