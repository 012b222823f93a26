"""Tokens from characters: no dependency, no vocabulary, errs on the high side for English prose."""

from collections.abc import Sequence
from math import ceil

from aaa.context.counters.protocol import arguments_text, tools_text
from aaa.messages import Message, ToolSpec

__all__ = ["HeuristicCounter"]


class HeuristicCounter:
    """Characters divided by `chars_per_token`, plus a fixed overhead per message and per tool call.

    Literal: text, names and arguments of calls; media and other opaque parts count nothing. A policy adds them
    (`aaa.context.counters.beside`).

    Units: estimated tokens. A message is `per_message + ⌈chars / chars_per_token⌉ + calls · per_tool_call`.
    """

    is_literal = True

    def __init__(self, chars_per_token: float = 3.5, per_message: int = 4, per_tool_call: int = 8) -> None:
        if not chars_per_token > 0:
            raise ValueError(f"chars_per_token must be above 0, got {chars_per_token}")
        if per_message < 0 or per_tool_call < 0:
            overheads = f"per_message={per_message}, per_tool_call={per_tool_call}"
            raise ValueError(f"overheads must not be negative, got {overheads}")
        self.chars_per_token = chars_per_token
        self.per_message = per_message
        self.per_tool_call = per_tool_call

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Tokens of `messages` and `tools` together."""
        return self.count_tools(tools) + sum(map(self.count_message, messages))

    def count_message(self, message: Message) -> int:
        """Tokens of one message, its overhead included."""
        content, calls = message.content, message.tool_calls
        chars = len(content) if isinstance(content, str) else sum(map(len, message.texts))
        for call in calls:
            chars += len(call.name) + len(arguments_text(call))
        return self.per_message + ceil(chars / self.chars_per_token) + self.per_tool_call * len(calls)

    def count_tools(self, tools: Sequence[ToolSpec]) -> int:
        """Tokens of the tool specifications; 0 for none."""
        return ceil(len(tools_text(tools)) / self.chars_per_token)
