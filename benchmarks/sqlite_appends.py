"""Appends a second to the SQLite store, by group commit and each committed by itself; and reading a long log.

The two kinds of commit take turns, round by round, because disks change their speed; the ratio is of the medians.
"""

import asyncio
import os
import statistics
import tempfile
import time

from aaa.runtime.events import Event
from aaa.runtime.stores import SQLiteEventStore
from benchmarks.measurement import Measurement

_ROUNDS = 5
_GROUPED, _EACH = 512, 1
_APPENDS = {(1, _GROUPED): 200, (1, _EACH): 200, (64, _GROUPED): 100, (64, _EACH): 6}  # by one writer in one round
_LOG_EVENTS = 5_000


def measure() -> list[Measurement]:
    """Appends a second at 1 and 64 writers, the ratios, and the time to read 5,000 events."""
    with tempfile.TemporaryDirectory() as folder:
        figures: list[Measurement] = []
        for writers in (1, 64):
            rates: dict[int, list[float]] = {_GROUPED: [], _EACH: []}
            for round in range(_ROUNDS):
                for group_size, taken in rates.items():
                    path = os.path.join(folder, f"{writers}-{group_size}-{round}.db")
                    taken.append(asyncio.run(_appends_per_second(path, writers, group_size)))
            figures += _compared(writers, rates[_GROUPED], rates[_EACH])
        milliseconds = asyncio.run(_read_milliseconds(os.path.join(folder, "read.db")))
        return [*figures, Measurement(f"read of {_LOG_EVENTS:,} events", milliseconds, "ms")]


def _compared(writers: int, grouped: list[float], each: list[float]) -> list[Measurement]:
    label = "1 writer" if writers == 1 else f"{writers} writers"
    ratio = statistics.median(grouped) / statistics.median(each)
    return [
        Measurement(f"{label}, group commit", statistics.median(grouped), "appends/s"),
        Measurement(f"{label}, commit each", statistics.median(each), "appends/s"),
        Measurement(f"{label}, ratio", ratio, "times", "at least 5" if writers > 1 else ""),
    ]


async def _appends_per_second(path: str, writers: int, group_size: int) -> float:
    appends = _APPENDS[writers, group_size]
    async with SQLiteEventStore(path, group_size=group_size) as store:
        epochs = [await _started(store, f"run{number}") for number in range(writers)]
        begun = time.perf_counter()
        await asyncio.gather(*(_write(store, f"run{n}", epoch, appends) for n, epoch in enumerate(epochs)))
        return writers * appends / (time.perf_counter() - begun)


async def _write(store: SQLiteEventStore, run_id: str, epoch: int, appends: int) -> None:
    for seq in range(1, appends + 1):
        await store.append(run_id, seq, epoch, [_event(seq)])


async def _read_milliseconds(path: str) -> float:
    async with SQLiteEventStore(path) as store:
        epoch = await _started(store, "run")
        await store.append("run", 1, epoch, [_event(seq) for seq in range(_LOG_EVENTS - 1)])
        times: list[float] = []
        for _ in range(_ROUNDS):
            begun = time.perf_counter()
            events = await store.read("run")
            times.append((time.perf_counter() - begun) * 1000)
            assert len(events) == _LOG_EVENTS
        return statistics.median(times)


async def _started(store: SQLiteEventStore, run_id: str) -> int:
    await store.submit(run_id, _event(0))
    return await store.claim(run_id)


def _event(number: int) -> Event:
    data = {"key": f"{number}", "content": "a line of a tool's result\n" * 8}
    return Event(type="aaa.tool.completed", data=data, id=f"{number:032x}", at=1.0)
