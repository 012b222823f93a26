"""Where runs are driven. A dispatcher knows ids and when to call `drive`, nothing of what a run does."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from aaa.errors import RunError
from aaa.runtime.outcome import Outcome

__all__ = ["Dispatcher", "LocalDispatcher"]


class Dispatcher(Protocol):
    """What decides where `drive` runs."""

    async def start(self, run_id: str) -> None:
        """See to it that the run is driven; a second start of a run under way does nothing."""
        ...

    async def wait(self, run_id: str) -> Outcome | None:
        """The outcome when it is there; None if the run is not driven here.

        Raises:
            RunError: driving failed or was stopped; the run has not ended.
        """
        ...

    async def stop(self, run_id: str) -> None:
        """Stop driving the run, and wait until it is stopped; it stays to be resumed."""
        ...

    async def close(self) -> None:
        """Stop all."""
        ...


class LocalDispatcher:
    """Tasks in this process, at most `max_concurrent` at a time. No leases, queues or sweeps: one process."""

    def __init__(self, drive: Callable[[str], Awaitable[Outcome]], max_concurrent: int = 10_000) -> None:
        if max_concurrent < 1:
            raise ValueError(f"max_concurrent must be at least 1, got {max_concurrent}")
        self._drive = drive
        self._slots = asyncio.Semaphore(max_concurrent)
        self._tasks: dict[str, asyncio.Task[Outcome]] = {}

    async def start(self, run_id: str) -> None:
        """Drive the run in a task of its own."""
        task = self._tasks.get(run_id)
        if task is None or task.done():
            self._tasks[run_id] = task = asyncio.create_task(self._run(run_id), name=f"run {run_id}")
            task.add_done_callback(lambda done: self._forget(run_id, done))

    async def _run(self, run_id: str) -> Outcome:
        async with self._slots:
            return await self._drive(run_id)

    def _forget(self, run_id: str, task: "asyncio.Task[Outcome]") -> None:
        """A run that has ended is in its log; why one stopped is kept for whoever asks."""
        if not task.cancelled() and task.exception() is None and self._tasks.get(run_id) is task:
            del self._tasks[run_id]

    async def wait(self, run_id: str) -> Outcome | None:
        """Wait for the run's task; cancelling the wait leaves the run alone."""
        task = self._tasks.get(run_id)
        if task is None:
            return None
        await asyncio.wait([task])
        if task.cancelled():
            raise RunError(f"run {run_id!r} was stopped here before its end; resume it")
        return task.result()

    async def stop(self, run_id: str) -> None:
        """Cancel the task of the run, if there is one, and forget it."""
        task = self._tasks.pop(run_id, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def close(self) -> None:
        """Stop every task and wait for it."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
