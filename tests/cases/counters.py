"""The counter that a case describes, as a counter of ours."""

import json
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from aaa.context import CalibratedCounter, TiktokenCounter, TokenCounter
from aaa.context.counters.protocol import arguments_text, tools_text
from aaa.messages import Message, OpaquePart, ToolSpec
from aaa.wire.media import media_of
from tests.cases.formats import Format

__all__ = ["CharCounter", "TurnCounter", "counter_of"]

_OF_ONE_PICTURE = 1000  # tokens


class CharCounter:
    """Characters of the fields named, divided; `calls` tells how often a message was counted."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.chars_per_token = spec.get("chars_per_token", 4)
        self.per_message = spec.get("per_message", 0)
        self.fields = spec.get("count", ["content", "arguments"])
        self.calls = 0

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Tokens of `messages` and `tools` together."""
        return self.count_tools(tools) + sum(map(self.count_message, messages))

    def count_message(self, message: Message) -> int:
        """Tokens of one message."""
        self.calls += 1
        chars = 0
        if "content" in self.fields:
            chars += sum(map(len, message.texts))
            chars += sum(map(_opaque_chars, message.content if isinstance(message.content, tuple) else ()))
        if "arguments" in self.fields:
            chars += sum(len(arguments_text(call)) for call in message.tool_calls)
        others = [field for field in self.fields if field not in ("content", "arguments")]
        if others and message.extra:
            chars += sum(len(str(json.loads(message.extra).get(field) or "")) for field in others)
        pictures = sum(map(_is_media, message.content)) if isinstance(message.content, tuple) else 0
        return self.per_message + ceil(chars / self.chars_per_token) + _OF_ONE_PICTURE * pictures

    def count_tools(self, tools: Sequence[ToolSpec]) -> int:
        """Tokens of the tool specifications."""
        return ceil(len(tools_text(tools)) / self.chars_per_token)


class TurnCounter:
    """Counts turns as they are sent, for limits in messages; instructions are turns too."""

    def __init__(self, format: Format) -> None:
        self._format = format

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Turns of `messages`."""
        return len(self._format.turns(messages)) if messages else 0


class CallCounter:
    """A counter that tells how often it was asked."""

    def __init__(self, counter: TiktokenCounter) -> None:
        self._counter = counter
        self.calls = 0

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Tokens of `messages` and `tools` together."""
        return self.count_tools(tools) + sum(map(self.count_message, messages))

    def count_message(self, message: Message) -> int:
        """Tokens of one message."""
        self.calls += 1
        return self._counter.count_message(message)

    def count_tools(self, tools: Sequence[ToolSpec]) -> int:
        """Tokens of the tool specifications."""
        return self._counter.count_tools(tools)


def counter_of(case: Mapping[str, Any]) -> TokenCounter:
    """The counter that a case names; ours by default."""
    if "counter" in case:
        return CharCounter(case["counter"])
    if isinstance(case.get("encoding"), str):
        return CallCounter(TiktokenCounter(case["encoding"]))
    return CalibratedCounter()


def _opaque_chars(part: Any) -> int:
    return len(part.json) if isinstance(part, OpaquePart) and media_of(part) is None else 0


def _is_media(part: Any) -> bool:
    return isinstance(part, OpaquePart) and media_of(part) is not None
