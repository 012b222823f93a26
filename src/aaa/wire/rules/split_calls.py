"""Words and calls in two messages, for models that take no message with both.

    assistant "let me see" (a)    ──▶    assistant "let me see"   assistant (a)

Source: "Assistant message must have either content or tool_calls, but not both." (Mistral, tokenizers before the
fifth).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message, TextPart, with_text
from aaa.wire.report import Violation, flagged
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.visible import is_said

__all__ = ["SplitCalls"]


@dataclass(frozen=True)
class SplitCalls(Rule):
    """A message of the assistant has content or calls."""

    name: ClassVar[str] = "split_calls"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages with both."""
        return flagged(self.name, messages, _problem)

    def mend(self, draft: Draft) -> None:
        """Say first, call then."""
        made: list[Entry] = []
        for entry in draft.entries:
            if _problem(entry.message):
                draft.note(self.name, "split", entry.source, "content_and_calls")
                made += _halves(entry)
            else:
                made.append(entry)
        draft.entries = made


def _halves(entry: Entry) -> list[Entry]:
    said = replace(entry.message, tool_calls=(), extra="")
    return [Entry(entry.source, said), Entry(entry.source, with_text(entry.message, ""))]


def _problem(message: Message) -> str | None:
    if not message.tool_calls or not message.content:
        return None
    parts = message.content if isinstance(message.content, tuple) else (TextPart(message.content),)
    is_both = any(is_said(part, message.role, format="", takes_spaces=True) for part in parts)
    return "content_and_calls" if is_both else None
