"""What a counter is, and what makes one fast."""

import json
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec

from aaa.messages import Message, ToolCall, ToolSpec

__all__ = ["AdditiveCounter", "TokenCounter", "arguments_text", "tools_text"]


@runtime_checkable
class TokenCounter(Protocol):
    """Counts the tokens of a request."""

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Tokens of `messages` and `tools` together."""
        ...


@runtime_checkable
class AdditiveCounter(TokenCounter, Protocol):
    """A counter whose total is the sum of its parts, so that only what is new must be counted.

    `count(messages, tools) == count_tools(tools) + sum(count_message(m) for m in messages)`.
    """

    def count_message(self, message: Message) -> int:
        """Tokens of one message, its overhead included."""
        ...

    def count_tools(self, tools: Sequence[ToolSpec]) -> int:
        """Tokens of the tool specifications; 0 for none."""
        ...


def arguments_text(call: ToolCall) -> str:
    """The arguments of a call as compact JSON, or as they are when they are no JSON."""
    try:
        return msgspec.json.format(call.arguments_json, indent=-1)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return call.arguments_json


def tools_text(tools: Sequence[ToolSpec]) -> str:
    """The specifications as one compact JSON list, "" for none."""
    if not tools:
        return ""
    return json.dumps([_spec(tool) for tool in tools], separators=(",", ":"), ensure_ascii=False)


def _spec(tool: ToolSpec) -> dict[str, object]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
