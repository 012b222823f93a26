"""One run from its beginning to its end, through every interruption that is planned for it."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aaa.algos import ToolLoop
from aaa.context import ClearToolResults, ContextPolicy, DropOldest, HeuristicCounter, Summarize, TruncateToolResults
from aaa.errors import StoreError
from aaa.llm import RetryPolicy
from aaa.llm.providers import provider_named
from aaa.runtime import Budget, Engine, Event, EventStore, MemoryEventStore, Outcome, RunHandle, SQLiteEventStore
from tests.chaos import summaries
from tests.chaos.model import SECRET, WildModel
from tests.chaos.plan import Interruption, RunPlan
from tests.chaos.recording import Record, RecordingClient, RecordingHandler
from tests.chaos.summaries import WildSummarizer
from tests.chaos.tools import WildTools
from tests.chaos.wires import sdk_in_process, sdk_over_http, server_for
from tests.llm.served import PROVIDERS
from tests.servers.base import LocalServer

__all__ = ["Driven", "algorithm_of", "carry_out", "policy_of", "task_of"]

_SDK_SECONDS = {True: 1.0, False: 0.03}  # over a socket, or not: the time limit of one request


@dataclass
class Driven:
    """A run that has ended, with all that can be compared with its log. `crashed` holds the log as each interruption
    left it."""

    plan: RunPlan
    model: WildModel
    tools: WildTools
    summarizer: WildSummarizer
    server: LocalServer
    record: Record = field(default_factory=Record)
    crashed: list[list[Event]] = field(default_factory=list)
    outcome: Outcome | None = None
    events: list[Event] = field(default_factory=list)

    @property
    def dialect(self) -> str:
        """Whose rules its prompts follow."""
        return provider_named(self.plan.provider).dialect


def task_of(plan: RunPlan) -> str:
    """What the user asked for, which no prompt may lack without a word."""
    said = f"Task {plan.name} {SECRET}: look everything up. "
    return said + "Mind the details. " * (max(plan.task_characters - len(said), 0) // 18)


def algorithm_of(plan: RunPlan, registry: Any) -> ToolLoop:
    system = ("You look things up. " * (plan.system_characters // 20)) or None
    return ToolLoop(registry, max_turns=plan.steps + 30, system=system)


def policy_of(plan: RunPlan, summarizer: Any) -> ContextPolicy:
    """The policy of the plan; each process makes its own."""
    summarize = Summarize(summarizer, chunk_tokens=plan.chunk_tokens).limited(timeout_seconds=summaries.TIMEOUT_SECONDS)
    middle = [summarize] if plan.summarizes else []
    strategies = [TruncateToolResults(), ClearToolResults(), *middle, DropOldest()]
    counter = None if plan.is_calibrated else HeuristicCounter()
    return ContextPolicy(**plan.policy, strategies=strategies, counter=counter)


async def carry_out(plan: RunPlan, folder: Path) -> Driven:
    """Drive the run to its end."""
    model = WildModel(plan)
    server = server_for(plan.provider, model, is_in_process=not plan.is_over_http)
    driven = Driven(plan, model, WildTools(plan), WildSummarizer(plan), server)
    with ExitStack() as up:
        if plan.is_over_http:
            up.enter_context(server)
        stores = _Stores(plan, folder)
        interruptions: list[Interruption | None] = [*plan.interruptions, None]
        while driven.outcome is None:
            interruption = interruptions.pop(0) if len(interruptions) > 1 else None
            store = stores.open()
            driven.outcome = await _attempt(driven, store, interruption)
            if driven.outcome is None:
                driven.crashed.append(await store.read(plan.name))
                driven.record.crashes += 1
            await stores.close()
        driven.events = await stores.open().read(plan.name)
        await stores.close()
    return driven


async def _attempt(driven: Driven, store: EventStore, interruption: Interruption | None) -> Outcome | None:
    """Drive on in an engine of its own; None if it was interrupted."""
    is_broken = interruption is not None and interruption.kind == "broken store"
    used = _Breaking(store, interruption.after_events) if interruption is not None and is_broken else store
    async with AsyncExitStack() as up:
        client = await up.enter_async_context(client_of(driven))
        engine = await up.enter_async_context(Engine(used))
        algorithm = attached(engine, client, driven)
        after = None if interruption is None or is_broken else _Bell(engine, interruption.after_events)
        sender = [_Bell(engine, 3 + 11 * number) for number in range(driven.plan.sends)]
        try:
            budget = Budget(**driven.plan.budget) if driven.plan.budget else None
            input = {"task": task_of(driven.plan)}
            handle = await engine.start(algorithm, input, run_id=driven.plan.name, budget=budget)
        except StoreError:
            if is_broken:
                return None
            raise
        beside = [asyncio.create_task(_send(handle, bell, n)) for n, bell in enumerate(sender)]
        beside += [asyncio.create_task(_watch(handle))] if driven.plan.is_watched else []
        try:
            return await _until(handle, after, interruption)
        except StoreError:
            if is_broken:
                return None
            raise
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)


def client_of(driven: Driven) -> RecordingClient:
    plan = driven.plan
    make = sdk_over_http if plan.is_over_http else sdk_in_process
    sdk = make(plan.provider, driven.server, _SDK_SECONDS[plan.is_over_http])
    client = RecordingClient(provider_named(plan.provider), sdk, model=PROVIDERS[plan.provider].model)
    client.record, client.wild = driven.record, driven.model
    return client


def attached(engine: Engine, client: Any, driven: Driven) -> ToolLoop:
    """Attach model and tools to the engine; the algorithm that uses them."""
    plan = driven.plan

    async def sleep(seconds: float) -> None:
        driven.record.waits.append(seconds)
        await asyncio.sleep(0)

    policy = policy_of(plan, driven.summarizer)
    RecordingHandler(client, context=policy, retry=RetryPolicy(), strict=plan.is_strict, sleep=sleep).attach(engine)
    registry = driven.tools.registry()
    driven.tools.handler(registry).attach(engine)
    return algorithm_of(plan, registry)


async def _until(handle: RunHandle, bell: "_Bell | None", interruption: Interruption | None) -> Outcome | None:
    result = asyncio.create_task(handle.result())
    if bell is None or interruption is None:
        return await result
    rung = asyncio.create_task(bell.rung.wait())
    await asyncio.wait({result, rung}, return_when=asyncio.FIRST_COMPLETED)
    rung.cancel()
    if interruption.kind == "cancel":
        await handle.cancel()
    elif not result.done():
        result.cancel()
        await asyncio.wait({result})
        return None
    return await result


async def _send(handle: RunHandle, bell: "_Bell", number: int) -> None:
    await bell.rung.wait()
    await handle.send("hint", {"number": number})


async def _watch(handle: RunHandle) -> None:
    async for _ in handle.events(live=True):
        pass


class _Bell:
    """Rings when an engine has stored so many events."""

    def __init__(self, engine: Engine, after: int) -> None:
        self.left = after
        self.rung = asyncio.Event()
        engine.on_event(self._count)

    def _count(self, _: Event) -> None:
        self.left -= 1
        if self.left <= 0:
            self.rung.set()


class _Breaking:
    """A store that takes so many more events, then none."""

    def __init__(self, store: EventStore, left: int) -> None:
        self._store = store
        self._left = left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def append(self, run_id: str, expected_seq: int, epoch: int | None, events: Sequence[Event]) -> int:
        self._left -= len(events)
        if self._left < 0:
            raise StoreError("cannot write: disk full")
        return await self._store.append(run_id, expected_seq, epoch, events)


class _Stores:
    """The store of a run: one in memory that lasts as long as the run, or a file that is opened each time."""

    def __init__(self, plan: RunPlan, folder: Path) -> None:
        self._path = folder / f"{plan.name}.db" if plan.is_durable else None
        self._store: EventStore | None = None

    def open(self) -> EventStore:
        if self._store is None:
            self._store = SQLiteEventStore(self._path) if self._path is not None else MemoryEventStore()
        return self._store

    async def close(self) -> None:
        if self._path is not None and self._store is not None:
            await self._store.close()
            self._store = None
