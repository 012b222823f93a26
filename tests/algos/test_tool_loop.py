"""The tool loop: inputs, system prompt, memory, turns, parallel calls, and what the model sees of failures."""

import asyncio
import threading

import pytest

from aaa.algos import ToolLoop
from aaa.llm import FakeLLMClient
from aaa.llm.fake import text, together, tool_call
from aaa.messages import Message
from aaa.runtime import MemoryEventStore
from aaa.tools import ToolRegistry, tool
from tests.runtime.making import bounded, engine_of, kinds


@tool
async def look(topic: str) -> str:
    """Look a topic up."""
    return f"notes on {topic}"


def run_loop(replies, input, tools=(look,), **settings):
    """The outcome of a loop on these replies, what the model was sent, and the log."""

    async def scenario():
        client = FakeLLMClient(replies)
        async with engine_of(client=client, tools=tools) as engine:
            outcome = await engine.run(ToolLoop(ToolRegistry(tools), **settings), input, run_id="r")
            return outcome, client.requests, await engine.store.read("r")

    return bounded(scenario())


def test_the_first_reply_without_a_call_is_the_answer():
    outcome, requests, log = run_loop([tool_call("look", topic="x"), text("It is x.")], {"task": "find x"})
    assert (outcome.status, outcome.value) == ("done", {"text": "It is x."})
    assert [message.role for message in requests[1].messages] == ["user", "assistant", "tool"]
    assert requests[1].messages[2].text == "notes on x"
    assert requests[1].messages[2].tool_call_id == requests[1].messages[1].tool_calls[0].id
    assert [spec.name for spec in requests[0].tools] == ["look"]
    assert kinds(log) == [
        "run.started",
        "llm.requested 0",
        "llm.completed 0",
        "tool.requested 1.0",
        "tool.completed 1.0",
        "llm.requested 2",
        "llm.completed 2",
        "run.completed",
    ]


def test_an_answer_without_text_is_an_empty_one():
    outcome, _, _ = run_loop([text("")], {"task": "say nothing"})
    assert outcome.value == {"text": ""}


def test_the_input_may_be_messages_of_the_openai_format():
    given = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "what is x?"},
    ]
    outcome, requests, _ = run_loop([text("x")], {"messages": given})
    assert outcome.value == {"text": "x"}
    assert [(message.role, message.text) for message in requests[0].messages] == [
        (message["role"], message["content"]) for message in given
    ]


@pytest.mark.parametrize(
    "input",
    [
        None,
        "a task",
        {},
        {"task": 1},
        {"messages": "hi"},
        {"messages": [{"content": "no role"}]},
        {"messages": [1]},
        [],
    ],
)
def test_any_other_input_is_a_failure_before_the_model_is_called(input):
    outcome, requests, _ = run_loop([text("not asked for")], input)
    assert outcome.status == "failed"
    assert outcome.error["type"] in ("RunError", "WireError")
    assert requests == []


def test_the_system_prompt_comes_first():
    _, requests, log = run_loop([text("x")], {"task": "find x"}, system="Be short.")
    assert [(message.role, message.text) for message in requests[0].messages] == [
        ("system", "Be short."),
        ("user", "find x"),
    ]
    assert log[0].data["config"]["system"] == "Be short."


def test_the_model_is_the_one_that_was_named():
    _, requests, _ = run_loop([text("x")], {"task": "find x"}, model="small")
    assert requests[0].model == "small"


def test_a_run_that_has_started_keeps_its_system_prompt_its_turns_and_its_memories():
    async def scenario():
        store, hang, recalled = MemoryEventStore(), asyncio.Event(), []

        def memory(word):
            def recall(input):
                recalled.append((word, input["task"]))
                return [f"{word} memory"]

            return recall

        async def hangs_at_second(request):
            if len(first.requests) == 2:
                hang.set()
                await asyncio.Event().wait()
            return tool_call("look", topic="x")

        first, second = FakeLLMClient(hangs_at_second), FakeLLMClient(lambda _: tool_call("look", topic="x"))
        registry = ToolRegistry([look])
        engine = engine_of(store, client=first, tools=[look])
        old = ToolLoop(registry, system="old", max_turns=3, memory=memory("old"))
        await engine.start(old, {"task": "t"}, run_id="r")
        await hang.wait()
        await engine.close()
        async with engine_of(store, client=second, tools=[look]) as engine:
            new = ToolLoop(registry, system="new", max_turns=9, memory=memory("new"))
            (handle,) = await engine.recover([new])
            assert (await handle.result()).status == "out_of_turns"
        assert recalled == [("old", "t")]
        assert len(second.requests) == 2
        assert second.requests[0].messages == first.requests[1].messages
        assert [message.text for message in second.requests[0].messages[:2]] == [
            "old",
            "What you know from earlier work:\n- old memory",
        ]

    bounded(scenario())


def test_a_run_that_started_with_memory_goes_on_in_a_program_without():
    async def scenario():
        store, hang = MemoryEventStore(), asyncio.Event()

        async def never(input):
            hang.set()
            await asyncio.Event().wait()

        registry = ToolRegistry([look])
        engine = engine_of(store, tools=[look])
        await engine.start(ToolLoop(registry, memory=never), {"task": "t"}, run_id="r")
        await hang.wait()
        await engine.close()
        async with engine_of(store, tools=[look]) as engine:
            outcome = await (await engine.resume("r", ToolLoop(registry))).result()
        assert outcome.value == {"text": "ok"}

    bounded(scenario())


