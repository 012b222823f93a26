"""Opening: files of every version, of others, and of nobody."""

import asyncio
import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from aaa.errors import StoreError
from aaa.runtime.stores import SQLiteEventStore
from aaa.runtime.stores.schema import APPLICATION_ID, MIGRATIONS, connect, open_database
from tests.runtime.stores.making import event

# A database as version 1 wrote it. Never to be changed: it stands for the files that users have.
VERSION_1 = """
PRAGMA journal_mode = WAL;
CREATE TABLE runs (
    run_id TEXT NOT NULL PRIMARY KEY, status TEXT NOT NULL, head INTEGER NOT NULL, epoch INTEGER NOT NULL,
    started_at REAL NOT NULL, updated_at REAL NOT NULL
);
CREATE TABLE events (
    run_id TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, epoch INTEGER NOT NULL, type TEXT NOT NULL,
    at REAL NOT NULL, version INTEGER NOT NULL, data TEXT, blob TEXT, PRIMARY KEY (run_id, seq)
);
CREATE TABLE blobs (hash TEXT NOT NULL PRIMARY KEY, data BLOB NOT NULL);
CREATE INDEX events_by_blob ON events (blob) WHERE blob IS NOT NULL;
INSERT INTO runs VALUES ('run', 'waiting', 2, 3, 1.5, 2.5);
INSERT INTO events VALUES ('run', 1, 'one', 0, 'aaa.run.started', 1.5, 1, '{"input":"caf\u00e9"}', NULL);
INSERT INTO events VALUES ('run', 2, 'two', 3, 'aaa.run.waiting', 2.5, 1, NULL, 'abc');
INSERT INTO blobs VALUES ('abc', CAST('{"key":"1","name":"approval","wake_at":null}' AS BLOB));
PRAGMA application_id = 1633771877;
PRAGMA user_version = 1;
"""


def made(path, script):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def layout(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: connection.execute(f"PRAGMA table_info({table})").fetchall() for table in sorted(tables)}


def version(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]


def test_a_database_of_version_1_is_read_and_written_on(tmp_path):
    async def scenario():
        async with SQLiteEventStore(made(tmp_path / "old.db", VERSION_1)) as store:
            one, two = await store.read("run")
            assert (one.id, one.data, one.epoch, one.at, one.version) == ("one", {"input": "caf\xe9"}, 0, 1.5, 1)
            assert two.data == {"key": "1", "name": "approval", "wake_at": None}
            assert await store.claim("run") == 4
            assert await store.append("run", 2, 4, [event("three")]) == 3

    asyncio.run(scenario())


def test_a_new_database_has_the_tables_of_a_migrated_one(tmp_path):
    open_database(str(tmp_path / "new.db"), 1.0).close()
    open_database(str(made(tmp_path / "old.db", VERSION_1)), 1.0).close()
    assert layout(tmp_path / "new.db") == layout(tmp_path / "old.db")
    assert version(tmp_path / "new.db") == version(tmp_path / "old.db") == [APPLICATION_ID, len(MIGRATIONS)]


def test_migrations_are_applied_in_order_and_once(tmp_path):
    path = str(made(tmp_path / "old.db", VERSION_1))
    later = (*MIGRATIONS, ["ALTER TABLE runs ADD COLUMN note TEXT"], ["UPDATE runs SET note = 'moved'"])
    for _ in range(2):
        with contextlib.closing(open_database(path, 1.0, migrations=later)) as connection:
            assert connection.execute("SELECT note FROM runs").fetchall() == [("moved",)]
    assert version(path)[1] == len(MIGRATIONS) + 2


def test_a_migration_that_fails_changes_nothing(tmp_path):
    path = str(made(tmp_path / "old.db", VERSION_1))
    broken = (*MIGRATIONS, ["ALTER TABLE runs ADD COLUMN note TEXT", "DELETE FROM missing"])
    before = layout(path)
    with pytest.raises(StoreError, match=r"cannot open .*no such table: missing"):
        open_database(path, 1.0, migrations=broken)
    assert (layout(path), version(path)[1]) == (before, 1)


def test_a_newer_database_is_refused(tmp_path):
    path = made(tmp_path / "new.db", VERSION_1 + "PRAGMA user_version = 99;")
    with pytest.raises(StoreError, match="has schema version 99; this release reads versions up to 1"):
        SQLiteEventStore(path)


@pytest.mark.parametrize(
    "script", ["CREATE TABLE notes (text)", "PRAGMA user_version = 1", "PRAGMA application_id = 7"]
)
def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path, script):
    path = made(tmp_path / "other.db", script)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is a SQLite database of something else"):
        SQLiteEventStore(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are notes" * 100)
    with pytest.raises(StoreError, match=r"cannot open .*notes.txt: file is not a database"):
        SQLiteEventStore(path)
    assert path.read_text() == "these are notes" * 100


def test_an_empty_file_becomes_a_database(tmp_path):
    (tmp_path / "empty.db").touch()
    open_database(str(tmp_path / "empty.db"), 1.0).close()
    assert version(tmp_path / "empty.db") == [APPLICATION_ID, len(MIGRATIONS)]


@pytest.mark.parametrize("name", ["missing/runs.db", "."])
def test_a_path_that_cannot_be_a_file_is_refused(tmp_path, name):
    with pytest.raises(StoreError, match="unable to open database file"):
        SQLiteEventStore(tmp_path / name)


@pytest.mark.parametrize("name", [":memory:", ""])
def test_a_database_in_memory_is_refused_with_a_hint(name):
    with pytest.raises(StoreError, match="MemoryEventStore"):
        SQLiteEventStore(name)


def test_a_database_is_durable_and_shared(tmp_path):
    with contextlib.closing(open_database(str(tmp_path / "runs.db"), 1.0)) as connection:
        settings = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
        }
    assert settings == {"journal_mode": "wal", "synchronous": 2}


def test_many_may_make_the_same_database_at_once(tmp_path):
    path = str(tmp_path / "runs.db")
    with ThreadPoolExecutor(8) as threads:
        for connection in threads.map(lambda _: open_database(path, 10.0), range(8)):
            connection.close()
    assert version(path) == [APPLICATION_ID, len(MIGRATIONS)]


def test_a_database_that_stays_locked_while_it_is_made_is_an_error(tmp_path):
    path = str(tmp_path / "runs.db")
    with contextlib.closing(connect(path, 1.0)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match=r"cannot open .*database is locked"):
            open_database(path, 0.05)
