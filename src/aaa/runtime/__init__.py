"""Durable runs: a run is its log, and a restart resumes it. Events, stores, drive, engine, budget, outcomes.

Knows no provider. An algorithm is ordinary Python over the effects of `Run`; every effect is recorded before it happens
and after.
"""

from aaa.runtime.budget import Budget
from aaa.runtime.dispatch import Dispatcher, LocalDispatcher
from aaa.runtime.drive import drive
from aaa.runtime.engine import Engine
from aaa.runtime.events import Event, event_from_json, event_to_json
from aaa.runtime.handle import RunHandle
from aaa.runtime.outcome import Outcome
from aaa.runtime.program import Algorithm
from aaa.runtime.prompts import prompt_at
from aaa.runtime.run import Run
from aaa.runtime.store import EventStore, RunInfo
from aaa.runtime.stores import MemoryEventStore, SQLiteEventStore

__all__ = [
    "Algorithm",
    "Budget",
    "Dispatcher",
    "Engine",
    "Event",
    "EventStore",
    "LocalDispatcher",
    "MemoryEventStore",
    "Outcome",
    "Run",
    "RunHandle",
    "RunInfo",
    "SQLiteEventStore",
    "drive",
    "event_from_json",
    "event_to_json",
    "prompt_at",
]
