"""What durability costs a run on SQLite: appends a step, steps that stay as fast as the first, resuming, many at once.

Processor time of this process is taken where a ratio of times is asked for: other programs and the disk do not enter.
"""

import asyncio
import gc
import os
import statistics
import tempfile
import time
from collections.abc import Sequence

from aaa.algos import ToolLoop
from aaa.context import ContextPolicy
from aaa.llm import FakeLLMClient, LLMHandler
from aaa.llm.fake import text, tool_call
from aaa.messages import LLMRequest, LLMResponse
from aaa.runtime import Engine, Event, SQLiteEventStore
from aaa.tools import ToolHandler, ToolRegistry, tool
from benchmarks.measurement import Measurement

_LONG, _RUNS, _STEPS = 1_010, 1_000, 20
_RESUMED_STEPS = 1_260  # with four events a step, more than 5,000
_PAIRS = 7  # of reading and resuming, one after the other


@tool
async def read(page: int) -> str:
    """Read a page."""
    return f"page {page}: " + "lorem ipsum " * 300  # eight of them fill the window, so every step measured is full


class _Reader:
    """A model that reads `steps` pages, then answers; notes the processor time at each call."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.times: list[float] = []
        self.called = asyncio.Event()

    def __call__(self, request: LLMRequest) -> LLMResponse:
        self.times.append(time.process_time())
        self.called.set()
        ids = (call.id.rpartition("_")[2] for message in request.messages for call in message.tool_calls)
        done = max((int(number) for number in ids), default=0)
        return tool_call("read", page=done + 1) if done < self.steps else text("done")


class _CountedStore(SQLiteEventStore):
    """A store that counts appends."""

    appends = 0

    async def append(self, run_id: str, expected_seq: int, epoch: int | None, events: Sequence[Event]) -> int:
        self.appends += 1
        return await super().append(run_id, expected_seq, epoch, events)


def _policy() -> ContextPolicy:
    summarizer = FakeLLMClient(lambda request: text("Read the pages before; nothing of note."))
    return ContextPolicy(8_000, reserve_output=0, summarizer=summarizer, sticky=True)


def _attach(engine: Engine, model: _Reader) -> ToolLoop:
    LLMHandler(FakeLLMClient(model), context=_policy()).attach(engine)
    registry = ToolRegistry([read])
    ToolHandler(registry).attach(engine)
    return ToolLoop(registry, max_turns=model.steps + 5)


def measure() -> list[Measurement]:
    """Appends a step, flatness, resume, and a thousand runs at once."""
    with tempfile.TemporaryDirectory() as folder:
        appends, flatness = asyncio.run(_long_run(os.path.join(folder, "long.db")))
        reading, resuming = asyncio.run(_resumed(os.path.join(folder, "resumed.db")))
        seconds = asyncio.run(_many(os.path.join(folder, "many.db")))
    return [
        Measurement("appends a step", appends, "appends", "2"),
        Measurement("processor time of steps 900 to 1,000 against 10 to 110", flatness, "times", "at most 1.2"),
        Measurement("reading a log of 5,000 events", reading * 1e3, "ms"),
        Measurement("resuming it, reading included, against reading it", resuming / reading, "times", "at most 2"),
        Measurement(f"{_RUNS:,} runs of {_STEPS} steps at once", _RUNS * _STEPS / seconds, "steps/s"),
    ]


async def _long_run(path: str) -> tuple[float, float]:
    model = _Reader(_LONG)
    async with _CountedStore(path) as store, Engine(store) as engine:
        outcome = await engine.run(_attach(engine, model), {"task": "read"})
        assert outcome.is_done, outcome
        appends = store.appends / _LONG
    spans = [b - a for a, b in zip(model.times, model.times[1:], strict=False)]
    return appends, statistics.fmean(spans[900:1000]) / statistics.fmean(spans[10:110])


async def _resumed(path: str) -> tuple[float, float]:
    """Processor seconds of reading a log, and of resuming a run that had only its last call to make."""
    model = _Reader(_RESUMED_STEPS)
    async with SQLiteEventStore(path) as store, Engine(store) as engine:
        await engine.run(_attach(engine, model), {"task": "read"}, run_id="run")
        events = await store.read("run")
    last_request = max(event.seq for event in events if event.type == "aaa.llm.requested")
    pairs: list[tuple[float, float]] = []
    for number in range(_PAIRS):
        unfinished = f"{path}.{number}"
        async with SQLiteEventStore(unfinished) as store:
            await store.submit("run", events[0])
            epoch = await store.claim("run")
            await store.append("run", 1, epoch, events[1:last_request])
        pairs.append((await _seconds_to_read(unfinished), await _seconds_to_resume(unfinished)))
    readings, resumings = zip(*pairs, strict=True)
    return statistics.median(readings), statistics.median(resumings)


async def _seconds_to_read(path: str) -> float:
    async with SQLiteEventStore(path) as store:
        gc.collect()  # what was left behind before is not counted, here and below
        begun = time.process_time()
        await store.read("run")
        return time.process_time() - begun


async def _seconds_to_resume(path: str) -> float:
    model = _Reader(_RESUMED_STEPS)
    async with SQLiteEventStore(path) as store, Engine(store) as engine:
        algorithm = _attach(engine, model)
        gc.collect()
        begun = time.process_time()
        await engine.resume("run", algorithm)
        await model.called.wait()
        return model.times[0] - begun


async def _many(path: str) -> float:
    model = _Reader(_STEPS)
    async with SQLiteEventStore(path) as store, Engine(store) as engine:
        algorithm = _attach(engine, model)
        begun = time.perf_counter()
        handles = [await engine.start(algorithm, {"task": "read"}) for _ in range(_RUNS)]
        outcomes = [await handle.result() for handle in handles]
        assert all(outcome.is_done for outcome in outcomes)
        return time.perf_counter() - begun
