"""Algorithms out of functions, engines with fakes, and what tests look at in a log."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from aaa.errors import StoreError
from aaa.llm import FakeLLMClient, LLMHandler
from aaa.llm.fake import text
from aaa.messages import LLMRequest, Message
from aaa.runtime import Engine, Event, EventStore, MemoryEventStore, RunHandle
from aaa.tools import ToolHandler, ToolRegistry

__all__ = [
    "WAIT_SECONDS",
    "FailingStore",
    "Given",
    "ask",
    "bounded",
    "engine_of",
    "failing_from",
    "fingerprint",
    "handle_of",
    "interrupted",
    "kinds",
    "listed",
    "reached",
    "visible",
]

T = TypeVar("T")

WAIT_SECONDS = 30  # far more than anything here takes; it only keeps a failing test from hanging


class Given:
    """An algorithm that is a function of (run, input)."""

    def __init__(self, function: Callable[[Any, Any], Awaitable[Any]], name: str = "given") -> None:
        self.function = function
        self.name = name

    async def run(self, run: Any, input: Any) -> Any:
        return await self.function(run, input)


def bounded(scenario: Coroutine[Any, Any, T]) -> T:
    """Run a scenario in an event loop of its own, for a bounded time."""

    async def in_time() -> T:
        async with asyncio.timeout(WAIT_SECONDS):
            return await scenario

    return asyncio.run(in_time())


def engine_of(
    store: EventStore | None = None,
    *,
    client: Any = None,
    tools: Iterable[Any] = (),
    redact: Any = None,
    **handler: Any,
) -> Engine:
    """An engine with a model that says "ok", or `client`, and with `tools`."""
    engine = Engine(store, redact=redact)
    LLMHandler(client or FakeLLMClient(lambda _: text("ok")), **handler).attach(engine)
    ToolHandler(ToolRegistry(tools)).attach(engine)
    return engine


def handle_of(engine: Engine, run_id: str) -> RunHandle:
    """A handle on a run that this engine does not drive."""
    return RunHandle(engine.program, engine.dispatcher, run_id)


def ask(words: str) -> list[Message]:
    """A conversation of one question."""
    return [Message("user", words)]


def kinds(events: Iterable[Event]) -> list[str]:
    """Each event as `type key`, without the `aaa.` that all begin with."""
    return [f"{event.type.removeprefix('aaa.')} {event.data.get('key', '')}".rstrip() for event in events]


def visible(request: LLMRequest) -> bytes:
    """Every byte of the conversation that the model sees."""
    return fingerprint(request.messages)


def fingerprint(messages: Sequence[Message]) -> bytes:
    """Messages as bytes."""
    return msgspec.json.encode([msgspec.to_builtins(message) for message in messages])


async def reached(store: EventStore, run_id: str, type: str, count: int = 1) -> Event:
    """Wait until the log has `count` events of `type`; gives the last of these."""
    async for event in store.subscribe(run_id):
        count -= event.type == type
        if count == 0:
            return event
    raise AssertionError(f"run {run_id} ended without {type}")


async def listed(store: EventStore, run_id: str, status: str) -> None:
    """Wait until the store lists the run with this status; for runs that may not be there yet."""
    while run_id not in {info.run_id for info in await store.runs(status)}:  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(0)


async def interrupted(
    store: EventStore, algorithm: Any, input: Any = None, *, at: str = "aaa.run.waiting"
) -> list[Event]:
    """Start run "r" in an engine that closes once the log has an event of type `at`; the log it leaves."""
    engine = engine_of(store)
    await engine.start(algorithm, input, run_id="r")
    await reached(store, "r", at)
    await engine.close()
    return await store.read("r")


class FailingStore(MemoryEventStore):
    """Fails the n-th append, from 1, and with `is_for_good` all after it; nothing of them is stored."""

    def __init__(self, number: int, *, is_for_good: bool = False) -> None:
        super().__init__()
        self.left = number
        self.is_for_good = is_for_good

    async def append(self, run_id: str, expected_seq: int, epoch: int | None, events: Sequence[Event]) -> int:
        self.left -= 1
        if self.left == 0 or (self.left < 0 and self.is_for_good):
            raise StoreError("cannot write: disk full")
        return await super().append(run_id, expected_seq, epoch, events)


def failing_from(
    number: int, sql: str, problem: str, *, is_for_good: bool
) -> Callable[[str, float], sqlite3.Connection]:
    """A `connect` for `SQLiteEventStore`: the n-th statement that begins with `sql` fails, and maybe all after it."""
    left = number

    def check(statement: str) -> None:
        nonlocal left
        if statement.startswith(sql):
            left -= 1
            if left == 0 or (left < 0 and is_for_good):
                raise sqlite3.OperationalError(problem)

    class FailingConnection(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:  # type: ignore[override]
            check(sql)
            return super().execute(sql.replace("synchronous = FULL", "synchronous = OFF"), *parameters)

        def executemany(self, sql: str, parameters: Any) -> sqlite3.Cursor:  # type: ignore[override]
            check(sql)
            return super().executemany(sql, parameters)

    def connect(path: str, timeout: float) -> sqlite3.Connection:
        return sqlite3.connect(
            path, timeout=timeout, isolation_level=None, check_same_thread=False, factory=FailingConnection
        )

    return connect
