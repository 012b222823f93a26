"""A run's log while it is driven: what is recorded, what is about to be, and the folds of both.

    note   ──▶ pending ──┐
    write  ──▶ pending ──┴─▶ one append        a completed reply and the next request share one

An event that is only noted is appended with the next one written, or as soon as the loop gets to it. After a failure,
or after the run's end, the log takes nothing more.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from msgspec.structs import replace

from aaa.errors import ConflictError, RunError, StoreError, SupersededError
from aaa.runtime.budget import SPENDING, Spent
from aaa.runtime.events import Event
from aaa.runtime.plain import plain
from aaa.runtime.store import EventStore

__all__ = ["Redact", "RunLog", "new_event"]

Redact = Callable[[Event], Event]

_RESULTS = frozenset(
    f"aaa.{kind}.{ending}" for kind in ("llm", "tool", "step", "child") for ending in ("completed", "failed")
)


def new_event(type: str, data: Mapping[str, Any], redact: Redact | None = None) -> Event:
    """An event that is not stored yet, as the log will hold it: plain data, redacted.

    Raises:
        TypeError, ValueError: the data are not JSON.
    """
    event = Event(type=type, data=plain(data), id=uuid4().hex, at=time.time())
    return event if redact is None else redact(event)


class RunLog:
    """The events of one run, and how this process appends to them."""

    def __init__(
        self,
        store: EventStore,
        run_id: str,
        epoch: int,
        events: Sequence[Event],
        *,
        redact: Redact | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        self.run_id = run_id
        self.epoch = epoch
        self.spent = Spent()
        self.recorded: dict[str, list[Event]] = {}
        self.results: dict[str, Event] = {}
        self.received: list[Event] = []
        self.ended: Event | None = None
        self.taken: set[int] = set()
        self.visited: set[str] = set()
        self.failure: Exception | None = None
        self.is_cancel_requested = False
        self._is_sealed = False
        self.on_cancel: Callable[[], object] | None = None
        self.changed = asyncio.Event()
        self._store = store
        self._redact = redact
        self._on_event = on_event
        self._pending: list[Event] = []
        self._lock = asyncio.Lock()
        self._flushing: asyncio.Task[None] | None = None
        self._fold(events)

    def next_received(self, name: str) -> Event | None:
        """What was sent under `name` first and is not taken yet."""
        waiting = (event for event in self.received if event.data.get("name") == name and event.seq not in self.taken)
        return next(waiting, None)

    def unvisited(self) -> str | None:
        """The first recorded effect that the algorithm has not asked for."""
        return next((key for key in self.recorded if key not in self.visited and not key.startswith("version:")), None)

    def new(self, type: str, data: Mapping[str, Any]) -> Event:
        """An event as this log will hold it, not appended yet.

        Raises:
            TypeError, ValueError: the data are not JSON.
        """
        return new_event(type, data, self._redact)

    def note(self, type: str, data: Mapping[str, Any]) -> Event:
        """Append an event soon; it is in force at once.

        Raises:
            the failure of this log, if it has failed or its run has ended.
        """
        return self.note_event(self.new(type, data))

    def note_event(self, event: Event) -> Event:
        """`note` for an event made before."""
        self._add(event)
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush_soon())
        return event

    async def write(self, type: str, data: Mapping[str, Any]) -> Event:
        """Append an event, and all that were noted before it; durable on return.

        Raises:
            StoreError: nothing of it was stored. SupersededError: somebody newer drives the run.
        """
        return await self.write_event(self.new(type, data))

    async def write_event(self, event: Event) -> Event:
        """`write` for an event made before; one from outside (cancel, send) takes effect here."""
        self._add(event)
        await self.flush()
        return event

    async def write_last(self, event: Event) -> None:
        """`write_event` for the run's end: from now on the log takes nothing."""
        self._add(event)
        self._is_sealed = True
        await self.flush()

    @property
    def is_open(self) -> bool:
        """Whether events can still be appended through this log."""
        return self.failure is None and not self._is_sealed

    def fail(self, error: Exception) -> None:
        """Take nothing more: whatever comes raises `error`. The first failure stays."""
        if self.failure is None:
            self.failure = error
            self._pending.clear()

    async def flush(self) -> None:
        """Append what is pending."""
        async with self._lock:
            if self.failure is not None:
                raise self.failure  # what waited for the lock was not stored
            while self._pending:
                await self._append(self._pending[:])

    async def refresh(self) -> None:
        """Read what others appended (cancel, send)."""
        async with self._lock:
            await self._read_new()

    async def close(self) -> None:
        """Append what is still pending, if that is possible, and end the work in the background."""
        if self.failure is None:
            try:
                await self.flush()
            except (StoreError, RunError) as error:
                self.fail(error)
        if self._flushing is not None:
            await self._flushing
        self.fail(RunError(f"run {self.run_id!r} is no longer driven here"))

    def _add(self, event: Event) -> None:
        if self.failure is not None:
            raise self.failure
        if self._is_sealed:
            raise RunError(f"run {self.run_id!r} has ended")
        self._pending.append(event)
        self.spent.fold(event)

    async def _append(self, batch: list[Event]) -> None:
        try:
            head = await self._store.append(self.run_id, self._head, self.epoch, batch)
        except ConflictError as conflict:
            await self._catch_up(conflict)
            return
        except (StoreError, RunError) as error:
            self.fail(error)
            raise
        first, self._head = self._head + 1, head
        del self._pending[: len(batch)]
        for seq, event in enumerate(batch, first):
            self._announce(replace(event, run_id=self.run_id, seq=seq, epoch=self.epoch))

    async def _flush_soon(self) -> None:
        """A failure here is raised by whatever is noted or written next."""
        await asyncio.sleep(0)
        try:
            await self.flush()
        except (StoreError, RunError) as error:
            self.fail(error)

    async def _catch_up(self, conflict: ConflictError) -> None:
        """After a conflict: go on if it was a writer from outside, stop if somebody else drives the run."""
        if conflict.current_epoch != self.epoch:
            superseded = SupersededError(self.run_id, token=self.epoch, epoch=conflict.current_epoch)
            self.fail(superseded)
            raise superseded from conflict
        await self._read_new()

    async def _read_new(self) -> None:
        """Take in what was appended by others, or by an append of ours whose answer was lost."""
        new = await self._store.read(self.run_id, self._head)
        stored = {event.id for event in new}
        self._pending = [event for event in self._pending if event.id not in stored]
        for event in new:
            self._head = event.seq
            self._announce(event)

    def _announce(self, event: Event) -> None:
        """Tell that an event is stored, and let one from outside take effect."""
        self._take_external(event)
        if self._on_event is not None:
            self._on_event(event)

    def _fold(self, events: Sequence[Event]) -> None:
        """Take in what is recorded."""
        recorded, results, spent = self.recorded, self.results, self.spent
        for event in events:
            type_, data = event.type, event.data
            if type_ in SPENDING:
                spent.fold(event)
            key = data.get("key")
            if key is None:
                self._fold_keyless(event)
            elif key in recorded:
                recorded[key].append(event)
            else:
                recorded[key] = [event]
            if type_ in _RESULTS and key is not None:
                results.setdefault(key, event)
                if "received" in data:
                    self.taken.add(data["received"])
        self._head = events[-1].seq if events else 0

    def _fold_keyless(self, event: Event) -> None:
        if event.type == "aaa.run.completed":
            self.ended = event
        self._take_external(event)

    def _take_external(self, event: Event) -> None:
        if event.type == "aaa.run.received":
            self.received.append(event)
        elif event.type == "aaa.run.cancel_requested":
            is_first, self.is_cancel_requested = not self.is_cancel_requested, True
            if is_first and self.on_cancel is not None:
                self.on_cancel()
        else:
            return
        self.changed.set()

    async def watch(self) -> None:
        """Follow what others append, other processes included, until cancelled."""
        with suppress(StoreError, RunError):  # whoever appends next meets it too
            async for event in self._store.subscribe(self.run_id, self._head):
                if event.seq > self._head:
                    await self.refresh()
