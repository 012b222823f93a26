"""Where runs are driven. A dispatcher knows ids and when to call `drive`, nothing of what a run does."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from aaa.runtime.outcome import Outcome

__all__ = ["Dispatcher", "LocalDispatcher"]


class Dispatcher(Protocol):
    """What decides where `drive` runs."""

    async def start(self, run_id: str) -> None:
        """See to it that the run is driven; a second start of a run under way does nothing."""
        ...

    async def cancel(self, run_id: str) -> None:
        """Stop driving the run now; its log says whether it is cancelled or only stopped."""
        ...

    async def wait(self, run_id: str) -> Outcome | None:
        """The outcome when it is there; None if the run is not driven here."""
        ...

    async def close(self) -> None:
        """Stop all; they stay to be resumed."""
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
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            self._tasks[run_id] = asyncio.create_task(self._run(run_id), name=f"run {run_id}")

    async def _run(self, run_id: str) -> Outcome:
        async with self._slots:
            return await self._drive(run_id)

    async def cancel(self, run_id: str) -> None:
        """Cancel the task of the run, if there is one."""
        task = self._tasks.get(run_id)
        if task is not None and not task.done():
            task.cancel()

    async def wait(self, run_id: str) -> Outcome | None:
        """Wait for the run's task; cancelling the wait leaves the run alone."""
        task = self._tasks.get(run_id)
        return None if task is None else await asyncio.shield(task)

    async def close(self) -> None:
        """Stop every task and wait for it."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()
