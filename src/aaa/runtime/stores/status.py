"""The status of a run, as its last event tells it."""

from collections.abc import Sequence

from aaa.runtime.events import Event

__all__ = ["COMPLETED", "RUNNING", "status_after"]

COMPLETED = "aaa.run.completed"
RUNNING = "running"
_WAITING = "aaa.run.waiting"


_FROM_OUTSIDE = ("aaa.run.received", "aaa.run.cancel_requested")


def status_after(events: Sequence[Event]) -> str | None:
    """The status that these events leave a run in, None if they leave it as it was.

    "waiting" after `aaa.run.waiting`, what `aaa.run.completed` says after that, else "running". What comes from outside
    changes nothing.
    """
    last = next((event for event in reversed(events) if event.type not in _FROM_OUTSIDE), None)
    if last is None:
        return None
    if last.type == COMPLETED:
        return str(last.data.get("status", "done"))
    return "waiting" if last.type == _WAITING else RUNNING
