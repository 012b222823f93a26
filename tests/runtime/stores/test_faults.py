"""Failure at the n-th statement, for every n: an error means nothing was written, and the next write works."""

import asyncio
import contextlib
import sqlite3

import pytest

from aaa.errors import ConflictError, StoreError
from aaa.runtime.stores import SQLiteEventStore
from tests.runtime.stores.making import Faults, event, failing

LARGE = "x" * 100_000


async def scenario(store):
    """Write, and after each error look: what succeeded is there, what failed is not. Returns the errors."""
    errors: list[StoreError] = []

    async def attempt(write):
        try:
            return await write
        except StoreError as error:
            errors.append(error)
            return None

    if await attempt(store.submit("run", event("s"))) is None:
        assert await store.runs() == []
        assert await store.submit("run", event("s"))
    epoch = await attempt(store.claim("run")) or await store.claim("run")
    ids = ["s"]
    for batch in (["a"], ["b", "large", "c"], ["d"]):
        new = [event(id, text=LARGE if id == "large" else id) for id in batch]
        if await attempt(store.append("run", len(ids), epoch, new)) is not None:
            ids += batch
        assert [stored.id for stored in await store.read("run")] == ids
    if not errors:
        assert ids == ["s", "a", "b", "large", "c", "d"]
    if await attempt(store.append("run", len(ids), epoch, [event("last")])) is None:
        assert await store.append("run", len(ids), epoch, [event("last")]) == len(ids) + 1
    if await attempt(store.delete("run")) is None:
        await store.delete("run")
    assert await store.runs() == []
    return errors


async def count_statements(path):
    faults = Faults(-1, "never")
    async with SQLiteEventStore(path, connect=failing(faults)) as store:
        faults.left = -1
        assert await scenario(store) == []
    return -faults.left


@pytest.mark.parametrize(("is_late", "problem"), [(False, "database or disk is full"), (True, "disk I/O error")])
def test_a_failure_at_any_statement_loses_nothing_and_leaves_nothing(tmp_path, is_late, problem):
    async def every_statement():
        total = await count_statements(tmp_path / "count.db")
        hit: list[str] = []
        for number in range(1, total):
            faults = Faults(-1, problem, is_late=is_late)
            async with SQLiteEventStore(tmp_path / f"{number}.db", connect=failing(faults)) as store:
                faults.left = number
                errors = await scenario(store)
            assert all(isinstance(error.__cause__, sqlite3.OperationalError) for error in errors)
            assert all(problem in str(error) for error in errors)
            hit.append(faults.hit)
        return hit

    hit = asyncio.run(every_statement())
    assert {"BEGIN IMMEDIATE", "SAVEPOINT job", "RELEASE job", "COMMIT"} <= set(hit)
    assert len(hit) > 30


def test_an_append_whose_commit_answered_with_an_error_though_it_was_made_succeeds(tmp_path):
    async def late_commit():
        faults = Faults(-1, "disk I/O error", is_late=True)
        async with SQLiteEventStore(tmp_path / "runs.db", connect=failing(faults)) as store:
            await store.submit("run", event("s"))
            faults.left = 7  # BEGIN, SAVEPOINT, SELECT, INSERT, UPDATE, RELEASE, COMMIT
            assert await store.append("run", 1, None, [event("a")]) == 2
            assert faults.hit == "COMMIT"
            with pytest.raises(ConflictError):
                await store.append("run", 1, None, [event("a")])

    asyncio.run(late_commit())


def test_a_connection_that_cannot_even_roll_back_is_replaced(tmp_path):
    async def broken():
        faults = Faults(-1, "disk I/O error")
        connections: list[sqlite3.Connection] = []

        def connect(path, timeout):
            connections.append(failing(faults)(path, timeout))
            return connections[-1]

        async with SQLiteEventStore(tmp_path / "runs.db", connect=connect) as store:
            await store.submit("run", event("s"))
            first = faults.execute

            def execute(do, sql):
                if sql in ("COMMIT", "ROLLBACK"):
                    raise sqlite3.OperationalError("disk I/O error")
                return first(do, sql)

            faults.execute = execute
            with pytest.raises(StoreError, match="disk I/O error"):
                await store.append("run", 1, None, [event("a")])
            faults.execute = first
            assert await store.append("run", 1, None, [event("b")]) == 2
            assert [stored.id for stored in await store.read("run")] == ["s", "b"]
        assert len(connections) == 2

    asyncio.run(broken())


def test_a_database_locked_by_another_fails_after_a_bounded_wait_and_the_next_append_works(tmp_path):
    async def locked():
        async with SQLiteEventStore(tmp_path / "runs.db", busy_timeout_seconds=0.05) as store:
            await store.submit("run", event("s"))
            with contextlib.closing(sqlite3.connect(store.path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                appends = [store.append("run", 1, None, [event(str(number))]) for number in range(4)]
                results = await asyncio.gather(*appends, return_exceptions=True)
                assert len(await store.read("run")) == 1  # readers wait for nobody
                other.execute("ROLLBACK")
            for result in results:
                assert isinstance(result, StoreError)
                assert "database is locked" in str(result)
                assert isinstance(result.__cause__, sqlite3.OperationalError)
            assert await store.append("run", 1, None, [event("a")]) == 2

    asyncio.run(locked())


def test_an_append_of_nothing_that_could_not_compare_is_an_error(tmp_path):
    async def scenario():
        faults = Faults(-1, "disk I/O error")
        async with SQLiteEventStore(tmp_path / "runs.db", connect=failing(faults)) as store:
            await store.submit("run", event("s"))
            faults.left = 1
            with pytest.raises(StoreError, match="disk I/O error"):
                await store.append("run", 7, None, [])

    asyncio.run(scenario())


def test_an_append_whose_outcome_cannot_even_be_read_says_so(tmp_path):
    async def scenario():
        faults = Faults(-1, "disk I/O error", is_late=True)
        async with SQLiteEventStore(tmp_path / "runs.db", connect=failing(faults)) as store:
            await store.submit("run", event("s"))
            with contextlib.closing(sqlite3.connect(store.path, isolation_level=None)) as other:
                other.execute("ALTER TABLE events RENAME TO hidden")
                faults.left = 1
                with pytest.raises(StoreError, match="whether it was written cannot be read now"):
                    await store.append("run", 1, None, [event("a")])
                other.execute("ALTER TABLE hidden RENAME TO events")

    asyncio.run(scenario())
