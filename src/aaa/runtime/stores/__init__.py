"""Stores of events: in memory, and in one SQLite file. Both pass `aaa.runtime.conformance`."""

from aaa.runtime.stores.memory import MemoryEventStore
from aaa.runtime.stores.sqlite import SQLiteEventStore

__all__ = ["MemoryEventStore", "SQLiteEventStore"]
