"""What a strategy is."""

from typing import Protocol, runtime_checkable

from aaa.context.work import Work

__all__ = ["Strategy", "SyncStrategy"]


class Strategy(Protocol):
    """One way to make a prompt smaller."""

    @property
    def name(self) -> str:
        """How reports call it."""
        ...

    async def apply(self, work: Work) -> None:
        """Reduce `work.messages` (change or replace the list); record `work.applied` if it changed anything.

        Leave the head, `work.messages[work.tail:]` and pinned messages alone, and calls with their results.
        """
        ...


@runtime_checkable
class SyncStrategy(Protocol):
    """A strategy that awaits nothing: `reduce` does what `apply` does, and needs no event loop."""

    def reduce(self, work: Work) -> None:
        """As `Strategy.apply`."""
        ...
