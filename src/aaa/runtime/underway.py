"""What of a run is under way: effects with their keys, and the tasks that wait for them."""

import asyncio
from typing import Any

import msgspec

from aaa.runtime.log import RunLog
from aaa.runtime.scope import Scope, current_scope

__all__ = ["UnderWay"]


class UnderWay:
    """The effects of one run, from their beginning to their end."""

    def __init__(self, log: RunLog) -> None:
        self.log = log
        self.tasks: set[asyncio.Task[Any]] = set()
        self._scope = Scope()

    @property
    def scope(self) -> Scope:
        """The line of effects that the caller stands in."""
        found = current_scope.get()
        return found[1] if found is not None and found[0] == self.log.run_id else self._scope

    def effect(self, what: str) -> "_Effect":
        """`with under_way.effect("llm") as key`: the key is the effect's.

        Raises:
            the failure of the log, if it has failed. RuntimeError: another effect is under way in this line.
        """
        return _Effect(self, what)

    def next(self, what: str) -> tuple[Scope, str]:
        """The line of effects that the caller stands in, and the key of its next effect, which does not begin yet.

        Raises:
            the failure of the log, if it has failed. RuntimeError: another effect is under way in this line.
        """
        if self.log.failure is not None:
            raise self.log.failure
        found = current_scope.get()  # as in `scope`: every effect that is replayed passes here
        scope = found[1] if found is not None and found[0] == self.log.run_id else self._scope
        return scope, scope.free(what)

    async def stop(self) -> None:
        """End effects that are still under way, for example one that a failed `asyncio.gather` left behind."""
        left = [task for task in self.tasks if task is not asyncio.current_task() and not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)


class _Effect(msgspec.Struct):
    """One effect."""

    under_way: UnderWay
    what: str
    scope: Scope | None = None
    task: asyncio.Task[Any] | None = None

    def __enter__(self) -> str:
        under_way = self.under_way
        if under_way.log.failure is not None:
            raise under_way.log.failure
        self.scope = scope = under_way.scope
        key = scope.enter(self.what)
        task = asyncio.current_task()
        assert task is not None
        if task not in under_way.tasks:
            under_way.tasks.add(task)
            self.task = task
        return key

    def __exit__(self, *_: object) -> None:
        assert self.scope is not None
        self.scope.leave()
        if self.task is not None:
            self.under_way.tasks.discard(self.task)
