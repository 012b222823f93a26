"""One run, from outside: wait for it, watch it, end it, send it something."""

from collections.abc import AsyncIterator
from typing import Any

from aaa.errors import ConflictError
from aaa.runtime.dispatch import Dispatcher
from aaa.runtime.drive import outcome_of
from aaa.runtime.events import Event
from aaa.runtime.log import new_event
from aaa.runtime.outcome import Outcome
from aaa.runtime.program import Program

__all__ = ["RunHandle"]


class RunHandle:
    """A run of an engine's store, by its id."""

    def __init__(self, program: Program, dispatcher: Dispatcher, run_id: str) -> None:
        self.run_id = run_id
        self._program = program
        self._dispatcher = dispatcher

    async def result(self) -> Outcome:
        """How the run ended; waits for it.

        Raises:
            NonDeterminismError, StoreError, RunError: the run cannot go on here; it has not ended.
        """
        outcome = await self._dispatcher.wait(self.run_id)
        if outcome is None:
            events = [event async for event in self.events()]
            outcome = outcome_of(events)
        assert outcome is not None, "events() ends after aaa.run.completed"
        return outcome

    def events(self, after: int = 0) -> AsyncIterator[Event]:
        """The run's events after `after`, those to come included; ends with the run."""
        return self._program.store.subscribe(self.run_id, after)

    async def cancel(self) -> None:
        """End the run: recorded first, then what is under way is stopped. A run that has ended stays as it is."""
        if await self._append("aaa.run.cancel_requested", {}):
            await self._dispatcher.cancel(self.run_id)

    async def send(self, name: str, data: Any = None) -> None:
        """Send something to the run, for `run.wait_for(name)`; `data` is JSON."""
        if await self._append("aaa.run.received", {"name": name, "data": data}):
            log = self._program.live.get(self.run_id)
            if log is not None:
                await log.refresh()

    async def _append(self, type: str, data: dict[str, Any]) -> bool:
        """Append from outside, after whatever the driver appends meanwhile; False if the run has ended."""
        event = new_event(type, data, self._program.redact)
        store = self._program.store
        while True:
            events = await store.read(self.run_id)
            if outcome_of(events) is not None:
                return False
            try:
                await store.append(self.run_id, events[-1].seq, None, [event])
            except ConflictError:
                continue
            return True
