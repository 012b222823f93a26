"""Recorded calls are recognised by their text, or by their digests where the text is another; nothing else passes."""

import msgspec
import pytest

from aaa.errors import NonDeterminismError
from aaa.llm import FakeLLMClient
from aaa.llm.fake import text
from aaa.messages import Message, TextPart, ToolCall
from aaa.runtime import MemoryEventStore
from aaa.tools import tool
from tests.runtime.making import Given, bounded, engine_of, interrupted, reached, visible

STEPS = 4


def talking(ask=lambda number: Message("user", f"question {number}")):
    """An algorithm that goes on with one conversation, waits, and asks once more."""

    async def talks(run, input):
        messages = []
        for number in range(STEPS + 1):
            if number == STEPS:
                await run.wait_for("go")
            messages.append(ask(number))
            messages.append((await run.llm(messages)).message)
        return len(messages)

    return Given(talks)


async def store_with(events):
    """A store with a log of these events."""
    store = MemoryEventStore()
    await store.submit("r", events[0])
    await store.append("r", 1, await store.claim("r"), events[1:])
    return store


def changed(events, change):
    """The events with their `conv` data as `change(key, conv)` makes it."""

    def new(event):
        if event.type != "aaa.llm.requested":
            return event
        data = event.data | {"conv": change(event.data["key"], event.data["conv"])}
        return msgspec.structs.replace(event, data=data)

    return [new(event) for event in events]


async def last_prompt(events, algorithm):
    """What is sent for the one call that is not recorded."""
    client = FakeLLMClient(lambda _: text("ok"))
    store = await store_with(events)
    async with engine_of(store, client=client) as engine:
        handle = await engine.resume("r", algorithm)
        await handle.send("go")
        assert (await handle.result()).value == 2 * (STEPS + 1)
    (request,) = client.requests
    return visible(request), await store.read("r")


def test_a_log_without_digests_of_messages_is_resumed_with_the_same_bytes():
    async def scenario():
        events = await interrupted(MemoryEventStore(), talking())
        older = changed(events, lambda _, conv: {name: conv[name] for name in conv if name != "digests"})
        assert older != events
        prompts = [await last_prompt(log, talking()) for log in (events, older)]
        assert prompts[0][0] == prompts[1][0]
        requests = [[e.data["conv"] for e in log if e.type == "aaa.llm.requested"][-1] for _, log in prompts]
        assert requests[0] == requests[1]
        assert len(requests[0]["digests"]) == len(requests[0]["delta"]) == 2

    bounded(scenario())


@pytest.mark.parametrize("different", [0, 2, STEPS - 1])
def test_a_call_that_is_another_object_for_the_same_conversation_is_recognised_by_its_digest(different):
    def ask(number):
        return Message("user", f"question {number}", extra='{"trace":1}' if number == different else "")

    async def scenario():
        events = await interrupted(MemoryEventStore(), talking())
        assert (await last_prompt(events, talking(ask)))[1][-1].type == "aaa.run.completed"

    bounded(scenario())


def test_messages_of_parts_are_recognised():
    def ask(number):
        return Message("user", (TextPart(f"question {number}"), TextPart("and more")))

    async def scenario():
        events = await interrupted(MemoryEventStore(), talking(ask))
        await last_prompt(events, talking(ask))

    bounded(scenario())


@pytest.mark.parametrize("different", range(STEPS))
def test_another_word_at_any_step_is_an_error_that_names_the_step(different):
    def ask(number):
        return Message("user", "another question" if number == different else f"question {number}")

    async def scenario():
        store = await store_with(await interrupted(MemoryEventStore(), talking()))
        async with engine_of(store) as engine:
            with pytest.raises(NonDeterminismError) as caught:
                await (await engine.resume("r", talking(ask))).result()
        assert caught.value.key == str(different)

    bounded(scenario())


@pytest.mark.parametrize("field", ["digest", "digests"])
def test_a_log_whose_digests_are_not_those_of_its_messages_is_refused_before_anything_is_sent(field):
    def damage(key, conv):
        wrong = {"digest": "0" * 32, "digests": ["0" * 32] * len(conv["delta"])}
        return conv | {field: wrong[field]} if key == "2" else conv

    async def scenario():
        client = FakeLLMClient([])
        store = await store_with(changed(await interrupted(MemoryEventStore(), talking()), damage))
        async with engine_of(store, client=client) as engine:
            handle = await engine.resume("r", talking())
            await handle.send("go")
            with pytest.raises(NonDeterminismError) as caught:
                await handle.result()
        assert caught.value.key == "2"
        assert client.requests == []

    bounded(scenario())


def test_a_conversation_changed_in_the_middle_is_told_from_the_one_that_grew():
    async def changes(run, input):
        messages = [Message("user", "a"), Message("user", "b")]
        await run.llm(messages)
        messages[0] = Message("user", input)
        await run.llm([*messages, Message("user", "c")])
        await run.wait_for("go")

    async def scenario():
        events = await interrupted(MemoryEventStore(), Given(changes), "a")
        other = [msgspec.structs.replace(events[0], data=events[0].data | {"input": "z"}), *events[1:]]
        async with engine_of(await store_with(other)) as engine:
            with pytest.raises(NonDeterminismError) as caught:
                await (await engine.resume("r", Given(changes))).result()
        assert caught.value.key == "1"

    bounded(scenario())


def test_a_tool_call_whose_arguments_were_redacted_is_recognised_by_its_digest():
    def redact(event):
        if event.type != "aaa.tool.requested":
            return event
        call = event.data["call"] | {"arguments": "redacted"}
        return msgspec.structs.replace(event, data=event.data | {"call": call})

    @tool
    async def look(topic: str) -> str:
        return topic

    async def calls(run, input):
        (result,) = await run.tools([ToolCall("1", "look", '{"topic":"secret"}')])
        await run.wait_for("go")
        return result.text

    async def scenario():
        store = MemoryEventStore()
        engine = engine_of(store, tools=[look], redact=redact)
        await engine.start(Given(calls), None, run_id="r")
        await reached(store, "r", "aaa.run.waiting")
        await engine.close()
        async with engine_of(store) as engine:  # without the tool: what is recorded is not called
            handle = await engine.resume("r", Given(calls))
            await handle.send("go")
            assert (await handle.result()).value == "secret"

    bounded(scenario())
