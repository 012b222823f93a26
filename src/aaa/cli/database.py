"""A database of runs, opened so that reading leaves it as it is; what is wrong with it is one line.

    the file ──▶ ours? ──▶ read    a connection that only reads
                     └───▶ change  an engine on it

A store opens its file for writing: it makes one that is not there, and migrates an old one. One that looks must not.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from aaa.cli.problems import Problem
from aaa.cli.terminal import Terminal
from aaa.errors import RunError, UnknownRunError
from aaa.runtime import Engine, Event, SQLiteEventStore
from aaa.runtime.stores.reading import Reader
from aaa.runtime.stores.schema import APPLICATION_ID, MIGRATIONS, connect

__all__ = ["DatabaseError", "Reader", "change", "events_of", "read", "reported", "require_ours", "with_problems"]

T = TypeVar("T")

_WAIT_SECONDS = 5.0  # for another process that holds the whole file
_MAGIC, _WAL = b"SQLite format 3\0", 2  # Source: sqlite.org/fileformat.html, the first 16 bytes, and the one at 18


class DatabaseError(Exception):
    """The database, or a run in it, cannot be used; the text is for the user, without the database's name."""


def read(path: str, use: Callable[[Reader], Awaitable[T]]) -> T:
    """What `use` returns for the database at `path`; the file stays as it is, whoever drives it.

    Raises:
        DatabaseError: no such file, or no database of runs.
    """

    async def run() -> T:
        reader = Reader(path, _WAIT_SECONDS)
        try:
            return await use(reader)
        finally:
            reader.close()

    with with_problems(), _log_kept(path):
        require_ours(path)
        return asyncio.run(run())


def change(path: str, use: Callable[[Engine], Awaitable[T]]) -> T:
    """What `use` returns for an engine on the database at `path`.

    Raises:
        DatabaseError: no such file, no database of runs, or one that cannot be written.
    """

    async def run() -> T:
        async with SQLiteEventStore(path) as store, Engine(store) as engine:
            return await use(engine)

    with with_problems():
        with _log_kept(path):
            require_ours(path)
        return asyncio.run(run())


async def events_of(reader: Reader, run_id: str) -> list[Event]:
    """The events of a run.

    Raises:
        DatabaseError: there is no such run; says how many there are.
    """
    try:
        return await reader.read(run_id, 0)
    except UnknownRunError as error:
        count = len(await reader.runs(None))
        raise DatabaseError(f"no run {run_id!r}; it holds {count:,} run{'s' * (count != 1)}, see `aaa runs`") from error


def reported(command: str, path: str, work: Callable[[Terminal], None], *, as_json: bool) -> int:
    """Do `work` and return the exit status; what is wrong with the database is one line, and in the document."""
    terminal = Terminal()
    try:
        work(terminal)
    except DatabaseError as error:
        terminal.problem(Problem(path, str(error)))
        if as_json:
            terminal.document(command, [], {})
    return terminal.exit_status


@contextmanager
def with_problems() -> Generator[None, None, None]:
    """Whatever a store, SQLite or the file system raises, as a `DatabaseError`."""
    try:
        yield
    except RunError as error:
        cause = error.__cause__
        raise DatabaseError(str(cause if isinstance(cause, sqlite3.Error) else error)) from error
    except sqlite3.Error as error:
        raise DatabaseError(str(error)) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DatabaseError(error.strerror or str(error)) from error


def require_ours(path: str) -> None:
    """Raise `DatabaseError` or `OSError` unless there is a database of runs at `path`; changes nothing."""
    file = Path(path)
    if not file.is_file():
        file.stat()  # says why, if it is not there
        raise DatabaseError("is a directory" if file.is_dir() else "not a regular file")
    with file.open("rb") as stream:
        header = stream.read(len(_MAGIC) + 4)
    if not header.startswith(_MAGIC):
        raise DatabaseError("is no SQLite database" if header else "is empty, no database of runs")
    # A store's file has a write-ahead log from its first moment; others are not touched, be it to recover them.
    if header[18:19] != bytes([_WAL]):
        raise DatabaseError("is a SQLite database of something else")
    with closing(connect(path, _WAIT_SECONDS)) as connection:
        connection.execute("PRAGMA query_only = ON")
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    if owner != APPLICATION_ID:
        raise DatabaseError("is a SQLite database of something else")
    if version != len(MIGRATIONS):
        newer = "use a newer release" if version > len(MIGRATIONS) else "open it with an engine once, which migrates it"
        raise DatabaseError(f"has schema version {version}, this release reads {len(MIGRATIONS)}; {newer}")


@contextmanager
def _log_kept(path: str) -> Generator[None, None, None]:
    """Leave alone what a process that died left in the write-ahead log.

    The last connection to be closed moves it into the database, unless that one is read-only. Where there is no log, a
    read-only connection would leave an empty one behind, so there is none then.
    """
    log = Path(f"{path}-wal")
    if not (log.is_file() and log.stat().st_size):
        yield
        return
    address = f"{Path(path).absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, _WAIT_SECONDS, uri=True)) as keeper:
        keeper.execute("PRAGMA schema_version").fetchone()  # opens the log
        yield
