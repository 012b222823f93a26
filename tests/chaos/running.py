"""One run of chaos with its checks, in bounded time; and what it adds to the sum of all."""

import asyncio
import gc
import logging
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.checks import problems_of
from tests.chaos.driving import Driven, carry_out
from tests.chaos.plan import planned
from tests.chaos.replaying import replay_problems
from tests.time_limit import Overdue, time_limit

__all__ = ["RunResult", "run_one"]

_WAIT_SECONDS = 120  # for the event loop; a run takes about one
_SPIN_SECONDS = 180  # for a run that never gives the event loop a turn


@dataclass
class RunResult:
    """What became of one run; plain, so that a process can hand it to another."""

    number: int
    provider: str = ""
    ending: str = ""
    steps: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    summaries: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    wordings: set[int] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


def run_one(seed: int, number: int, steps: int, folder: Path) -> RunResult:
    """Run it, check it; whatever goes wrong is a problem of the result."""
    began = time.monotonic()
    result = RunResult(number, planned(seed, number, steps).provider)
    try:
        with _quiet(), time_limit(_SPIN_SECONDS):
            driven = asyncio.run(_bounded(seed, number, steps, folder))
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it is what this is looking for
        where = "".join(traceback.format_exception(error)[-6:])
        result.problems.append(f"the run raised {type(error).__name__}: {error}\n{where}")
    else:
        _fill(result, driven)
    result.seconds = time.monotonic() - began
    return result


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the library logs meanwhile; everything goes wrong here on purpose."""
    log = logging.getLogger("aaa")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


async def _bounded(seed: int, number: int, steps: int, folder: Path) -> Driven:
    noted: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: noted.append(f"the event loop noted: {told}"))
    try:
        async with asyncio.timeout(_WAIT_SECONDS):
            driven = await carry_out(planned(seed, number, steps), folder)
            driven.record.problems += problems_of(driven)
            driven.record.problems += await replay_problems(driven)
            gc.collect()  # tasks whose errors nobody looked at speak up when they go
            driven.record.problems += noted
    except TimeoutError as error:
        raise Overdue(f"no end after {_WAIT_SECONDS} seconds") from error
    return driven


def _fill(result: RunResult, driven: Driven) -> None:
    assert driven.outcome is not None
    events = driven.events
    types = Counter(event.type for event in events)
    result.ending = _ending(driven)
    result.steps = types["aaa.llm.completed"]
    result.faults, result.summaries = driven.model.served, driven.summarizer.served
    result.wordings, result.problems = driven.model.wordings, driven.record.problems
    replies = [event.data for event in events if event.type == "aaa.llm.completed"]
    reports = [data["context"] for data in replies if "context" in data]
    for event in events:
        if event.type == "aaa.context.rejected":
            result.rejected.update(reason.partition(";")[0] for reason in event.data["rejected"])
    result.counts.update(
        {
            "model requests": len(driven.record.sent),
            "tool calls": sum(driven.tools.ran.values()),
            "compactions": sum(any(name != "stored_summary" for name in report["applied"]) for report in reports),
            "summaries used": types["aaa.context.summary"],
            "windows learned": types["aaa.context.learned"],
            "silent cuts noticed": sum(
                event.type == "aaa.context.learned" and event.data["kind"] == "silent" for event in events
            ),
            "retries": types["aaa.llm.retried"],
            "crashes resumed": len(driven.crashed),
            "messages sent in": types["aaa.run.received"],
            "events": len(events),
            "over a socket": driven.plan.is_over_http,
            "streamed": driven.plan.is_watched,
            "on SQLite": driven.plan.is_durable,
        }
    )


def _ending(driven: Driven) -> str:
    outcome = driven.outcome
    assert outcome is not None
    if outcome.status != "failed":
        return outcome.status
    assert outcome.error is not None
    kind, message = outcome.error["type"], outcome.error["message"]
    inner = message.partition(" failed with ")[2].partition(":")[0]
    return f"failed: {inner or kind}"
