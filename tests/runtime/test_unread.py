"""Messages of a log that are told by their text, and read only when somebody looks at them."""

import msgspec
import pytest

from aaa.llm import FakeLLMClient
from aaa.llm.fake import text
from aaa.messages import Message, ToolCall
from aaa.runtime import MemoryEventStore
from aaa.runtime.store import read_to_replay
from aaa.runtime.unread import UnreadMessages
from tests.runtime.making import Given, bounded, engine_of, interrupted

MESSAGES = [
    Message("assistant", tool_calls=(ToolCall("1", "look", '{"at":"é"}'),)),
    Message("tool", 'a "word"\n', tool_call_id="1"),
]


def unread(text_of_messages):
    return UnreadMessages(msgspec.Raw(text_of_messages))


def test_the_text_of_messages_is_theirs_and_of_no_others():
    kept = unread(msgspec.json.encode(MESSAGES))
    assert kept.is_text_of(MESSAGES)
    assert not kept.is_text_of(MESSAGES[:1])
    assert not kept.is_text_of([*MESSAGES[:1], Message("tool", 'a "Word"\n', tool_call_id="1")])


def test_messages_with_half_a_character_have_no_text():
    assert not unread(b"[]").is_text_of([Message("user", "\ud800")])


def test_they_are_read_as_a_list_is():
    kept, plain = unread(b' [ {"role": "user"}, {} ] '), [{"role": "user"}, {}]
    assert kept == plain
    assert kept != plain[:1]
    assert kept != None  # noqa: E711 - the comparison itself
    assert (len(kept), kept[0], kept[-1:], list(kept)) == (2, plain[0], plain[-1:], plain)
    assert kept == unread(b'[{"role":"user"},{}]')


@pytest.mark.parametrize("content", ["plain", "é\u2028\U0001f600", "half \ud800"])
def test_a_run_is_resumed_whatever_its_messages_hold(content):
    async def asks(run, input):
        reply = await run.llm([Message("user", content)])
        await run.wait_for("go")
        return reply.message.text

    async def scenario():
        store = MemoryEventStore()
        await interrupted(store, Given(asks))
        client = FakeLLMClient(lambda _: text("another"))
        async with engine_of(store, client=client) as engine:
            handle = await engine.resume("r", Given(asks))
            await handle.send("go")
            assert (await handle.result()).is_done
        assert client.requests == []

    bounded(scenario())


class Sealing(MemoryEventStore):
    """Keeps the content of messages in another form than it gives out."""

    async def read(self, run_id, after=0):
        return [
            msgspec.structs.replace(event, data=event.data | {"opened": True}) for event in await super().read(run_id)
        ]


def test_a_store_that_puts_its_own_read_over_that_of_another_is_asked_for_it():
    async def scenario():
        async def nothing(run, input):
            await run.wait_for("go")

        store = Sealing()
        await interrupted(store, Given(nothing))
        assert all(event.data["opened"] for event in await read_to_replay(store, "r"))

    bounded(scenario())
