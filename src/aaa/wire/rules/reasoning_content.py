"""The reasoning that DeepSeek and Moonshot want back with an assistant's messages once tools are used.

It is kept in `extra`, where the format puts it. What has none gets an empty one, which both accept.

Sources: "Missing `reasoning_content` field in the assistant message at message index N." (DeepSeek); "thinking is
enabled but reasoning_content is missing in assistant tool call message at index {i}" (Moonshot).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message
from aaa.wire.lossless import Fields, compact
from aaa.wire.report import Violation, flagged
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule

__all__ = ["ReasoningContent"]

_KEY = "reasoning_content"


@dataclass(frozen=True)
class ReasoningContent(Rule):
    """Every message of the assistant has it in a conversation with calls; with `of_calls` only those that call."""

    name: ClassVar[str] = "reasoning_content"
    of_calls: bool = False

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages without it."""
        return flagged(self.name, messages, self._problem) if _uses_tools(messages) else []

    def mend(self, draft: Draft) -> None:
        """Add an empty one."""
        if _uses_tools(draft.messages):
            draft.fix(self.name, self._problem, _fixed)

    def _problem(self, message: Message) -> str | None:
        if message.role != "assistant" or (self.of_calls and not message.tool_calls):
            return None
        fields: Fields = json.loads(message.extra) if f'"{_KEY}"' in message.extra else {}
        return None if isinstance(fields.get(_KEY), str) else "missing_reasoning"


def _fixed(message: Message) -> Message:
    fields: Fields = {**(json.loads(message.extra) if message.extra else {}), _KEY: ""}
    return replace(message, extra=compact(fields, sort_keys=True))


def _uses_tools(messages: Sequence[Message]) -> bool:
    return any(message.tool_calls for message in messages)
