"""A run that outgrows its window, on a SQLite file: 25 look-ups in 4,000 tokens, without a network.

    python examples/long_run.py [DATABASE]

Start it again with the same database: the run is there, and nothing is done a second time.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from aaa.algos import ToolLoop
from aaa.context import ContextPolicy, HeuristicCounter
from aaa.llm import FakeLLMClient, LLMHandler
from aaa.llm.fake import text, tool_call
from aaa.messages import LLMRequest, LLMResponse
from aaa.runtime import Engine, Event, SQLiteEventStore
from aaa.tools import ToolHandler, ToolRegistry, tool

WINDOW = 4_000
TOPICS = 25


@tool
def lookup(topic: str) -> str:
    """Look a topic up (returns a long document)."""
    return f"Notes on {topic}: " + "lorem ipsum " * 150


class Researcher:
    """Stands in for a model: looks up one topic after the other, then says that it is done."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, request: LLMRequest) -> LLMResponse:
        self.sizes.append(HeuristicCounter().count(request.messages, request.tools))
        if len(self.sizes) <= TOPICS:
            return tool_call("lookup", topic=f"topic {len(self.sizes)}")
        return text(f"Done: I looked up all {TOPICS} topics.")


def summarizer(request: LLMRequest) -> LLMResponse:
    """Stands in for a small model that writes summaries."""
    return text("Looked up the earlier topics; each returned long notes.")


async def research(path: Path, run_id: str, policy: ContextPolicy | None) -> tuple[list[int], list[Event], str]:
    """Run the agent, or find that it has run; the sizes of what was sent, the log, and the answer."""
    researcher = Researcher()
    store = SQLiteEventStore(path)
    async with Engine(store) as engine:
        LLMHandler(FakeLLMClient(researcher), context=policy).attach(engine)
        registry = ToolRegistry([lookup])
        ToolHandler(registry).attach(engine)
        outcome = await engine.run(ToolLoop(registry, max_turns=40), {"task": "research everything"}, run_id=run_id)
        log = await store.read(run_id)
    await store.close()
    return researcher.sizes, log, outcome.value["text"]


async def main(path: Path) -> None:
    """Both runs, and the figures that tell them apart."""
    unmanaged, _, _ = await research(path, "without-policy", None)
    policy = ContextPolicy(WINDOW, reserve_output=0, summarizer=FakeLLMClient(summarizer))
    managed, log, answer = await research(path, "with-policy", policy)
    if not (unmanaged and managed):
        print(f"both runs are in {path} already, nothing was done again: {answer}")
        return
    reports = [e.data["context"] for e in log if e.type == "aaa.llm.completed" and "context" in e.data]
    used = sorted({name.split("(")[0] for report in reports for name in report["applied"]})
    print(f"largest request without a policy: {max(unmanaged)} tokens, in a window of {WINDOW}")
    print(f"largest request with a policy:    {max(managed)} tokens")
    print(f"calls of the model: {len(managed)}; the answer: {answer}")
    print(f"compacted on {len(reports)} calls, using {', '.join(used)}")
    print(f"summaries in the log: {sum(e.type == 'aaa.context.summary' for e in log)}")
    print(f"look at it: aaa show {path} with-policy")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        asyncio.run(main(Path(tempfile.mkdtemp(), "runs.db")))
