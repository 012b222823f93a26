"""Subscriptions: reading on when the log has grown, in pages, so that a slow reader holds one page at a time.

    append ──ring──▶ Bell ──▶ follow ──fetch a page──▶ reader
                     poll ──▶

The bell carries no events, only the news that there are some: nothing piles up, whoever is slow.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable

from aaa.runtime.events import Event
from aaa.runtime.stores.status import COMPLETED

__all__ = ["PAGE_EVENTS", "Bell", "follow"]

PAGE_EVENTS = 256

_Ear = tuple[asyncio.AbstractEventLoop, asyncio.Event]


class Bell:
    """Tells the subscribers of a run that it has grown; may be rung from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ears: dict[str, set[_Ear]] = {}

    @contextlib.contextmanager
    def listening(self, run_id: str) -> Generator[asyncio.Event, None, None]:
        """An event that is set at each ring for the run, as long as the context lasts."""
        ear = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._ears.setdefault(run_id, set()).add(ear)
        try:
            yield ear[1]
        finally:
            self._forget(run_id, ear)

    def ring(self, run_ids: Iterable[str]) -> None:
        """Wake the subscribers of these runs."""
        if self._ears:
            with self._lock:
                ears = [ear for run_id in run_ids for ear in self._ears.get(run_id, ())]
            _wake(ears)

    def ring_all(self) -> None:
        """Wake every subscriber."""
        with self._lock:
            ears = [ear for ears in self._ears.values() for ear in ears]
        _wake(ears)

    def _forget(self, run_id: str, ear: _Ear) -> None:
        with self._lock:
            ears = self._ears[run_id]
            ears.discard(ear)
            if not ears:
                del self._ears[run_id]


async def follow(
    bell: Bell,
    fetch: Callable[[str, int, int], Awaitable[tuple[list[Event], bool]]],
    run_id: str,
    *,
    after: int,
    poll_seconds: float | None,
) -> AsyncIterator[Event]:
    """The events above `after` as they come.

    `fetch(run_id, after, limit)` returns the next events and whether the log ends with `aaa.run.completed`. It is asked
    after each ring, and every `poll_seconds` if other processes may write.
    """
    with bell.listening(run_id) as grown:
        while True:
            grown.clear()  # before the fetch: a ring during it counts
            page, is_over = await fetch(run_id, after, PAGE_EVENTS)
            for event in page:
                after = event.seq
                yield event
                if event.type == COMPLETED:
                    return
            if not page:
                if is_over:
                    return
                await _wait(grown, poll_seconds)


async def _wait(grown: asyncio.Event, seconds: float | None) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await grown.wait()


def _wake(ears: Iterable[_Ear]) -> None:
    for loop, grown in ears:
        with contextlib.suppress(RuntimeError):  # its loop is closed: nobody listens any more
            loop.call_soon_threadsafe(grown.set)
