"""What keeps the logs of runs, and how appends exclude each other.

    submit   the run exists, with its first event; a second submit finds it there
    claim    who drives it takes the epoch; an older one can append no more
    append   compare-and-set on head and epoch: all of the events, or none and `ConflictError`

An append whose outcome is not known (the connection died after the commit) is settled by reading: if the events after
`expected_seq` have our ids, it succeeded. `settled` does that; so do stores themselves where they can, so that an error
from `append` means that nothing was written. A task cancelled while it awaits an append knows nothing: it may be there.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from aaa.errors import UnknownRunError
from aaa.runtime.events import Event

__all__ = ["EventStore", "ReplayStore", "RunInfo", "read_to_replay", "settled"]


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One run in a listing.

    `status` is "running", "waiting" (its last event of its own is a wait; branches may be at work beside it), or that
    of its `aaa.run.completed` event.
    """

    run_id: str
    status: str
    head: int
    epoch: int
    started_at: float
    updated_at: float


class EventStore(Protocol):
    """Keeps events. Every method may be called from any task of the event loop."""

    async def submit(self, run_id: str, started: Event) -> bool:
        """Create the run with `started` as event 1; False, and nothing changed, if it exists."""
        ...

    async def claim(self, run_id: str, token: int | None = None) -> int:
        """Take the run over and return the new epoch: `token`, or one more than the last.

        Raises:
            SupersededError: `token` is not above the epoch in force: somebody newer drives the run.
            UnknownRunError: there is no such run.
        """
        ...

    async def append(self, run_id: str, expected_seq: int, epoch: int | None, events: Sequence[Event]) -> int:
        """Append `events` after `expected_seq` and return the new head; all or nothing, durable on return.

        `epoch` is that of the caller's claim, or None for a writer from outside (cancel, send), who is bound by
        `expected_seq` alone. The events come back from `read` with run id, seq and epoch filled in.

        Raises:
            ConflictError: head or epoch is another; carries both.
            UnknownRunError: there is no such run.
        """
        ...

    async def read(self, run_id: str, after: int = 0) -> list[Event]:
        """The events with seq above `after`, in order.

        Raises:
            UnknownRunError: there is no such run.
        """
        ...

    def subscribe(self, run_id: str, after: int = 0) -> AsyncIterator[Event]:
        """Events with seq above `after`, as they come; ends after `aaa.run.completed`."""
        ...

    async def runs(self, status: str | None = None) -> list[RunInfo]:
        """All runs, or those of one status, oldest first."""
        ...

    async def delete(self, run_id: str) -> bool:
        """Delete a run with all it holds; False if there is none."""
        ...

    async def close(self) -> None:
        """Finish what is being written and let go of files; further calls fail."""
        ...


@runtime_checkable
class ReplayStore(Protocol):
    """What a store may offer besides, so that long runs are resumed sooner."""

    async def read_to_replay(self, run_id: str) -> list[Event]:
        """All events of a run, as `read`, without what a replay does not look at.

        `id` is "" and `at` 0. Of a model call asked for there is `key`, `conv`, `model` and `params`, and the
        messages in `conv.delta` may be `UnreadMessages`.

        Raises:
            UnknownRunError: there is no such run.
        """
        ...


async def read_to_replay(store: EventStore, run_id: str) -> list[Event]:
    """The events of a run that is to be driven, in the shape that `store` has for it.

    Whoever puts a `read` of his own over that of another class is asked for that one: it may decrypt.
    """
    if isinstance(store, ReplayStore) and _stand_together(type(store)):
        return await store.read_to_replay(run_id)
    return await store.read(run_id)


def _stand_together(kind: type) -> bool:
    """Whether one class has `read` and `read_to_replay`."""
    reader = next((parent for parent in kind.__mro__ if "read" in vars(parent)), kind)
    return "read_to_replay" in vars(reader)


async def settled(store: EventStore, run_id: str, expected_seq: int, events: Sequence[Event]) -> bool:
    """Whether these events stand after `expected_seq`: how an append of unknown outcome is settled, by their ids."""
    try:
        stored = await store.read(run_id, after=expected_seq)
    except UnknownRunError:
        return False
    return [event.id for event in stored[: len(events)]] == [event.id for event in events]
