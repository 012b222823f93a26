"""Who watches a run while it happens: pieces of replies, which no log keeps, between the events, which it does.

handler ── show ──▶ watchers of the run ─┐
store   ── follow ──▶ recorded events ───┴─▶ handle.events(live=True)
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any

from aaa.messages import Delta
from aaa.runtime.events import Event

__all__ = ["Watching"]

_READ_AHEAD = 256  # recorded events that wait for a slow watcher


class Watching:
    """The watchers of the runs of one process."""

    def __init__(self) -> None:
        self._watchers: dict[str, set[_Watcher]] = {}

    def is_watched(self, run_id: str) -> bool:
        """Whether anybody would see what is shown."""
        return run_id in self._watchers

    def show(self, run_id: str, key: str, delta: Delta) -> None:
        """Hand a piece of the reply to the call `key` to whoever watches the run."""
        for watcher in self._watchers.get(run_id, ()):
            watcher.add_delta(key, delta)

    async def watch(self, run_id: str, recorded: AsyncIterator[Event]) -> AsyncGenerator[Event, None]:
        """`recorded`, and between its events the pieces of replies, as events `aaa.llm.delta` that have no number."""
        watcher = _Watcher()
        self._watchers.setdefault(run_id, set()).add(watcher)
        reading = asyncio.create_task(watcher.read(recorded))
        try:
            async for event in watcher.events():
                yield event
            await reading  # raises what the store raised
        finally:
            self._forget(run_id, watcher)
            reading.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await reading

    def _forget(self, run_id: str, watcher: "_Watcher") -> None:
        watchers = self._watchers[run_id]
        watchers.discard(watcher)
        if not watchers:
            del self._watchers[run_id]


class _Watcher:
    """What waits for one watcher. Pieces of one reply that wait are joined, so a slow one holds little."""

    def __init__(self) -> None:
        self._waiting: deque[Event] = deque()
        self._changed = asyncio.Event()
        self._taken = asyncio.Event()
        self._is_over = False

    def add_delta(self, key: str, delta: Delta) -> None:
        """Add a piece, to the one before it if that still waits."""
        last = self._waiting[-1] if self._waiting else None
        data: dict[str, Any] = {"key": key, "kind": delta.kind, "index": delta.index, "text": delta.text}
        if last is not None and last.seq == 0 and {**last.data, "text": ""} == {**data, "text": ""}:
            self._waiting.pop()
            data["text"] = last.data["text"] + delta.text
        self._add(Event(type="aaa.llm.delta", data=data, id="", at=time.time()))

    async def read(self, recorded: AsyncIterator[Event]) -> None:
        """Add what is recorded, not too far ahead."""
        try:
            async for event in recorded:
                self._add(event)
                while len(self._waiting) > _READ_AHEAD:
                    self._taken.clear()
                    await self._taken.wait()
        finally:
            self._is_over = True
            self._changed.set()

    async def events(self) -> AsyncGenerator[Event, None]:
        """What waits, as it comes."""
        while self._waiting or not self._is_over:
            while self._waiting:
                event = self._waiting.popleft()
                self._taken.set()
                yield event
            self._changed.clear()
            if not self._is_over:
                await self._changed.wait()

    def _add(self, event: Event) -> None:
        self._waiting.append(event)
        self._changed.set()
