"""Halves of characters: UTF-8 has no bytes for them, and every provider refuses the whole body for one.

    "list: \\ud83d…"  ──▶  "list: \N{REPLACEMENT CHARACTER}…"

They come from texts that were cut between the two units of an emoji. Once in a history they spoil every later request.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message, Part, TextPart, ToolCall
from aaa.wire.report import Violation, flagged
from aaa.wire.rewriting import with_arguments
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule

__all__ = ["Characters"]

_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Characters(Rule):
    """Texts and arguments hold whole characters."""

    name: ClassVar[str] = "characters"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages with a half."""
        return flagged(self.name, messages, _problem)

    def mend(self, draft: Draft) -> None:
        """Put the replacement character there."""
        draft.fix(self.name, _problem, _fixed)


def _problem(message: Message) -> str | None:
    texts = (*message.texts, *(call.arguments_json for call in message.tool_calls))
    return "half_character" if any(not text.isascii() and _HALF.search(text) for text in texts) else None


def _fixed(message: Message) -> Message:
    content = message.content
    if isinstance(content, str):
        content = _whole(content)
    elif content is not None:
        content = tuple(map(_whole_part, content))
    return replace(message, content=content, tool_calls=tuple(map(_whole_call, message.tool_calls)))


def _whole_part(part: Part) -> Part:
    return replace(part, text=_whole(part.text)) if isinstance(part, TextPart) else part


def _whole_call(call: ToolCall) -> ToolCall:
    text = _whole(call.arguments_json)
    return call if text == call.arguments_json else with_arguments(call, text)


def _whole(text: str) -> str:
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
