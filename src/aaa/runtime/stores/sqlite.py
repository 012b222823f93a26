"""The embedded store: one SQLite file, written by one thread, read by another, driven by one process.

    submit, claim, append, delete ──▶ Writer ──▶ file ◀── Reader ◀── read, subscribe, runs
    DriveLock: submit, claim, append with an epoch          any number of processes

Write-ahead logging with full synchronisation: what an append returned for survives a power failure.
"""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Sequence
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from aaa.errors import StoreError
from aaa.runtime.events import Event
from aaa.runtime.store import RunInfo, settled
from aaa.runtime.stores.encoding import encode_event, is_storable
from aaa.runtime.stores.following import Bell, follow
from aaa.runtime.stores.lock import DriveLock
from aaa.runtime.stores.reading import Reader
from aaa.runtime.stores.schema import Connect, connect, open_database
from aaa.runtime.stores.status import status_after
from aaa.runtime.stores.writer import Writer
from aaa.runtime.stores.writing import append_rows, claim_run, delete_run, submit_run

__all__ = ["SQLiteEventStore"]

T = TypeVar("T")


class SQLiteEventStore:
    """Keeps events in a SQLite file, under the contract of `EventStore`.

    Opening, `read`, `subscribe`, `runs`, `delete` and `append` with `epoch=None` are free to any process of the
    machine. `submit`, `claim` and `append` with an epoch make this object the database's driver until it is closed, and
    raise `StoreInUseError` if there is another. Made outside an event loop or in one; it belongs to none.

    A task that is cancelled while it waits for a write does not take the write back: `aaa.runtime.store.settled` tells
    whether it was done.

    Args:
        path: of the file; it is made if there is none. The files `-wal`, `-shm` and `.lock` stand beside it.
        group_size: appends in one commit at most; 1 commits each by itself.
        busy_timeout_seconds: how long a write waits for one of another process before it fails.
        poll_seconds: how often `subscribe` looks for events of other processes; those of this one come at once.
        connect: opens the writer's connection, for tests that make it fail.

    Raises:
        StoreError: the file cannot be opened, is not an event store, or was written by a newer release.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        group_size: int = 512,
        busy_timeout_seconds: float = 5.0,
        poll_seconds: float = 0.2,
        connect: Connect = connect,
    ) -> None:
        self.path = _resolve(path)
        self._poll_seconds = poll_seconds
        self._bell = Bell()
        self._lock = DriveLock(self.path)
        self._writer = Writer(
            self.path,
            lambda: open_database(self.path, busy_timeout_seconds, connect),
            self._bell.ring,
            group_size=group_size,
        )
        self._reader = Reader(self.path, busy_timeout_seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def submit(self, run_id: str, started: Event) -> bool:
        """See `EventStore.submit`."""
        row = encode_event(started)
        if not is_storable(run_id):
            raise StoreError(f"the run id {run_id!r} has no UTF-8 form; use another")
        self._drive()
        write = self._writer.run(run_id, partial(submit_run, run_id=run_id, row=row))
        return await self._settle(write, run_id, 0, events=[started], done=True)

    async def claim(self, run_id: str, token: int | None = None) -> int:
        """See `EventStore.claim`."""
        self._drive()
        return await self._writer.run(run_id, partial(claim_run, run_id=run_id, token=token))

    async def append(self, run_id: str, expected_seq: int, epoch: int | None, events: Sequence[Event]) -> int:
        """See `EventStore.append`."""
        rows = [encode_event(event) for event in events]
        status = status_after(events)
        if epoch is not None:
            self._drive()
        work = partial(append_rows, run_id=run_id, expected_seq=expected_seq, epoch=epoch, rows=rows, status=status)
        write = self._writer.run(run_id, work)
        return await self._settle(write, run_id, expected_seq, events=events, done=expected_seq + len(rows))

    async def read(self, run_id: str, after: int = 0) -> list[Event]:
        """See `EventStore.read`."""
        return await self._reader.read(run_id, after)

    async def read_to_replay(self, run_id: str) -> list[Event]:
        """See `ReplayStore.read_to_replay`."""
        return await self._reader.read_to_replay(run_id)

    def subscribe(self, run_id: str, after: int = 0) -> AsyncIterator[Event]:
        """See `EventStore.subscribe`."""
        return follow(self._bell, self._reader.page, run_id, after=after, poll_seconds=self._poll_seconds)

    async def runs(self, status: str | None = None) -> list[RunInfo]:
        """See `EventStore.runs`."""
        return await self._reader.runs(status)

    async def delete(self, run_id: str) -> bool:
        """See `EventStore.delete`. What the pages held is overwritten; the write-ahead log lets go of it at `close`."""
        return await self._writer.run(run_id, partial(delete_run, run_id=run_id))

    async def close(self) -> None:
        """See `EventStore.close`."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        self._reader.close()
        self._bell.ring_all()
        self._lock.release()

    def _drive(self) -> None:
        self._writer.check_open()
        self._lock.acquire()

    async def _settle(
        self, write: Awaitable[T], run_id: str, expected_seq: int, *, events: Sequence[Event], done: T
    ) -> T:
        """What `write` returns; `done` if SQLite reports an error, but the events are there."""
        try:
            return await write
        except StoreError as error:
            if not events or not isinstance(error.__cause__, sqlite3.Error):
                raise
            try:
                is_done = await settled(self, run_id, expected_seq, events)
            except StoreError:
                raise StoreError(f"{error}; whether it was written cannot be read now, see settled()") from error
            if is_done:
                return done
            raise


def _resolve(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if name in ("", ":memory:"):
        raise StoreError(f"a SQLite store needs a file, not {name!r}; use MemoryEventStore() to keep runs in memory")
    return os.path.realpath(name)
