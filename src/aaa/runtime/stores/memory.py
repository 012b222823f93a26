"""The store for tests and for runs that need not survive: everything in one process, gone with it."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from aaa.errors import ConflictError, StoreError, SupersededError, UnknownRunError
from aaa.runtime.events import Event
from aaa.runtime.store import RunInfo
from aaa.runtime.stores.encoding import Row, decode_event, decode_to_replay, encode_event, is_storable
from aaa.runtime.stores.following import Bell, follow
from aaa.runtime.stores.status import COMPLETED, RUNNING, status_after

__all__ = ["MemoryEventStore"]


@dataclass
class _Run:
    started_at: float
    updated_at: float
    status: str = RUNNING
    epoch: int = 0
    log: list[tuple[int, Row]] = field(default_factory=list[tuple[int, Row]])

    @property
    def head(self) -> int:
        return len(self.log)


class MemoryEventStore:
    """Keeps events in memory, under the contract of `EventStore`. For one event loop at a time."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._bell = Bell()
        self._is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def submit(self, run_id: str, started: Event) -> bool:
        """See `EventStore.submit`."""
        self._check_open()
        row = encode_event(started)
        if not is_storable(run_id):
            raise StoreError(f"the run id {run_id!r} has no UTF-8 form; use another")
        if run_id in self._runs:
            return False
        self._runs[run_id] = _Run(row.at, row.at, log=[(0, row)])
        self._bell.ring([run_id])
        return True

    async def claim(self, run_id: str, token: int | None = None) -> int:
        """See `EventStore.claim`."""
        run = self._find(run_id)
        if token is not None and token <= run.epoch:
            raise SupersededError(run_id, token=token, epoch=run.epoch)
        run.epoch = run.epoch + 1 if token is None else token
        return run.epoch

    async def append(self, run_id: str, expected_seq: int, epoch: int | None, events: Sequence[Event]) -> int:
        """See `EventStore.append`."""
        rows = [encode_event(event) for event in events]
        run = self._find(run_id)
        if run.head != expected_seq or epoch not in (None, run.epoch):
            raise ConflictError(run_id, expected_seq=expected_seq, head=run.head, epoch=epoch, current_epoch=run.epoch)
        if rows:
            run.log.extend((run.epoch, row) for row in rows)
            run.status = status_after(events) or run.status
            run.updated_at = rows[-1].at
            self._bell.ring([run_id])
        return run.head

    async def read(self, run_id: str, after: int = 0) -> list[Event]:
        """See `EventStore.read`."""
        return self._slice(run_id, after, None)

    async def read_to_replay(self, run_id: str) -> list[Event]:
        """See `ReplayStore.read_to_replay`."""
        return [
            decode_to_replay(row.type, row.data, run_id, seq=seq, epoch=epoch, version=row.version)
            for seq, (epoch, row) in enumerate(self._find(run_id).log, 1)
        ]

    def subscribe(self, run_id: str, after: int = 0) -> AsyncIterator[Event]:
        """See `EventStore.subscribe`."""
        return follow(self._bell, self._fetch, run_id, after=after, poll_seconds=None)

    async def runs(self, status: str | None = None) -> list[RunInfo]:
        """See `EventStore.runs`."""
        self._check_open()
        listed = [_describe(run_id, run) for run_id, run in self._runs.items() if status in (None, run.status)]
        return sorted(listed, key=lambda info: info.started_at)

    async def delete(self, run_id: str) -> bool:
        """See `EventStore.delete`."""
        self._check_open()
        is_there = self._runs.pop(run_id, None) is not None
        self._bell.ring([run_id])
        return is_there

    async def close(self) -> None:
        """See `EventStore.close`."""
        self._is_closed = True
        self._bell.ring_all()

    async def _fetch(self, run_id: str, after: int, limit: int) -> tuple[list[Event], bool]:
        page = self._slice(run_id, after, limit)
        return page, self._find(run_id).log[-1][1].type == COMPLETED

    def _slice(self, run_id: str, after: int, limit: int | None) -> list[Event]:
        log = self._find(run_id).log
        start = max(after, 0)
        rows = log[start:] if limit is None else log[start : start + limit]
        return [decode_event(row, run_id, seq, epoch) for seq, (epoch, row) in enumerate(rows, start + 1)]

    def _find(self, run_id: str) -> _Run:
        self._check_open()
        if run_id not in self._runs:
            raise UnknownRunError(run_id)
        return self._runs[run_id]

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreError("the store is closed")


def _describe(run_id: str, run: _Run) -> RunInfo:
    return RunInfo(
        run_id=run_id,
        status=run.status,
        head=run.head,
        epoch=run.epoch,
        started_at=run.started_at,
        updated_at=run.updated_at,
    )
