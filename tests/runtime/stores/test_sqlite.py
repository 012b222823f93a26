"""The SQLite store as a whole: loops, reopening, other processes, reading beside writing."""

import asyncio
import sqlite3

import pytest

from aaa.errors import StoreError
from aaa.runtime.stores import SQLiteEventStore
from tests.runtime.stores.making import event
from tests.runtime.stores.processes import WAIT_SECONDS, running


def test_a_store_made_outside_a_loop_serves_several_one_after_the_other(tmp_path):
    store = SQLiteEventStore(tmp_path / "runs.db")
    assert asyncio.run(store.submit("run", event("s")))
    epoch = asyncio.run(store.claim("run"))
    assert [asyncio.run(store.append("run", seq, epoch, [event(str(seq))])) for seq in (1, 2, 3)] == [2, 3, 4]
    assert len(asyncio.run(store.read("run"))) == 4
    asyncio.run(store.close())


def test_everything_is_there_after_reopening(tmp_path):
    async def write():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            await store.submit("run", event("s", at=1.5))
            await store.append("run", 1, await store.claim("run", token=5), [event("a", at=2.5, text="x" * 90_000)])
            return await store.read("run"), await store.runs()

    async def look():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            found = await store.read("run"), await store.runs()
            assert await store.append("run", 2, 5, [event("b")]) == 3  # the epoch is in force still
            return found

    assert asyncio.run(write()) == asyncio.run(look())


@pytest.mark.parametrize("name", ["a b.db", "100%25.db", "runs.db#x", "f\xfc\U0001f600.db", "quote'.db"])
def test_any_file_name_will_do(tmp_path, name):
    async def scenario():
        async with SQLiteEventStore(tmp_path / name) as store:
            await store.submit("run", event("s"))
            assert len(await store.read("run")) == 1
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, f"{name}.lock"])

    asyncio.run(scenario())


def test_readers_see_whole_appends_while_writers_write(tmp_path):
    async def write(store):
        await store.submit("run", event("1"))
        for seq in range(1, 200, 2):
            await store.append("run", seq, None, [event(str(seq + 1)), event(str(seq + 2))])

    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            await store.submit("other", event("1"))
            writing = asyncio.create_task(write(store))
            seen = 0
            while not writing.done():
                heads = {info.run_id: info.head for info in await store.runs()}
                events = await store.read("run") if "run" in heads else []
                assert [stored.id for stored in events] == [str(number) for number in range(1, len(events) + 1)]
                assert len(events) % 2 == 1 or not events
                assert len(events) >= heads.get("run", 0) >= seen
                seen = len(events)
            await writing
            assert len(await store.read("run")) == 201

    asyncio.run(scenario())


FOLLOWER = """
async def main():
    async with SQLiteEventStore(path, poll_seconds=0.01) as store:
        async for each in store.subscribe("run"):
            say(each.id)

asyncio.run(main())
"""


def test_a_reader_in_another_process_follows_a_run(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            await store.submit("run", event("s"))
            with running(FOLLOWER, store.path) as follower:
                assert follower.stdout.readline() == "s\n"
                for seq in range(1, 5):
                    await store.append("run", seq, None, [event(str(seq))])
                    assert follower.stdout.readline() == f"{seq}\n"
                await store.append("run", 5, None, [event("end", "aaa.run.completed")])
                assert follower.stdout.readline() == "end\n"
                assert follower.wait(WAIT_SECONDS) == 0

    asyncio.run(scenario())


OUTSIDER = """
async def main():
    async with SQLiteEventStore(path) as store:
        await store.append("run", 1, None, [event("sent", "aaa.run.received")])
        await hear()
        await store.append("run", 2, None, [event("end", "aaa.run.completed")])

asyncio.run(main())
"""


def test_what_another_process_sends_reaches_a_subscriber(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db", poll_seconds=0.01) as store:
            await store.submit("run", event("s"))
            await store.claim("run")
            with running(OUTSIDER, store.path) as outsider:
                async with asyncio.timeout(WAIT_SECONDS):
                    seen: list[str] = []
                    async for each in store.subscribe("run"):
                        seen.append(each.id)
                        if each.id == "sent":
                            outsider.stdin.write("\n")
                            outsider.stdin.flush()
                assert seen == ["s", "sent", "end"]

    asyncio.run(scenario())


def test_a_read_that_fails_says_so_and_the_next_one_works(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db", busy_timeout_seconds=0.05) as store:
            await store.submit("run", event("s"))
            hidden = sqlite3.connect(store.path, isolation_level=None)
            hidden.execute("ALTER TABLE events RENAME TO hidden")
            with pytest.raises(StoreError, match=r"cannot read .*runs.db: no such table: events") as caught:
                await store.read("run")
            assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
            hidden.execute("ALTER TABLE hidden RENAME TO events")
            hidden.close()
            assert len(await store.read("run")) == 1

    asyncio.run(scenario())
