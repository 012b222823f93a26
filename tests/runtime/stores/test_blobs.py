"""Large data: in a table of its own, once, and gone with the last run that uses it."""

import asyncio
import contextlib
import sqlite3

import pytest

from aaa.errors import StoreError
from aaa.runtime.stores import SQLiteEventStore
from aaa.runtime.stores.writing import BLOB_BYTES
from tests.runtime.stores.making import event

FRAME = len('{"text":""}')


def rows(path, query):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def blobs(path):
    return rows(path, "SELECT length(data) FROM blobs ORDER BY 1")


def test_only_data_above_the_limit_is_a_blob(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            for run_id, size in (("at", BLOB_BYTES), ("above", BLOB_BYTES + 1)):
                await store.submit(run_id, event("s", text="x" * (size - FRAME)))
                assert len((await store.read(run_id))[0].data["text"]) == size - FRAME
        assert rows(store.path, "SELECT run_id, data IS NULL, blob IS NULL FROM events ORDER BY 1") == [
            ("above", 1, 0),
            ("at", 0, 1),
        ]
        assert blobs(store.path) == [(BLOB_BYTES + 1,)]

    asyncio.run(scenario())


def test_equal_data_is_kept_once_until_its_last_run_is_deleted(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            for run_id in ("a", "b"):
                await store.submit(run_id, event("s", text="same" * 50_000))
                await store.append(
                    run_id, 1, None, [event("t", text="same" * 50_000), event("u", text=run_id * 90_000)]
                )
            assert len(blobs(store.path)) == 3
            assert await store.delete("a")
            assert blobs(store.path) == [(90_011,), (200_011,)]
            assert [len(stored.data["text"]) for stored in await store.read("b")] == [200_000, 200_000, 90_000]
            assert await store.delete("b")
            assert [blobs(store.path), *(rows(store.path, f"SELECT * FROM {t}") for t in ("events", "runs"))] == [
                []
            ] * 3

    asyncio.run(scenario())


def test_what_a_deleted_run_held_is_not_in_the_file_any_more(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            await store.submit("keep", event("s"))
            await store.submit("run", event("s", small="secret-small", large="secret-large" * 10_000))
        assert b"secret-small" in (tmp_path / "runs.db").read_bytes()
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            await store.delete("run")
        assert b"secret" not in (tmp_path / "runs.db").read_bytes()

    asyncio.run(scenario())


def test_fifty_megabytes_in_one_event(tmp_path):
    async def scenario():
        text = "0123456789" * 5_000_000
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            await store.submit("run", event("s"))
            assert await store.append("run", 1, None, [event("large", text=text)]) == 2
            [stored] = await store.read("run", after=1)
            assert stored.data["text"] == text

    asyncio.run(scenario())


def test_a_blob_that_is_missing_is_told(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            await store.submit("run", event("s", text="x" * 100_000))
            with contextlib.closing(sqlite3.connect(store.path)) as connection, connection:
                connection.execute("DELETE FROM blobs")
            with pytest.raises(StoreError, match="event 1 of run 'run' has lost its data"):
                await store.read("run")

    asyncio.run(scenario())
