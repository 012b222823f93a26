"""The status of a run, as its last event tells it."""

from collections.abc import Sequence

from aaa.runtime.events import Event

__all__ = ["COMPLETED", "RUNNING", "status_after"]

COMPLETED = "aaa.run.completed"
RUNNING = "running"
_WAITING = "aaa.run.waiting"


def status_after(events: Sequence[Event]) -> str:
    """ "waiting" after `aaa.run.waiting`, what `aaa.run.completed` says after that, else "running"."""
    last = events[-1]
    if last.type == COMPLETED:
        return str(last.data.get("status", "done"))
    return "waiting" if last.type == _WAITING else RUNNING
