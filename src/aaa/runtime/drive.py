"""The one loop: drive a run from its log to its end. Knows no dispatcher; any of them may call it.

claim ─▶ read ─▶ algorithm.run(run, input) ─▶ aaa.run.completed
                      │ each effect: recorded? take it : do it
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aaa.errors import NonDeterminismError, OutOfTurnsError, RunError, StoreError
from aaa.runtime.budget import Budget, Spent
from aaa.runtime.events import Event
from aaa.runtime.log import RunLog, new_event
from aaa.runtime.outcome import Outcome, Status
from aaa.runtime.program import Algorithm, Program, config_of, name_of, version_of
from aaa.runtime.run import Run
from aaa.runtime.stops import RunStop

__all__ = ["drive", "outcome_of", "started_event"]

Limits = Sequence[tuple[Budget, Spent]]


def started_event(
    program: Program, algorithm: Algorithm, input: Any, budget: Budget | None, parent: str | None = None
) -> Event:
    """The first event of a run of `algorithm`."""
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

    Cancelling this coroutine leaves the run where it is, to be resumed, unless its log asks for cancellation.

    Raises:
        SupersededError, StoreError: the run cannot be driven from here now.
        NonDeterminismError: the algorithm does not match the log; the log is as it was.
        RunError: its algorithm is not known here.
    """
    epoch = await program.store.claim(run_id, token)
    events = await program.store.read(run_id)
    ended = outcome_of(events)
    return ended or await _drive_log(program, _open(program, run_id, epoch, events), events[0], (), ())


def outcome_of(events: Sequence[Event]) -> Outcome | None:
    """The recorded end of a run."""
    ends = [event for event in events if event.type == "aaa.run.completed"]
    return Outcome.of(ends[-1]) if ends else None


def _open(program: Program, run_id: str, epoch: int, events: Sequence[Event]) -> RunLog:
    return RunLog(program.store, run_id, epoch, events, redact=program.redact, on_event=program.on_event)


async def _drive_log(program: Program, log: RunLog, started: Event, outer: Limits, above: Sequence[RunLog]) -> Outcome:
    algorithm = program.algorithms.get(started.data["algorithm"])
    if algorithm is None:
        known = sorted(program.algorithms)
        raise RunError(f"run {log.run_id!r} is one of {started.data['algorithm']!r}; known here: {known}")
    limits = [*outer, (msgspec.convert(started.data.get("budget") or {}, Budget), log.spent)]
    run = Run(program, log, _child_driver(program, above), limits=limits, config=started.data.get("config"))
    program.live[log.run_id] = log
    try:
        return await _ended(algorithm, run, started.data["input"], above)
    finally:
        program.live.pop(log.run_id, None)


async def _ended(algorithm: Algorithm, run: Run, input: Any, above: Sequence[RunLog]) -> Outcome:
    """Run the algorithm and record how it ended."""
    deadline = _deadline(run.limits)
    try:
        async with asyncio.timeout(None if deadline is None else deadline - time.time()):
            value = await algorithm.run(run, input)
        _require_all_visited(run.log)
        return await _complete(run.log, "done", value)
    except RunStop as stop:
        return await _complete(run.log, stop.status, problem=stop)
    except OutOfTurnsError as error:
        return await _complete(run.log, "out_of_turns", error.value, error)
    except (StoreError, NonDeterminismError):
        raise
    except asyncio.CancelledError:
        await _complete_cancelled(run.log, deadline, above)
        if above:
            raise
        return Outcome("cancelled")
    except Exception as error:  # noqa: BLE001 - the outcome of the run
        is_late = isinstance(error, TimeoutError) and deadline is not None and time.time() >= deadline
        return await _complete(run.log, "past_deadline" if is_late else "failed", problem=error)


async def _complete_cancelled(log: RunLog, deadline: float | None, above: Sequence[RunLog]) -> None:
    """Record a cancellation that was asked for, here or above, or a deadline; else leave the run to be resumed."""
    for each in (*above, log):
        await each.refresh()
    if any(each.is_cancel_requested for each in (*above, log)):
        await _complete(log, "cancelled")
    elif deadline is not None and time.time() >= deadline:
        await _complete(log, "past_deadline")
    else:
        raise asyncio.CancelledError


async def _complete(log: RunLog, status: Status, value: Any = None, problem: BaseException | None = None) -> Outcome:
    if log.failure is not None:
        raise log.failure
    error = None if problem is None else {"type": type(problem).__name__, "message": str(problem)}
    try:
        new_event("", {"value": value})
    except TypeError as unfit:
        status, value, error = "failed", None, {"type": "TypeError", "message": f"the result is no JSON: {unfit}"}
    data = {"status": status, "value": value, "error": error, "spent": _plain(log.spent)}
    return Outcome.of(await log.write("aaa.run.completed", data))


def _require_all_visited(log: RunLog) -> None:
    key = log.unvisited()
    if key is not None:
        recorded = log.recorded[key][0].type.removeprefix("aaa.")
        raise NonDeterminismError(log.run_id, key=key, recorded=recorded, requested="the end of the run")


def _deadline(limits: Limits) -> float | None:
    return min((budget.deadline for budget, _ in limits if budget.deadline is not None), default=None)


def _plain(spent: Spent) -> dict[str, Any]:
    total = spent.total()
    return {"tokens": total.tokens, "cost": total.cost, "steps": total.steps}


def _child_driver(program: Program, above: Sequence[RunLog]) -> Any:
    async def drive_child(
        parent: Run, run_id: str, algorithm: Algorithm, input: Any, budget: Budget | None
    ) -> Mapping[str, Any]:
        program.algorithms.setdefault(name_of(algorithm), algorithm)
        await program.store.submit(run_id, started_event(program, algorithm, input, budget, parent.run_id))
        epoch = await program.store.claim(run_id)
        events = await program.store.read(run_id)
        log = _open(program, run_id, epoch, events)
        children = parent.log.spent.children
        children.append(log.spent)
        try:
            ended = outcome_of(events)
            outcome = ended or await _drive_log(program, log, events[0], parent.limits, (*above, parent.log))
        finally:
            children[:] = [child for child in children if child is not log.spent]
        return {"outcome": msgspec.to_builtins(outcome), "spent": _plain(log.spent)}

    return drive_child
