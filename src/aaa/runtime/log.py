"""A run's log while it is driven: what is recorded, what is about to be, and the folds of both.

    note   ──▶ pending ──┐
    write  ──▶ pending ──┴─▶ one append        a completed reply and the next request share one

An event that is only noted is appended with the next one written, or as soon as the loop gets to it.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

import msgspec

from aaa.errors import ConflictError, StoreError, SupersededError, UnknownRunError
from aaa.messages.digest import escape_surrogates
from aaa.runtime.budget import Spent
from aaa.runtime.events import Event
from aaa.runtime.store import EventStore

__all__ = ["Redact", "RunLog", "new_event"]

Redact = Callable[[Event], Event]


def new_event(type: str, data: Mapping[str, Any], redact: Redact | None = None) -> Event:
    """An event that is not stored yet, as the log will hold it: plain data, lone surrogates escaped, redacted."""
    plain: Any = msgspec.to_builtins(dict(data), str_keys=True)
    try:
        msgspec.json.encode(plain)
    except UnicodeEncodeError:
        plain = escape_surrogates(plain)
    event = Event(type=type, data=plain, id=uuid4().hex, at=time.time())
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
        self.received: list[Event] = []
        self.taken: set[int] = set()
        self.visited: set[str] = set()
        self.failure: Exception | None = None
        self.is_cancel_requested = False
        self.changed = asyncio.Event()
        self._store = store
        self._redact = redact
        self._on_event = on_event
        self._head = 0
        self._pending: list[Event] = []
        self._lock = asyncio.Lock()
        self._flushing: asyncio.Task[None] | None = None
        for event in events:
            self._take(event)

    def result(self, kind: str, key: str) -> Event | None:
        """The recorded result of an effect, None if it has none yet."""
        endings = (f"{kind}.completed", f"{kind}.failed")
        return next((event for event in self.recorded.get(key, ()) if event.type in endings), None)

    def next_received(self, name: str) -> Event | None:
        """What was sent under `name` first and is not taken yet."""
        waiting = (event for event in self.received if event.data.get("name") == name and event.seq not in self.taken)
        return next(waiting, None)

    def unvisited(self) -> str | None:
        """The first recorded effect that the algorithm has not asked for."""
        return next((key for key in self.recorded if key not in self.visited and not key.startswith("version:")), None)

    def note(self, type: str, data: Mapping[str, Any]) -> Event:
        """Append an event soon; it is in force at once."""
        event = new_event(type, data, self._redact)
        self._pending.append(event)
        self.spent.fold(event)
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush_quietly())
        return event

    async def write(self, type: str, data: Mapping[str, Any]) -> Event:
        """Append an event, and all that were noted before it; durable on return.

        Raises:
            StoreError: nothing of it was stored. SupersededError: somebody newer drives the run.
        """
        event = new_event(type, data, self._redact)
        self._pending.append(event)
        self.spent.fold(event)
        await self.flush()
        return event

    async def flush(self) -> None:
        """Append what is pending."""
        async with self._lock:
            while self._pending:
                batch = self._pending[:]
                try:
                    self._head = await self._store.append(self.run_id, self._head, self.epoch, batch)
                except ConflictError as conflict:
                    await self._catch_up(conflict)
                    continue
                except StoreError as error:
                    self.failure = error
                    raise
                del self._pending[: len(batch)]
                self._announce(batch)

    async def refresh(self) -> None:
        """Read what others appended (cancel, send)."""
        async with self._lock:
            await self._read_new()

    async def _flush_quietly(self) -> None:
        """A failure here is met again, and raised, by the next write."""
        await asyncio.sleep(0)
        try:
            await self.flush()
        except (StoreError, UnknownRunError):
            return

    async def _catch_up(self, conflict: ConflictError) -> None:
        """After a conflict: go on if it was a writer from outside, stop if somebody else drives the run."""
        if conflict.current_epoch != self.epoch:
            self.failure = SupersededError(self.run_id, token=self.epoch, epoch=conflict.current_epoch)
            raise self.failure from conflict
        await self._read_new()

    async def _read_new(self) -> None:
        """Take in what was appended by others, or by an append of ours whose answer was lost."""
        new = await self._store.read(self.run_id, self._head)
        stored = {event.id for event in new}
        self._pending = [event for event in self._pending if event.id not in stored]
        for event in new:
            self._head = event.seq
            self._take_external(event)

    def _take(self, event: Event) -> None:
        """Fold one recorded event."""
        self._head = event.seq
        self.spent.fold(event)
        if "received" in event.data:
            self.taken.add(event.data["received"])
        if "key" in event.data:
            self.recorded.setdefault(event.data["key"], []).append(event)
        self._take_external(event)

    def _take_external(self, event: Event) -> None:
        if event.type == "aaa.run.cancel_requested":
            self.is_cancel_requested = True
        elif event.type == "aaa.run.received":
            self.received.append(event)
        else:
            return
        self.changed.set()

    def _announce(self, batch: Sequence[Event]) -> None:
        if self._on_event is not None:
            for offset, event in enumerate(batch, self._head - len(batch) + 1):
                stored = msgspec.structs.replace(event, run_id=self.run_id, seq=offset, epoch=self.epoch)
                self._on_event(stored)
