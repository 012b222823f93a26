"""The tables, their migrations, and opening a database file with them.

`application_id` says that a file is ours, `user_version` how many of the migrations it has had. A release reads every
older version, by migrating it when it is opened, and refuses a newer one.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Generator, Sequence

from aaa.errors import StoreError

__all__ = ["APPLICATION_ID", "MIGRATIONS", "Connect", "connect", "open_database", "store_error"]

Connect = Callable[[str, float], sqlite3.Connection]

APPLICATION_ID = 0x61616165  # "aaae"

MIGRATIONS: Sequence[Sequence[str]] = (
    (
        """CREATE TABLE runs (
            run_id TEXT NOT NULL PRIMARY KEY,
            status TEXT NOT NULL,
            head INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            started_at REAL NOT NULL,
            updated_at REAL NOT NULL
        )""",
        """CREATE TABLE events (
            run_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            id TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            type TEXT NOT NULL,
            at REAL NOT NULL,
            version INTEGER NOT NULL,
            data TEXT,  -- JSON, or NULL and the hash of a blob
            blob TEXT,
            PRIMARY KEY (run_id, seq)
        )""",
        "CREATE TABLE blobs (hash TEXT NOT NULL PRIMARY KEY, data BLOB NOT NULL)",
        "CREATE INDEX events_by_blob ON events (blob) WHERE blob IS NOT NULL",
    ),
)

# In one statement, so that all three are of one moment: another process may be making the tables.
_STATE = """
    SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id),
        (SELECT count(*) FROM sqlite_master)
"""


def connect(path: str, busy_timeout_seconds: float) -> sqlite3.Connection:
    """A connection that leaves transactions to us and may be handed to another thread."""
    return sqlite3.connect(path, timeout=busy_timeout_seconds, isolation_level=None, check_same_thread=False)


def open_database(
    path: str,
    busy_timeout_seconds: float,
    connector: Connect = connect,
    *,
    migrations: Sequence[Sequence[str]] = MIGRATIONS,
) -> sqlite3.Connection:
    """Open the file for writing, making or migrating its tables.

    Raises:
        StoreError: it cannot be opened, is not ours, or was written by a newer release.
    """
    try:
        connection = connector(path, busy_timeout_seconds)
    except sqlite3.Error as error:
        raise store_error(path, "open", error) from error
    try:
        _prepare(connection, path, busy_timeout_seconds, migrations)
    except sqlite3.Error as error:
        connection.close()
        raise store_error(path, "open", error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def store_error(path: str, verb: str, error: sqlite3.Error) -> StoreError:
    """What SQLite says, with the file it says it of."""
    return StoreError(f"cannot {verb} {path}: {error}")


def _prepare(
    connection: sqlite3.Connection, path: str, timeout_seconds: float, migrations: Sequence[Sequence[str]]
) -> None:
    version = _check_ours(connection, path, len(migrations))  # before anything is changed in a file that is not ours
    _use_wal(connection, timeout_seconds)
    connection.execute("PRAGMA synchronous = FULL")  # a recorded call must outlive a power failure
    connection.execute("PRAGMA fullfsync = ON")  # macOS: through the disk's own cache too
    connection.execute("PRAGMA secure_delete = ON")  # deleted runs are overwritten; nothing else deletes
    connection.execute(f"PRAGMA journal_size_limit = {64 * 1024 * 1024}")
    if version < len(migrations):
        with _transaction(connection):
            # Again, now that no other process can do the same.
            version = _check_ours(connection, path, len(migrations))
            _migrate(connection, migrations, version)


def _migrate(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]], version: int) -> None:
    for statements in migrations[version:]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(migrations)}")


def _check_ours(connection: sqlite3.Connection, path: str, newest: int) -> int:
    version, owner, tables = connection.execute(_STATE).fetchone()
    if owner == APPLICATION_ID:
        if version > newest:
            raise StoreError(
                f"{path} has schema version {version}; this release reads versions up to {newest}. Use a newer release."
            )
        return version
    if owner or version or tables:
        raise StoreError(f"{path} is a SQLite database of something else; name another file")
    return 0


def _use_wal(connection: sqlite3.Connection, timeout_seconds: float) -> None:
    """Change to write-ahead logging; SQLite itself does not wait here while others have the file open."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            if mode != "wal":
                raise sqlite3.OperationalError(f"no write-ahead log on this file system, only {mode}")
            return


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None, None, None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
