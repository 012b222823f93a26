"""The loop that most agents are: ask the model, run the tools it calls, until it answers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from aaa.errors import OutOfTurnsError, RunError
from aaa.messages import Message
from aaa.runtime import Run
from aaa.tools import ToolRegistry
from aaa.wire.openai_chat import messages_from_dicts

__all__ = ["ToolLoop"]

Memory = Callable[[Any], Sequence[str] | Awaitable[Sequence[str]]]


class ToolLoop:
    """Ask, run the called tools at the same time, ask again; the first reply without a call is the answer.

    Input: `{"task": text}` or `{"messages": [OpenAI-format dicts]}`. Value: `{"text": answer}`. `system` becomes the
    system prompt of new runs; runs that have started keep theirs. `memory(input)`, sync or async, gives lines that are
    put into the head. After `max_turns` calls of the model the outcome is `out_of_turns`.

    Raises:
        ValueError: max_turns below 1.
    """

    name = "tool_loop"

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        max_turns: int = 20,
        system: str | None = None,
        model: str | None = None,
        memory: Memory | None = None,
    ) -> None:
        if max_turns < 1:
            raise ValueError(f"max_turns must be at least 1, got {max_turns}")
        self.registry = registry
        self.max_turns = max_turns
        self.system = system
        self.model = model
        self.memory = memory

    def config(self) -> dict[str, Any]:
        """What a run keeps when the program changes."""
        return {"system": self.system, "max_turns": self.max_turns, "has_memory": self.memory is not None}

    async def run(self, run: Run, input: Any) -> dict[str, Any]:
        """The loop."""
        messages = [*await self._head(run, input), *_conversation(input)]
        reply = Message("assistant")
        for _ in range(run.config["max_turns"]):
            reply = (await run.llm(messages, tools=self.registry.specs, model=self.model)).message
            messages.append(reply)
            if not reply.tool_calls:
                return {"text": reply.text}
            messages += await run.tools(reply.tool_calls)
        raise OutOfTurnsError(run.config["max_turns"], {"text": reply.text})

    async def _head(self, run: Run, input: Any) -> list[Message]:
        lines = [run.config["system"]] if run.config["system"] else []
        if run.config["has_memory"]:
            recalled = await run.step("memory", partial(self.memory or _nothing, input))
            recalled = [recalled] if isinstance(recalled, str) else recalled
            if recalled:
                lines.append("What you know from earlier work:\n" + "\n".join(f"- {line}" for line in recalled))
        return [Message("system", line) for line in lines]


def _nothing(_: Any) -> list[str]:
    return []


def _conversation(input: Any) -> list[Message]:
    if isinstance(input, Mapping):
        fields = cast("Mapping[str, Any]", input)
        if isinstance(fields.get("task"), str):
            return [Message("user", fields["task"])]
        if isinstance(fields.get("messages"), list):
            return messages_from_dicts(fields["messages"])
    raise RunError("the input must be {'task': text} or {'messages': [dicts]}")
