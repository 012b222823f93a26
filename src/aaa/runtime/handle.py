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

    def events(self, after: int = 0, *, live: bool = False) -> AsyncIterator[Event]:
        """The run's events after `after`, those to come included; ends with the run.

        With `live=True` pieces of a reply come as the model writes it, if the run is driven in this process and the
        client can stream: events `aaa.llm.delta` with `seq` 0 and data {key, kind, index, text}, kind "text",
        "thinking" or "arguments" (of call `index`). They are in no log, which holds the whole reply.
        """
        recorded = self._program.store.subscribe(self.run_id, after)
        return self._program.watching.watch(self.run_id, recorded) if live else recorded

    async def cancel(self) -> None:
        """End the run: recorded first, then what is under way is stopped. A run that has ended stays as it is."""
        await self._append("aaa.run.cancel_requested", {})

    async def send(self, name: str, data: Any = None) -> None:
        """Send something to the run, for `run.wait_for(name)`; `data` is JSON."""
        await self._append("aaa.run.received", {"name": name, "data": data})

    async def _append(self, type: str, data: dict[str, Any]) -> None:
        """Append from outside: through the run's own log if it is driven here, else after whatever is there."""
        event = new_event(type, data, self._program.redact)
        log = self._program.live.get(self.run_id)
        if log is not None and log.is_open:
            await log.write_event(event)
        else:
            await self._append_to_store(event)

    async def _append_to_store(self, event: Event) -> None:
        store, events = self._program.store, await self._program.store.read(self.run_id)
        head = events[-1].seq
        while outcome_of(events) is None:
            try:
                await store.append(self.run_id, head, None, [event])
            except ConflictError:
                events = await store.read(self.run_id, head)
                head = events[-1].seq if events else head
            else:
                return
