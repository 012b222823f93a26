"""The handler that runs tools: whatever goes wrong is a result the model can read, never an exception.

ToolCall ──▶ known? ──▶ may run again? ──▶ arguments fit? ──▶ run, in time ──▶ text
             └──────────────┴───────────────────┴─────────────────┴──────────▶ "Error: …"
"""

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from aaa.messages import Effects, Host, ToolCall
from aaa.tools.context import ToolContext
from aaa.tools.registry import ToolRegistry
from aaa.tools.results import as_text, completed, failed, failed_with
from aaa.tools.threads import Threads
from aaa.tools.tool import AnyTool

__all__ = ["ToolHandler"]

_CLEANUP_SECONDS = 1.0  # what a cancelled coroutine gets to tidy up before it is left behind


class ToolHandler:
    """Runs the tools of a registry: coroutine functions in the loop, others in threads of its own.

    Args:
        registry: the tools; one added later is found.
        timeout_seconds: how long a call may take where its tool does not say, waiting for a thread included.
        max_threads: how many sync calls run at once; more wait. A call that timed out no longer counts.

    A sync function cannot be stopped: after a time-out or a cancellation its thread is left behind, and does not keep
    the interpreter from exiting. Without work there are no threads, so there is nothing to close.
    """

    def __init__(self, registry: ToolRegistry, *, timeout_seconds: float | None = None, max_threads: int = 32) -> None:
        if timeout_seconds is not None and not timeout_seconds > 0:
            raise ValueError(f"timeout_seconds must be above 0, not {timeout_seconds!r}")
        if max_threads < 1:
            raise ValueError(f"max_threads must be at least 1, not {max_threads!r}")
        self.registry = registry
        self.timeout_seconds = timeout_seconds
        self._threads = Threads(max_threads)
        self._left_behind: set[asyncio.Task[Any]] = set()  # a loop keeps only weak references

    def attach(self, host: Host) -> None:
        """Perform the tool calls of `host`."""
        host.attach("tool", self)

    async def handle(self, effects: Effects, request: ToolCall) -> dict[str, Any]:
        """Run the tool: `{"content": text}`, with a key `error` {type, message} where it failed."""
        tool = self.registry.get(request.name)
        if tool is None:
            return failed("UnknownTool", self._unknown(request.name))
        if effects.attempt > 1 and not tool.repeatable:
            return failed("OutcomeUnknown", _interrupted(tool))
        try:
            arguments = tool.read_arguments(request.arguments_json)
        except Exception as error:  # noqa: BLE001 - a validator of the tool's author may raise anything
            return failed_with(error)
        context = ToolContext(effects.run_id, effects.attempt, effects.idempotency_key, request.id)
        arguments.update(dict.fromkeys(tool.context_names, context))
        return await self._in_time(tool, arguments)

    def replay(self, effects: Effects, events: list[tuple[str, dict[str, Any]]]) -> None:
        """Nothing is kept between calls, so there is nothing to note."""

    async def _in_time(self, tool: AnyTool, arguments: dict[str, Any]) -> dict[str, Any]:
        seconds = self.timeout_seconds if tool.timeout_seconds is None else tool.timeout_seconds
        task = asyncio.create_task(self._run(tool, arguments))
        try:
            await asyncio.wait({task}, timeout=seconds)
            if not task.done():
                return failed("TimeoutError", _timed_out(tool, seconds))
        finally:
            if not task.done():
                await self._stop(task)
        if task.cancelled():
            return failed("CancelledError", f"tool {tool.name!r} cancelled itself")
        return task.result()

    async def _stop(self, task: asyncio.Task[Any]) -> None:
        self._left_behind.add(task)
        task.add_done_callback(self._left_behind.discard)
        task.cancel()
        await asyncio.wait({task}, timeout=_CLEANUP_SECONDS)

    async def _run(self, tool: AnyTool, arguments: dict[str, Any]) -> dict[str, Any]:
        call = partial(tool.function, **arguments)
        try:
            value = await call() if tool.is_async else await self._threads.run(partial(_call, call))
            if inspect.isawaitable(value):  # from a plain function that wraps a coroutine function
                value = await value
            return completed(as_text(value))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a tool raises is for the model to read
            return failed_with(error)

    def _unknown(self, name: str) -> str:
        shown = name if len(name) <= 100 else name[:100] + "…"
        names = ", ".join(self.registry.names) or "none"
        return f"there is no tool {shown!r}. The tools are: {names}."


def _call(call: Callable[[], Any]) -> Any:
    """Call it and make text of what it returns, while still in the thread; an awaitable belongs to the loop."""
    value = call()
    return value if inspect.isawaitable(value) else as_text(value)


def _interrupted(tool: AnyTool) -> str:
    return (
        f"an earlier attempt to run {tool.name!r} was interrupted and its outcome is unknown; it was not run again. "
        "Find out whether it took effect before calling it once more."
    )


def _timed_out(tool: AnyTool, seconds: float | None) -> str:
    fate = "it was cancelled" if tool.is_async else "it may still be running, so its outcome is unknown"
    return f"tool {tool.name!r} timed out after {seconds:g} seconds; {fate}"
