"""The one loop: drive a run from its log to its end. Knows no dispatcher; any of them may call it.

    claim ─▶ read ─▶ algorithm.run(run, input) in a task of its own ─▶ aaa.run.completed
                          │ each effect: recorded? take it : do it

The algorithm has a task of its own, so that ending it (cancelled, too late) is one thing and stopping to drive it
(the process goes down) another.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from aaa.errors import NonDeterminismError, OutOfTurnsError, error_data
from aaa.runtime.budget import Budget, Spent
from aaa.runtime.events import Event
from aaa.runtime.log import RunLog, new_event
from aaa.runtime.outcome import Outcome, Status
from aaa.runtime.program import Algorithm, Program, config_of, name_of, require_same_run, version_of
from aaa.runtime.run import Run
from aaa.runtime.stops import RunStop
from aaa.runtime.store import read_to_replay

__all__ = ["drive", "outcome_of", "started_event"]


def started_event(
    program: Program, algorithm: Algorithm, input: Any, budget: Budget | None, parent: str | None = None
) -> Event:
    """The first event of a run of `algorithm`.

    Raises:
        ValueError: a `max_cost` that could not be kept, since no price is known.
    """
    program.require_price(budget)
    data = {
        "algorithm": name_of(algorithm),
        "version": version_of(algorithm),
        "input": input,
        "config": config_of(algorithm),
        "budget": budget or Budget(),
        "parent": parent,
    }
    return new_event("aaa.run.started", data, program.redact)


async def drive(program: Program, run_id: str, token: int | None = None) -> Outcome:
    """Bring the run to its end, from wherever its log says it is.

    Cancelling this coroutine stops driving: what is noted is appended, and the run stays to be resumed.

    Raises:
        SupersededError, StoreError: the run cannot be driven from here now.
        NonDeterminismError: the algorithm does not match the log; the log is as it was.
        UnavailableError: its algorithm, or a handler it needs, is not here.
    """
    epoch = await program.store.claim(run_id, token)
    events = await read_to_replay(program.store, run_id)
    log = _open(program, run_id, epoch, events)
    if log.ended is not None:
        return Outcome.of(log.ended)
    return await _Driver(program, log, events[0]).outcome(program.algorithm(events[0]))


def outcome_of(events: Sequence[Event]) -> Outcome | None:
    """The recorded end of a run."""
    ends = [event for event in events if event.type == "aaa.run.completed"]
    return Outcome.of(ends[-1]) if ends else None


def _open(program: Program, run_id: str, epoch: int, events: Sequence[Event]) -> RunLog:
    return RunLog(program.store, run_id, epoch, events, redact=program.redact, on_event=program.on_event)


class _Driver:
    """Drives one run; `parent` is the driver of the run that this one is a child of."""

    def __init__(self, program: Program, log: RunLog, started: Event, parent: "_Driver | None" = None) -> None:
        self.program = program
        self.log = log
        self.started = started
        self.parent = parent
        budget = msgspec.convert(started.data.get("budget") or {}, Budget)
        self.limits: list[tuple[Budget, Spent]] = [*(parent.limits if parent else ()), (budget, log.spent)]
        self.deadline = min((b.ends_at for b, _ in self.limits if b.ends_at is not None), default=None)

    @property
    def is_cancelled(self) -> bool:
        """Whether this run, or one above it, is to be cancelled."""
        return self.log.is_cancel_requested or (self.parent is not None and self.parent.is_cancelled)

    async def outcome(self, algorithm: Algorithm) -> Outcome:
        """Run the algorithm and record how it ended."""
        if self.is_cancelled:
            return await self._complete("cancelled")
        run = Run(self.program, self.log, self._drive_child, limits=self.limits, config=self.started.data.get("config"))
        task = asyncio.create_task(self._value(algorithm, run), name=f"algorithm of {self.log.run_id}")
        self.log.on_cancel = task.cancel
        self.program.live[self.log.run_id] = self.log
        try:
            return await self._ended(task, run)
        finally:
            self.log.on_cancel = None
            self.program.live.pop(self.log.run_id, None)
            await _stopped(task)
            await run.stop()
            await self.log.close()

    async def _value(self, algorithm: Algorithm, run: Run) -> Any:
        return await algorithm.run(run, self.started.data["input"])

    async def _ended(self, task: "asyncio.Task[Any]", run: Run) -> Outcome:
        try:
            timeout = None if self.deadline is None else max(self.deadline - time.time(), 0)
            done, _ = await asyncio.wait([task], timeout=timeout)
        except asyncio.CancelledError:
            await _stopped(task)
            await self._record_end_from_above(run)
            raise
        if not done:
            await _stopped(task)
            return await self._complete("past_deadline", problem=TimeoutError("the deadline has passed"), run=run)
        if self.is_cancelled and task.cancelled():
            return await self._complete("cancelled", run=run)
        return await self._returned(task, run)

    async def _record_end_from_above(self, run: Run) -> None:
        """A child is ended with its parent; a run that is only stopped has no end."""
        if self.parent is not None and self.is_cancelled:
            await self._complete("cancelled", run=run)
        elif self.parent is not None and self.deadline is not None and time.time() >= self.deadline:
            await self._complete("past_deadline", problem=TimeoutError("the deadline has passed"), run=run)

    async def _returned(self, task: "asyncio.Task[Any]", run: Run) -> Outcome:
        error = asyncio.CancelledError("raised by the algorithm") if task.cancelled() else task.exception()
        match error:
            case None:
                self._require_all_visited("the end of the run", None)
                return await self._complete("done", task.result(), run=run)
            case RunStop():
                return await self._complete(error.status, problem=error, run=run)
            case OutOfTurnsError():
                self._require_all_visited("the end of the run", error)
                return await self._complete("out_of_turns", error.value, error, run=run)
            case Exception() | asyncio.CancelledError():
                if self.log.failure is None:
                    self._require_all_visited(type(error).__name__, error)
                return await self._complete("failed", problem=error, run=run)
            case _:
                raise error

    async def _complete(
        self, status: Status, value: Any = None, problem: BaseException | None = None, run: Run | None = None
    ) -> Outcome:
        if run is not None:
            await run.stop()
        if self.log.failure is not None:
            raise self.log.failure
        error = None if problem is None else error_data(problem)
        data: dict[str, Any] = {"status": status, "value": value, "error": error, "spent": _plain(self.log.spent)}
        try:
            event = self.log.new("aaa.run.completed", data)
        except (TypeError, ValueError) as unfit:
            error = {"type": type(unfit).__name__, "message": f"the result is no JSON: {unfit}"}
            event = self.log.new("aaa.run.completed", data | {"status": "failed", "value": None, "error": error})
        await self.log.write_last(event)
        self.program.started.pop(self.log.run_id, None)
        return Outcome.of(event)

    def _require_all_visited(self, requested: str, cause: BaseException | None) -> None:
        """An algorithm that ends before its log does is not the one that wrote it."""
        key = self.log.unvisited()
        if key is None or self.log.failure is not None:
            return
        recorded = self.log.recorded[key][0].type.removeprefix("aaa.")
        self.log.fail(NonDeterminismError(self.log.run_id, key=key, recorded=recorded, requested=requested))
        assert self.log.failure is not None
        raise self.log.failure from cause

    async def _drive_child(
        self, run_id: str, algorithm: Algorithm, input: Any, budget: Budget | None
    ) -> Mapping[str, Any]:
        store, asked = self.program.store, started_event(self.program, algorithm, input, budget, self.log.run_id)
        is_new = await store.submit(run_id, asked)
        epoch = await store.claim(run_id)
        events = await read_to_replay(store, run_id)
        if not is_new:
            require_same_run(run_id, asked, events[0])
        elif self.program.on_event is not None:
            self.program.on_event(replace(asked, run_id=run_id, seq=1))
        log = _open(self.program, run_id, epoch, events)
        children = self.log.spent.children
        children.append(log.spent)
        try:
            ended = Outcome.of(log.ended) if log.ended is not None else None
            outcome = ended or await _Driver(self.program, log, events[0], self).outcome(algorithm)
        finally:
            children[:] = [child for child in children if child is not log.spent]
        return {"outcome": msgspec.to_builtins(outcome), "spent": _plain(log.spent)}


async def _stopped(task: "asyncio.Task[Any]") -> None:
    """Cancel the task, once, and wait for it; what it raised is taken note of, so that no loop complains of it."""
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled():
        task.exception()


def _plain(spent: Spent) -> dict[str, Any]:
    total = spent.total()
    return {"tokens": total.tokens, "cost": total.cost, "steps": total.steps}
