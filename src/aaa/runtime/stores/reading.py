"""The connection that only reads, in a thread of its own, so that no reader waits for a writer."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from sys import intern
from typing import TypeVar

from aaa.errors import StoreError, UnknownRunError
from aaa.runtime.events import Event
from aaa.runtime.store import RunInfo
from aaa.runtime.stores.encoding import Row, decode_event, decode_to_replay, is_storable
from aaa.runtime.stores.schema import connect, store_error
from aaa.runtime.stores.status import COMPLETED

__all__ = ["Reader"]

T = TypeVar("T")

_EVENTS = """
    SELECT e.seq, e.epoch, e.id, e.type, e.at, e.version, CAST(coalesce(e.data, b.data) AS BLOB)
    FROM events e LEFT JOIN blobs b ON b.hash = e.blob
    WHERE e.run_id = ? AND e.seq > ? ORDER BY e.seq LIMIT ?
"""
_TO_REPLAY = """
    SELECT seq, epoch, type, version, CAST(coalesce(data, (SELECT data FROM blobs WHERE hash = blob)) AS BLOB)
    FROM events WHERE run_id = ? ORDER BY seq
"""
_LAST = "SELECT e.seq, e.type FROM runs r JOIN events e ON e.run_id = r.run_id AND e.seq = r.head WHERE r.run_id = ?"
_RUNS = """
    SELECT run_id, status, head, epoch, started_at, updated_at FROM runs
    WHERE ?1 IS NULL OR status = ?1 ORDER BY started_at, rowid
"""


class Reader:
    """Reads one database. Its thread and connection are made at the first use."""

    def __init__(self, path: str, busy_timeout_seconds: float) -> None:
        self._path = path
        self._busy_timeout_seconds = busy_timeout_seconds
        self._thread = ThreadPoolExecutor(1, "aaa-store-reader")
        self._connection: sqlite3.Connection | None = None

    async def read(self, run_id: str, after: int) -> list[Event]:
        """All events above `after`."""
        return await self._run(lambda connection: _read(connection, run_id, after, -1))

    async def read_to_replay(self, run_id: str) -> list[Event]:
        """All events, as `ReplayStore` describes them."""
        return await self._run(lambda connection: _read_to_replay(connection, run_id))

    async def page(self, run_id: str, after: int, limit: int) -> tuple[list[Event], bool]:
        """The next events above `after`, and whether the last of the log is `aaa.run.completed`."""
        return await self._run(lambda connection: _page(connection, run_id, after, limit))

    async def runs(self, status: str | None) -> list[RunInfo]:
        """The runs of a status, or all, oldest first."""
        return await self._run(lambda connection: _runs(connection, status))

    def close(self) -> None:
        """Finish what is being read and close the connection. Blocks."""
        self._thread.shutdown()
        if self._connection is not None:
            self._connection.close()

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            future = self._thread.submit(self._in_thread, work)
        except RuntimeError as error:
            raise StoreError(f"the store of {self._path} is closed") from error
        return await asyncio.wrap_future(future)

    def _in_thread(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._connection is None:
                self._connection = connect(self._path, self._busy_timeout_seconds)
                self._connection.execute("PRAGMA query_only = ON")
            return work(self._connection)
        except sqlite3.Error as error:
            raise store_error(self._path, "read", error) from error


def _page(connection: sqlite3.Connection, run_id: str, after: int, limit: int) -> tuple[list[Event], bool]:
    events = _read(connection, run_id, after, limit)
    if events:
        return events, False
    last = connection.execute(_LAST, (run_id,)).fetchone()
    # What came between the two statements is read the next time.
    return [], last is not None and last[0] <= after and last[1] == COMPLETED


def _read(connection: sqlite3.Connection, run_id: str, after: int, limit: int) -> list[Event]:
    if not is_storable(run_id):
        raise UnknownRunError(run_id)
    events: list[Event] = []
    for seq, epoch, id, type, at, version, data in connection.execute(_EVENTS, (run_id, after, limit)):
        if data is None:
            raise _lost(run_id, seq)
        events.append(decode_event(Row(id, type, at, version, data), run_id, seq, epoch))
    if not events and not connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone():
        raise UnknownRunError(run_id)
    return events


def _read_to_replay(connection: sqlite3.Connection, run_id: str) -> list[Event]:
    events: list[Event] = []
    if is_storable(run_id):
        for seq, epoch, type, version, data in connection.execute(_TO_REPLAY, (run_id,)):
            if data is None:
                raise _lost(run_id, seq)
            events.append(decode_to_replay(intern(type), data, run_id, seq=seq, epoch=epoch, version=version))
    if not events:
        raise UnknownRunError(run_id)
    return events


def _lost(run_id: str, seq: int) -> StoreError:
    return StoreError(f"event {seq} of run {run_id!r} has lost its data; the store is damaged")


def _runs(connection: sqlite3.Connection, status: str | None) -> list[RunInfo]:
    return [
        RunInfo(run_id=run_id, status=state, head=head, epoch=epoch, started_at=started_at, updated_at=updated_at)
        for run_id, state, head, epoch, started_at, updated_at in connection.execute(_RUNS, (status,))
    ]
