"""Group commit: what waits together is committed together, and each append stands or falls alone."""

import asyncio
import contextlib
import sqlite3

import pytest

from aaa.errors import ConflictError, StoreError
from aaa.runtime.store import settled
from aaa.runtime.stores import SQLiteEventStore
from tests.runtime.stores.making import event, tracing

WRITERS = 64


@contextlib.contextmanager
def write_lock(path):
    """Hold SQLite's write lock, so that the store's writer has to wait."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


async def submitted(store, count):
    run_ids = [f"run{number}" for number in range(count)]
    await asyncio.gather(*(store.submit(run_id, event("s")) for run_id in run_ids))
    return run_ids


async def queue_all(writes):
    """Start all writes; they stand in the queue when this returns."""
    tasks = [asyncio.ensure_future(write) for write in writes]
    await asyncio.sleep(0)
    return tasks


def test_waiting_appends_share_a_commit(tmp_path):
    statements: list[str] = []

    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db", connect=tracing(statements)) as store:
            run_ids = await submitted(store, WRITERS)
            statements.clear()
            with write_lock(store.path):
                tasks = await queue_all(store.append(run_id, 1, None, [event("a")]) for run_id in run_ids)
            assert await asyncio.gather(*tasks) == [2] * WRITERS

    asyncio.run(scenario())
    # The first that the writer took from the queue, and all that came while it waited for the lock.
    assert statements.count("COMMIT") <= 2
    assert statements.count("SAVEPOINT job") == WRITERS


def test_a_group_size_of_one_commits_each(tmp_path):
    statements: list[str] = []

    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db", connect=tracing(statements), group_size=1) as store:
            run_ids = await submitted(store, 8)
            statements.clear()
            await asyncio.gather(*(store.append(run_id, 1, None, [event("a")]) for run_id in run_ids))

    asyncio.run(scenario())
    assert statements.count("COMMIT") == 8


def test_a_refused_append_fails_alone_in_its_group(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            run_ids = await submitted(store, 8)
            with write_lock(store.path):
                heads = [5 if number == 3 else 1 for number in range(8)]
                appends = zip(run_ids, heads, strict=True)
                tasks = await queue_all(store.append(run_id, head, None, [event("a")]) for run_id, head in appends)
            results = await asyncio.gather(*tasks, return_exceptions=True)
            lengths = [len(await store.read(run_id)) for run_id in run_ids]
        assert isinstance(results.pop(3), ConflictError)
        assert results == [2] * 7
        assert lengths == [2, 2, 2, 1, 2, 2, 2, 2]

    asyncio.run(scenario())


def test_an_append_that_fills_the_disk_fails_alone_in_its_group(tmp_path):
    async def scenario():
        full = tracing([], "page_size = 4096", "max_page_count = 100")
        async with SQLiteEventStore(tmp_path / "runs.db", connect=full) as store:
            run_ids = await submitted(store, 8)
            with write_lock(store.path):
                texts = ["x" * 1_000_000 if number == 3 else "x" for number in range(8)]
                appends = zip(run_ids, texts, strict=True)
                writes = (store.append(run_id, 1, None, [event("a", text=text)]) for run_id, text in appends)
                tasks = await queue_all(writes)
            results = await asyncio.gather(*tasks, return_exceptions=True)
            refused = results.pop(3)
            assert isinstance(refused, StoreError)
            assert "disk is full" in str(refused)
            assert isinstance(refused.__cause__, sqlite3.OperationalError)
            assert results == [2] * 7
            assert [len(await store.read(run_id)) for run_id in run_ids] == [2, 2, 2, 1, 2, 2, 2, 2]
            assert await store.append("run3", 1, None, [event("a", text="small")]) == 2

    asyncio.run(scenario())


def test_appends_of_one_run_keep_their_order_within_a_group(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            await submitted(store, 1)
            with write_lock(store.path):
                writes = (store.append("run0", seq, None, [event(str(seq))]) for seq in range(1, 9))
                tasks = await queue_all(writes)
            assert await asyncio.gather(*tasks) == list(range(2, 10))

    asyncio.run(scenario())


def test_64_concurrent_writers_leave_no_gap_and_no_duplicate(tmp_path):
    async def write(store, run_id):
        epoch = await store.claim(run_id)
        for seq in range(1, 40, 2):
            assert await store.append(run_id, seq, epoch, [event(f"{seq}a"), event(f"{seq}b")]) == seq + 2

    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            run_ids = await submitted(store, WRITERS)
            await asyncio.gather(*(write(store, run_id) for run_id in run_ids))
            expected = ["s"] + [f"{seq}{letter}" for seq in range(1, 40, 2) for letter in "ab"]
            for run_id in run_ids:
                events = await store.read(run_id)
                assert [stored.seq for stored in events] == list(range(1, 42))
                assert [stored.id for stored in events] == expected

    asyncio.run(scenario())


def test_a_cancelled_append_is_settled_by_reading(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            await submitted(store, 1)
            ours = [event("ours")]
            with write_lock(store.path):
                [append] = await queue_all([store.append("run0", 1, None, ours)])
                append.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await append
            assert await store.append("run0", 2, None, [event("next")]) == 3  # the writer goes on in order
            assert await settled(store, "run0", 1, ours)

    asyncio.run(scenario())


def test_close_waits_for_what_is_queued(tmp_path):
    async def scenario():
        store = SQLiteEventStore(tmp_path / "runs.db")
        run_ids = await submitted(store, 8)
        with write_lock(store.path):
            tasks = await queue_all(store.append(run_id, 1, None, [event("a")]) for run_id in run_ids)
            [closing] = await queue_all([store.close()])
        await closing
        assert await asyncio.gather(*tasks) == [2] * 8

    asyncio.run(scenario())


def test_a_loop_that_ended_takes_nothing_with_it(tmp_path):
    store = SQLiteEventStore(tmp_path / "runs.db")

    async def leave_behind():
        await submitted(store, 1)
        await queue_all([store.append("run0", 1, None, [event("a")])])

    async def look():
        async with store:
            await store.submit("other", event("s"))  # behind the append in the queue
            assert len(await store.read("run0")) == 2

    asyncio.run(leave_behind())
    asyncio.run(look())


def test_an_append_that_fails_half_way_leaves_nothing_in_its_group(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            run_ids = await submitted(store, 3)
            with contextlib.closing(sqlite3.connect(store.path, isolation_level=None)) as other:
                stray = "INSERT INTO events VALUES ('run1', 3, 'stray', 0, 'x', 1.0, 1, '{}', NULL)"
                other.execute(stray)  # in the way of the second event of the append
            with write_lock(store.path):
                writes = (store.append(run_id, 1, None, [event("a"), event("b")]) for run_id in run_ids)
                tasks = await queue_all(writes)
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert "UNIQUE constraint failed" in str(results.pop(1))
            assert results == [3, 3]
            assert [stored.id for stored in await store.read("run1")] == ["s", "stray"]

    asyncio.run(scenario())
