"""Running the calls of one turn, through the registry and the handler of `aaa.tools`.

calls ──▶ ToolHandler, one after the other ──▶ results as dicts, one for each call, failures included
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from aaa.context.driving import Steps, finish_now
from aaa.messages import Effects, Message, ToolCall, ToolSpec
from aaa.tools import Tool, ToolHandler, ToolRegistry
from aaa.tools.results import failed
from aaa.wire.openai_chat import message_to_dict
from aimu.context.texts import MessageDict

__all__ = ["CallRunner", "not_run"]


@dataclass(frozen=True, slots=True)
class _Call:
    """What a tool may know of the call it serves; there is no log, so nothing else of a run."""

    run_id: str
    key: str
    attempt: int = 1

    @property
    def idempotency_key(self) -> str:
        return f"{self.run_id}:{self.key}"


class CallRunner:
    """The tools of an agent. Plain functions become tools; a function runs in a thread, a coroutine in an event loop.

    Raises:
        ToolDefinitionError: two tools of one name, or something that cannot be made a tool.
    """

    def __init__(self, tools: Iterable[Tool[..., Any] | Callable[..., Any]]) -> None:
        self.registry = ToolRegistry(tools)
        self._handler = ToolHandler(self.registry)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told of them."""
        return self.registry.specs

    def run(self, calls: Sequence[ToolCall], answers: list[MessageDict], *, run_id: str, turn: int) -> None:
        """Run `calls` in their order and append an answer for each to `answers`, also when the run is interrupted.

        What a tool raises is an answer too, for the model to read.
        """
        begun = len(answers)
        try:
            finish_now(cast("Steps", self._steps(calls, answers, run_id, turn)))
        finally:
            answers += _interrupted(calls[len(answers) - begun :])

    def _steps(
        self, calls: Sequence[ToolCall], answers: list[MessageDict], run_id: str, turn: int
    ) -> Generator[Any, Any, None]:
        for position, call in enumerate(calls):
            effects = cast("Effects", _Call(run_id, f"{turn}.{position}"))
            answers.append(_answer(call, (yield self._handler.handle(effects, call))))


def _interrupted(calls: Sequence[ToolCall]) -> list[MessageDict]:
    """Answers to the call that was under way and to those that were not begun."""
    under_way = not_run(calls[:1], "interrupted; it is not known whether it took effect")
    return under_way + not_run(calls[1:], "not run: the call before it was interrupted")


def not_run(calls: Sequence[ToolCall], reason: str) -> list[MessageDict]:
    """An answer to each call that says why it has none: providers refuse a call without one."""
    return [_answer(call, failed("NotRun", reason)) for call in calls]


def _answer(call: ToolCall, outcome: dict[str, Any]) -> MessageDict:
    return message_to_dict(Message("tool", outcome["content"], tool_call_id=call.id))
