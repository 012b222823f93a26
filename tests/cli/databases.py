"""A database of real runs, one of each kind, and processes that drive one."""

import asyncio
from pathlib import Path
from typing import Any

from aaa.algos import ToolLoop
from aaa.context import ContextPolicy
from aaa.llm import FakeLLMClient, LLMHandler
from aaa.llm.fake import text, together, tool_call
from aaa.messages import LLMRequest, LLMResponse, Message
from aaa.runtime import Engine, SQLiteEventStore
from aaa.tools import ToolHandler, ToolRegistry, tool

__all__ = ["CALLS", "RUNS", "Waiting", "make_database"]

CALLS = 14
RUNS = ["long", "family", "family/0", "family/0/0", "family/stranger", "asking", "broken", "gone"]


@tool
def look(page: int) -> str:
    """Look at a page."""
    if page == 3:
        raise FileNotFoundError("no such page")
    return f"page {page}: " + "word " * 200


class Model:
    """Looks at two pages, then at one after the other, then answers."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, request: LLMRequest) -> LLMResponse:
        self.calls += 1
        if self.calls == CALLS:
            return text("secret answer")
        calls = [tool_call("look", page=self.calls + 100 * n) for n in range(2 if self.calls == 1 else 1)]
        return together(*calls)


class Family:
    """Runs itself as a child, `depth` levels deep."""

    name = "family"

    async def run(self, run: Any, input: int) -> str:
        if input:
            await run.child(self, input - 1)
        return (await run.llm([Message("user", "hello")])).message.text


class Waiting:
    """Asks once, then waits to be told."""

    name = "waiting"

    async def run(self, run: Any, input: Any) -> Any:
        await run.step("prepare", lambda: "ready")
        return await run.wait_for("approval")


class Broken:
    """Fails."""

    name = "broken"

    async def run(self, run: Any, input: Any) -> Any:
        raise ValueError("secret")


async def _make(path: Path) -> list[LLMRequest]:
    summaries = FakeLLMClient(lambda request: text("A secret summary."), price_per_token=1e-5)
    policy = ContextPolicy(2_000, reserve_output=0, summarizer=summaries)
    registry = ToolRegistry([look])
    async with SQLiteEventStore(path) as store:
        async with Engine(store) as engine:
            client = FakeLLMClient(Model(), price_per_token=1e-6)
            LLMHandler(client, context=policy).attach(engine)
            ToolHandler(registry).attach(engine)
            loop = ToolLoop(registry, max_turns=40, system="Be brief.")
            await engine.run(loop, {"task": "secret task"}, run_id="long")
        async with Engine(store) as engine:
            LLMHandler(FakeLLMClient(lambda request: text("hello"))).attach(engine)
            await engine.run(Family(), 2, run_id="family")
            await engine.run(Family(), 0, run_id="family/stranger")
            handle = await engine.start(Waiting(), None, run_id="asking")
            async for event in handle.events():
                if event.type == "aaa.run.waiting":
                    break
            await engine.run(Broken(), None, run_id="broken")
            gone = await engine.start(Waiting(), None, run_id="gone")
            await gone.cancel()
            await gone.result()
    return client.requests


def make_database(path: Path) -> list[LLMRequest]:
    """Runs that are done, failed, cancelled and waiting, children, and a run whose id only looks like a child's.

    Returns the requests that the run "long" sent.
    """
    return asyncio.run(_make(path))
