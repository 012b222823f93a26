"""The front door: start runs, resume them, look at them, delete them."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, get_args
from uuid import uuid4

import msgspec

from aaa.errors import StoreError
from aaa.messages import Handler
from aaa.runtime.budget import Budget
from aaa.runtime.dispatch import Dispatcher, LocalDispatcher
from aaa.runtime.drive import drive, started_event
from aaa.runtime.events import Event
from aaa.runtime.handle import RunHandle
from aaa.runtime.log import Redact
from aaa.runtime.outcome import Outcome, Status
from aaa.runtime.program import Algorithm, Program, name_of, require_same_run
from aaa.runtime.store import EventStore
from aaa.runtime.stores import MemoryEventStore

__all__ = ["Engine"]

_log = logging.getLogger("aaa.runtime")
_AFTER_ALL = 2**62  # a read after it returns nothing, and says if there is no such run
_FINAL = get_args(Status)


class Engine:
    """Drives runs in this process over `store`, in memory by default.

    `redact` changes each event before it is stored; what an algorithm goes on with is what the log holds. `dispatcher`
    makes a dispatcher out of the coroutine that drives one run. An engine closes the store it made itself, not yours.

        async with Engine(store) as engine:
            LLMHandler(client, context=policy).attach(engine)
            outcome = await engine.run(algorithm, {"task": "…"})
    """

    def __init__(
        self,
        store: EventStore | None = None,
        *,
        redact: Redact | None = None,
        dispatcher: Callable[[Callable[[str], Awaitable[Outcome]]], Dispatcher] = LocalDispatcher,
    ) -> None:
        self._owns_store = store is None
        self.store: EventStore = MemoryEventStore() if store is None else store
        self.program = Program(self.store, redact=redact, on_event=self._tell)
        self._make_dispatcher = dispatcher
        self._dispatcher: Dispatcher | None = None
        self._listeners: list[Callable[[Event], None]] = []

    async def __aenter__(self) -> "Engine":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def dispatcher(self) -> Dispatcher:
        """Where runs are driven; made on first use, inside the event loop."""
        if self._dispatcher is None:
            self._dispatcher = self._make_dispatcher(lambda run_id: drive(self.program, run_id))
        return self._dispatcher

    def attach(self, kind: str, handler: Handler) -> None:
        """Let `handler` perform the effects of `kind` ("llm", "tool")."""
        self.program.handlers[kind] = handler

    def on_event(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with each event once it is stored. What it raises is logged and changes nothing."""
        self._listeners.append(listener)

    async def start(
        self, algorithm: Algorithm, input: Any, *, run_id: str | None = None, budget: Budget | None = None
    ) -> RunHandle:
        """Start a run, or get hold of it if one of this `run_id` exists.

        Raises:
            RunError: the existing run has another algorithm or another input.
            ValueError: a `max_cost` that could not be kept, since no price is known.
        """
        if run_id == "":
            raise ValueError("run_id must not be empty")
        run_id = uuid4().hex if run_id is None else run_id
        started = started_event(self.program, algorithm, input, budget)
        if await self.store.submit(run_id, started):
            self._tell(msgspec.structs.replace(started, run_id=run_id, seq=1))
        else:
            require_same_run(run_id, started, (await self.store.read(run_id))[0])
        return await self.resume(run_id, algorithm)

    async def run(
        self, algorithm: Algorithm, input: Any, *, run_id: str | None = None, budget: Budget | None = None
    ) -> Outcome:
        """Start a run and wait for its end."""
        return await (await self.start(algorithm, input, run_id=run_id, budget=budget)).result()

    async def resume(self, run_id: str, algorithm: Algorithm | None = None) -> RunHandle:
        """Go on with a run that was interrupted; `algorithm`, if it was not started or recovered here before.

        Raises:
            UnknownRunError: there is no such run.
        """
        await self.store.read(run_id, _AFTER_ALL)
        if algorithm is not None:
            self.program.algorithms[name_of(algorithm)] = self.program.started[run_id] = algorithm
        await self.dispatcher.start(run_id)
        return RunHandle(self.program, self.dispatcher, run_id)

    async def recover(self, algorithms: Iterable[Algorithm]) -> list[RunHandle]:
        """Go on with every run that has not ended. Children go on with their parents.

        A run that can not go on (unknown algorithm, or one that no longer matches its log) says so from
        `handle.result()`; the others are not affected.
        """
        for algorithm in algorithms:
            self.program.algorithms[name_of(algorithm)] = algorithm
        handles: list[RunHandle] = []
        for info in await self.store.runs():
            if info.status in _FINAL:
                continue
            if await self._is_top_level(info.run_id):
                handles.append(await self.resume(info.run_id))
        return handles

    async def _is_top_level(self, run_id: str) -> bool:
        """Whether the run is no child. One whose log cannot be read is taken for one, and says so when it is driven."""
        try:
            started = (await self.store.read(run_id))[0]
        except StoreError as error:
            _log.error("run %s cannot be read: %s", run_id, type(error).__name__)
            return True
        if started.data.get("parent") is None and started.data["algorithm"] not in self.program.algorithms:
            _log.warning("run %s is one of %s, not known here", run_id, started.data["algorithm"])
        return started.data.get("parent") is None

    def handle(self, run_id: str) -> RunHandle:
        """A run to look at, cancel or send to, without driving it here."""
        return RunHandle(self.program, self.dispatcher, run_id)

    async def delete_run(self, run_id: str) -> bool:
        """Delete a run and its children, with all they hold; False if there is none. A run under way is stopped."""
        await self.dispatcher.stop(run_id)
        doomed = [run_id]
        for info in sorted(await self.store.runs(), key=lambda info: len(info.run_id)):  # parents before children
            if info.run_id.startswith(f"{run_id}/"):
                started = (await self.store.read(info.run_id))[0]
                doomed += [info.run_id] if started.data.get("parent") in doomed else []
        deleted = [await self.store.delete(each) for each in reversed(doomed)]
        self.program.started.pop(run_id, None)
        return deleted[-1]

    async def close(self) -> None:
        """Stop driving; runs that have not ended stay to be resumed."""
        if self._dispatcher is not None:
            await self._dispatcher.close()
        if self._owns_store:
            await self.store.close()

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception as error:  # noqa: BLE001 - an onlooker must not stop a run
                _log.error("an event listener raised %s at event %s", type(error).__name__, event.type)
