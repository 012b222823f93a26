"""Subscriptions: woken by appends, read in pages, nothing left behind."""

import asyncio

import pytest

from aaa.runtime.stores import MemoryEventStore, SQLiteEventStore
from aaa.runtime.stores.following import PAGE_EVENTS, Bell, follow
from tests.runtime.stores.making import event

NEVER_SECONDS = 3600.0
WAIT_SECONDS = 30


def test_an_append_of_this_process_wakes_a_subscriber_without_polling(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db", poll_seconds=NEVER_SECONDS) as store:
            await store.submit("run", event("s"))
            subscription = store.subscribe("run")
            async with asyncio.timeout(WAIT_SECONDS):
                assert (await anext(subscription)).id == "s"
                for seq in range(1, 20):
                    [waiting] = [asyncio.ensure_future(anext(subscription))]
                    await asyncio.sleep(0)
                    await store.append("run", seq, None, [event(str(seq))])
                    assert (await waiting).id == str(seq)
            await subscription.aclose()

    asyncio.run(scenario())


def test_a_slow_reader_holds_one_page():
    asked: list[int] = []

    async def fetch(run_id, after, limit):
        asked.append(limit)
        page = [event(str(seq)) for seq in range(after + 1, after + 1 + limit)]
        return [type(each)(type="x", data={}, id=each.id, at=1.0, seq=int(each.id)) for each in page], False

    async def scenario():
        subscription = follow(Bell(), fetch, "run", after=0, poll_seconds=None)
        for _ in range(PAGE_EVENTS + 1):
            await anext(subscription)
        await subscription.aclose()

    asyncio.run(scenario())
    assert asked == [PAGE_EVENTS] * 2


def test_a_long_log_comes_whole(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            await store.submit("run", event("s"))
            await store.append("run", 1, None, [event(str(number)) for number in range(3 * PAGE_EVENTS)])
            await store.append("run", 3 * PAGE_EVENTS + 1, None, [event("end", "aaa.run.completed")])
            seqs = [each.seq async for each in store.subscribe("run")]
            assert seqs == list(range(1, 3 * PAGE_EVENTS + 3))

    asyncio.run(scenario())


@pytest.mark.parametrize("make", [lambda _: MemoryEventStore(), lambda path: SQLiteEventStore(path / "runs.db")])
def test_a_subscriber_that_leaves_is_forgotten(tmp_path, make):
    async def scenario():
        async with make(tmp_path) as store:
            await store.submit("run", event("s"))
            for _ in range(3):
                subscription = store.subscribe("run")
                await anext(subscription)
                assert store._bell._ears
                await subscription.aclose()
                assert not store._bell._ears

    asyncio.run(scenario())


def test_a_bell_rung_for_a_loop_that_ended_does_nothing():
    bell = Bell()
    ears = []

    async def listen():
        ears.append(bell.listening("run"))
        ears[0].__enter__()

    asyncio.run(listen())
    bell.ring(["run"])
    bell.ring_all()
    ears[0].__exit__(None, None, None)


def test_closing_wakes_those_who_wait(tmp_path):
    async def waiting_when_closed(store):
        await store.submit("run", event("s"))
        subscription = store.subscribe("run", after=1)
        [waiting] = [asyncio.ensure_future(anext(subscription))]
        await asyncio.sleep(0)
        await store.close()
        async with asyncio.timeout(WAIT_SECONDS):
            with pytest.raises(Exception, match="closed"):
                await waiting

    asyncio.run(waiting_when_closed(MemoryEventStore()))
    asyncio.run(waiting_when_closed(SQLiteEventStore(tmp_path / "runs.db", poll_seconds=NEVER_SECONDS)))