def test_memories_stand_in_the_head_after_the_system_prompt():
    def recall(input):
        return ["the user likes tea", f"the task was {input['task']}"]

    _, requests, log = run_loop([text("x")], {"task": "t"}, system="Be short.", memory=recall)
    assert [(message.role, message.text) for message in requests[0].messages] == [
        ("system", "Be short."),
        ("system", "What you know from earlier work:\n- the user likes tea\n- the task was t"),
        ("user", "t"),
    ]
    assert kinds(log)[1:3] == ["step.requested 0", "step.completed 0"]


def test_memory_may_be_a_coroutine_function():
    async def recall(input):
        await asyncio.sleep(0)
        return ["the user likes tea"]

    _, requests, _ = run_loop([text("x")], {"task": "t"}, memory=recall)
    assert requests[0].messages[0] == Message("system", "What you know from earlier work:\n- the user likes tea")


def test_memory_may_be_an_object_with_an_async_call():
    class Recall:
        async def __call__(self, input):
            return ("the user likes tea",)

    _, requests, _ = run_loop([text("x")], {"task": "t"}, memory=Recall())
    assert "likes tea" in requests[0].messages[0].text


def test_sync_memory_runs_in_a_thread():
    threads = []

    def recall(input):
        threads.append(threading.current_thread())
        return []

    _, requests, _ = run_loop([text("x")], {"task": "t"}, memory=recall)
    assert threads[0] is not threading.main_thread()
    assert [message.role for message in requests[0].messages] == ["user"]


def test_memory_that_fails_fails_the_run():
    def recall(input):
        raise KeyError("lost")

    outcome, requests, _ = run_loop([text("x")], {"task": "t"}, memory=recall)
    assert (outcome.status, outcome.error["type"]) == ("failed", "EffectError")
    assert requests == []


def test_after_its_turns_the_run_ends_with_what_it_has():
    replies = [together(tool_call("look", topic=str(n)), content=f"thinking {n}") for n in range(9)]
    outcome, requests, log = run_loop(replies, {"task": "t"}, max_turns=3)
    assert (outcome.status, outcome.value) == ("out_of_turns", {"text": "thinking 2"})
    assert "max_turns" in outcome.error["message"]
    assert len(requests) == 3
    assert kinds(log)[-1] == "run.completed"


def test_fewer_than_one_turn_is_refused():
    with pytest.raises(ValueError, match="max_turns"):
        ToolLoop(ToolRegistry(), max_turns=0)


def test_calls_of_one_reply_run_at_the_same_time():
    gate = asyncio.Barrier(3)

    @tool
    async def meet(number: int) -> str:
        await gate.wait()
        return str(number)

    replies = [together(*(tool_call("meet", number=n) for n in range(3))), text("met")]
    outcome, requests, _ = run_loop(replies, {"task": "t"}, tools=(meet,))
    assert outcome.value == {"text": "met"}
    assert [message.text for message in requests[1].messages[2:]] == ["0", "1", "2"]


def test_the_model_sees_that_a_tool_is_unknown_and_goes_on():
    outcome, requests, log = run_loop([tool_call("peek", topic="x"), text("sorry")], {"task": "t"})
    assert outcome.value == {"text": "sorry"}
    assert "there is no tool 'peek'. The tools are: look." in requests[1].messages[-1].text
    assert "tool.failed 1.0" in kinds(log)


@pytest.mark.parametrize("arguments", [{}, {"topic": ["a list"]}, {"topic": "x", "colour": "red"}])
def test_the_model_sees_what_is_wrong_with_its_arguments_and_goes_on(arguments):
    outcome, requests, _ = run_loop([tool_call("look", **arguments), text("sorry")], {"task": "t"})
    assert outcome.value == {"text": "sorry"}
    assert requests[1].messages[-1].text.startswith("Error: ")


def test_the_model_sees_what_a_tool_raised_and_goes_on():
    @tool
    async def fail() -> str:
        raise KeyError("lost")

    outcome, requests, _ = run_loop([tool_call("fail"), text("sorry")], {"task": "t"}, tools=(fail,))
    assert outcome.value == {"text": "sorry"}
    assert "KeyError" in requests[1].messages[-1].text


def test_a_model_call_that_fails_for_good_fails_the_run():
    outcome, _, _ = run_loop([ValueError("refused")], {"task": "t"})
    assert (outcome.status, outcome.error["type"]) == ("failed", "EffectError")
    assert "ValueError" in outcome.error["message"]


def test_a_tool_added_to_the_registry_is_offered_from_then_on():
    async def scenario():
        registry = ToolRegistry([])

        async def model(request):
            if not registry.names:
                registry.add(look)
                return tool_call("nothing")
            return text(", ".join(spec.name for spec in request.tools))

        async with engine_of(client=FakeLLMClient(model)) as engine:
            assert (await engine.run(ToolLoop(registry), {"task": "t"})).value == {"text": "look"}

    bounded(scenario())
