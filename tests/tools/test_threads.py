"""Threads that may never return."""

import asyncio
import threading
from functools import partial

import pytest

from aaa.tools.threads import Threads
from tests.tools.fakes import WAIT_SECONDS


class Gauge:
    """Counts how many of its calls run at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self.most = 0

    def work(self, number: int) -> int:
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
        for _ in range(1_000):
            pass
        with self._lock:
            self._running -= 1
        return number

    async def fill(self, threads: Threads) -> list[int]:
        return await asyncio.gather(*(threads.run(partial(self.work, number)) for number in range(50)))


def test_no_more_than_the_limit_run_at_once_and_all_have_their_turn():
    gauge = Gauge()
    assert asyncio.run(asyncio.wait_for(gauge.fill(Threads(2)), WAIT_SECONDS)) == list(range(50))
    assert gauge.most <= 2


def test_one_that_is_given_up_makes_room_for_the_next():
    release, started, ended = threading.Event(), threading.Event(), threading.Event()
    ran: list[str] = []
    gauge = Gauge()

    def hang() -> None:
        started.set()
        release.wait(WAIT_SECONDS)
        ended.set()

    async def run() -> None:
        threads = Threads(1)
        hanging = asyncio.create_task(threads.run(hang))
        cancelled = asyncio.create_task(threads.run(lambda: ran.append("cancelled")))
        waiting = asyncio.create_task(threads.run(lambda: ran.append("waiting")))
        await asyncio.to_thread(started.wait, WAIT_SECONDS)
        cancelled.cancel()
        hanging.cancel()
        async with asyncio.timeout(WAIT_SECONDS):
            await waiting
            release.set()
            await asyncio.to_thread(ended.wait, WAIT_SECONDS)
            await gauge.fill(threads)

    asyncio.run(run())
    assert ran == ["waiting"]
    assert gauge.most == 1


def test_no_thread_to_be_had_is_an_error_of_the_call(monkeypatch):
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def run() -> None:
        threads = Threads(1)
        monkeypatch.setattr(threading.Thread, "start", refuse)
        for _ in range(3):
            with pytest.raises(RuntimeError, match="can't start new thread"):
                await asyncio.wait_for(threads.run(lambda: None), WAIT_SECONDS)
        monkeypatch.undo()
        assert await asyncio.wait_for(threads.run(lambda: 1), WAIT_SECONDS) == 1

    asyncio.run(run())
