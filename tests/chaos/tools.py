"""Tools whose results are of any size and shape; each remembers for which calls it was run."""

import asyncio
import json
from collections import Counter
from random import Random

from aaa.tools import ToolContext, ToolHandler, ToolRegistry, tool
from tests.chaos.model import SECRET
from tests.chaos.plan import RunPlan

__all__ = ["TIMEOUT_SECONDS", "WildTools"]

TIMEOUT_SECONDS = 0.15
_WORDS = (
    "lighthouse",
    "build",
    "error",
    "src/app/main.py",
    "0x7f3a",
    "été",
    "日本",
    "line\n",
    "https://example.org/a?b=1",
    "😀",
)


class WildTools:
    """The tools of one run; `ran` counts executions by the key of the call."""

    def __init__(self, plan: RunPlan) -> None:
        self.plan = plan
        self.ran: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()

    def registry(self) -> ToolRegistry:
        return ToolRegistry([self.read, self.table, self.compute, self.pay, self.breaks, self.slow])

    def handler(self, registry: ToolRegistry) -> ToolHandler:
        return ToolHandler(registry, timeout_seconds=TIMEOUT_SECONDS)

    @tool
    async def read(self, seed: int, context: ToolContext) -> str:
        """Read a text."""
        return self._text(seed, context)

    @tool
    async def table(self, seed: int, context: ToolContext) -> str:
        """Read a table as JSON."""
        chance = Random(seed)
        rows = [
            {"id": number, "name": f"{chance.choice(_WORDS)}-{seed}", "value": chance.random(), "x": SECRET}
            for number in range(1 + self._size(chance) // 60)
        ]
        self.ran[context.idempotency_key] += 1
        return json.dumps({"rows": rows, "total": len(rows)})

    @tool
    def compute(self, seed: int, context: ToolContext) -> str:
        """Compute something, in a thread."""
        return self._text(seed, context)

    @tool(repeatable=False)
    async def pay(self, seed: int, context: ToolContext) -> str:
        """Pay; never twice."""
        self.paid[context.idempotency_key] += 1
        self.ran[context.idempotency_key] += 1
        await asyncio.sleep(0.002)  # long enough to be interrupted
        return f"paid {seed} {SECRET}"

    @tool
    async def breaks(self, seed: int, context: ToolContext) -> str:
        """Fail, at length or in short."""
        self.ran[context.idempotency_key] += 1
        raise RuntimeError(f"no luck with {seed}: " + "at frame " * (seed % 500))

    @tool
    async def slow(self, seed: int, context: ToolContext) -> str:
        """Take longer than there is time."""
        self.ran[context.idempotency_key] += 1
        await asyncio.Event().wait()
        return "never"

    def _text(self, seed: int, context: ToolContext) -> str:
        self.ran[context.idempotency_key] += 1
        chance = Random(seed)
        size, line = self._size(chance), " ".join(chance.choices(_WORDS, k=40))
        return f"{SECRET} {seed} " + (f"{line} " * (size // len(line) + 1))[:size]

    def _size(self, chance: Random) -> int:
        """Characters: most results are small, some larger than any window here."""
        most = self.plan.result_characters * (6 if chance.random() < 0.02 else 1)
        return int(most * chance.random() ** 4)
