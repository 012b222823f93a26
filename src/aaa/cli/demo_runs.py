"""The two runs of the demonstration, without a policy and with one; as in examples/long_run.py.

The model is a script that looks only at the last message, so a demonstration that was stopped goes on.
"""

import re
from collections.abc import Callable
from typing import Any

from aaa.algos import ToolLoop
from aaa.cli.database import DatabaseError
from aaa.context import ContextPolicy
from aaa.llm import FakeLLMClient, LLMHandler
from aaa.llm.fake import text, tool_call
from aaa.messages import LLMRequest, LLMResponse
from aaa.runtime import Engine, Event, SQLiteEventStore
from aaa.tools import ToolHandler, ToolRegistry, tool

__all__ = ["CALLS", "RUNS", "WINDOW", "play"]

WINDOW = 4_000
TOPICS = 25
CALLS = TOPICS + 1
RUNS = WITHOUT, WITH = ("without-policy", "with-policy")
_INPUT: dict[str, Any] = {"task": "research everything"}
_NOTES = re.compile(r"Notes on topic (\d+):")


@tool
def lookup(topic: str) -> str:
    """Look a topic up (returns a long document)."""
    return f"Notes on {topic}: " + "lorem ipsum " * 150


def _researcher(request: LLMRequest) -> LLMResponse:
    """Stands in for a model: looks up one topic after the other, then says that it is done."""
    found = _NOTES.match(request.messages[-1].text)
    topic = int(found[1]) + 1 if found else 1
    if topic <= TOPICS:
        return tool_call("lookup", topic=f"topic {topic}")
    return text(f"Done: I looked up all {TOPICS} topics.")


def _summarizer(request: LLMRequest) -> LLMResponse:
    """Stands in for a small model that writes summaries."""
    return text("Looked up the earlier topics; each returned long notes.")


async def play(path: str, on_event: Callable[[Event], None]) -> dict[str, list[Event]]:
    """Run what has not been run in the database at `path`; the logs of both runs. `on_event` hears what is new.

    Raises:
        StoreError: the database cannot be used.
        DatabaseError: it holds a run of that name that is another.
    """
    policy = ContextPolicy(WINDOW, reserve_output=0, summarizer=FakeLLMClient(_summarizer))
    async with SQLiteEventStore(path) as store:
        for run_id, context in ((WITHOUT, None), (WITH, policy)):
            known = {info.run_id: info.status for info in await store.runs()}
            if known.get(run_id) != "done":
                await _run(store, run_id, context, on_event)
        logs = {run_id: await store.read(run_id) for run_id in RUNS}
    for run_id, log in logs.items():
        if log[0].data["input"] != _INPUT or log[-1].data.get("status") != "done":
            raise DatabaseError(f"holds a run {run_id!r} that is not the demonstration's; name another file")
    return logs


async def _run(
    store: SQLiteEventStore, run_id: str, context: ContextPolicy | None, on_event: Callable[[Event], None]
) -> None:
    async with Engine(store) as engine:
        engine.on_event(on_event)
        LLMHandler(FakeLLMClient(_researcher), context=context).attach(engine)
        registry = ToolRegistry([lookup])
        ToolHandler(registry).attach(engine)
        await engine.run(ToolLoop(registry, max_turns=40), _INPUT, run_id=run_id)
