"""What the handler is called with, and a way to call it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from aaa.messages import ToolCall
from aaa.tools import Tool, ToolHandler, ToolRegistry

WAIT_SECONDS = 30  # for what happens at once, unless something is broken


@dataclass
class FakeEffects:
    """One effect of a run; nothing is logged."""

    run_id: str = "run"
    key: str = "4"
    attempt: int = 1
    memory: dict[str, Any] = field(default_factory=dict)

    @property
    def idempotency_key(self) -> str:
        return f"{self.run_id}:{self.key}"

    async def emit(self, type: str, data: Mapping[str, Any]) -> None:
        raise AssertionError("a tool logs nothing")


def call_text(name: str, arguments_json: str) -> ToolCall:
    """A call with the text a model wrote."""
    return ToolCall("call_1", name, arguments_json)


def call(name: str, /, **arguments: object) -> ToolCall:
    """A call with these arguments."""
    return call_text(name, msgspec.json.encode(arguments).decode())


def handle(
    tool: Tool[..., Any] | Callable[..., Any], request: ToolCall | None = None, *, attempt: int = 1, **settings: Any
) -> dict[str, Any]:
    """Let a handler of this one tool do `request` (by default a call without arguments)."""
    registry = ToolRegistry([tool])
    request = request or call(next(iter(registry)).name)
    handler = ToolHandler(registry, **settings)

    async def run() -> dict[str, Any]:
        async with asyncio.timeout(WAIT_SECONDS):
            return await handler.handle(FakeEffects(attempt=attempt), request)

    return asyncio.run(run())
