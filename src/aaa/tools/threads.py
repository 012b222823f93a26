"""Threads for functions that block, any of which may never return.

An executor of the standard library waits for its threads when the interpreter ends, so one function that hangs would
keep the process alive. These threads are daemons, live only while there is work, and can be given up: one that is
given up no longer counts towards the limit.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

__all__ = ["Threads"]

T = TypeVar("T")


class _Job:
    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.future: Future[Any] = Future()
        self.is_over = False  # finished, or given up

    def fail(self, error: BaseException) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            value = self.call()
        except StopIteration as error:  # a future refuses it; a coroutine turns it into the same error
            wrapped = RuntimeError("the function raised StopIteration")
            wrapped.__cause__ = error
            self.future.set_exception(wrapped)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            self.future.set_exception(error)
        else:
            self.future.set_result(value)


class Threads:
    """Runs at most `limit` functions at once, those given up not counted; more wait their turn."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._busy = 0
        self._waiting: deque[_Job] = deque()

    async def run(self, function: Callable[[], T]) -> T:
        """Call `function` in a thread, with the caller's context variables; cancelling gives the thread up."""
        job = _Job(partial(copy_context().run, function))
        self._add(job)
        try:
            return await asyncio.wrap_future(job.future)
        except asyncio.CancelledError:
            self._give_up(job)
            raise

    def _add(self, job: _Job) -> None:
        with self._lock:
            if self._busy >= self._limit:
                self._waiting.append(job)
                return
            self._busy += 1
        self._start(job)

    def _start(self, job: _Job | None) -> None:
        while job:
            try:
                threading.Thread(target=self._work, args=(job,), name="tool", daemon=True).start()
            except RuntimeError as error:  # the system has no more threads
                job.fail(error)
                job = self._following(job)
            else:
                return

    def _work(self, job: _Job) -> None:
        following: _Job | None = job
        while following:
            following.run()
            following = self._following(following)

    def _following(self, job: _Job) -> _Job | None:
        """What the thread of `job` does next; None once that thread has ended or was replaced."""
        with self._lock:
            if job.is_over:
                return None
            job.is_over = True
            return self._take()

    def _give_up(self, job: _Job) -> None:
        with self._lock:
            if job.is_over:
                return
            job.is_over = True
            if job in self._waiting:
                self._waiting.remove(job)
                return
            following = self._take()
        self._start(following)

    def _take(self) -> _Job | None:
        """The next job for a thread that has become free, or one thread less; the lock is held."""
        if self._waiting:
            return self._waiting.popleft()
        self._busy -= 1
        return None
