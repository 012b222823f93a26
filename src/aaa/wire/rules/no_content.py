"""Content that is null or a list of nothing, which OpenAI's chat format has in few places.

An assistant that calls tools may go without; every other message has a text, be it "". A text among parts that is null
is left out.

Source: OpenAI's API reference, November 2026; "content arrays have at least one item".
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message, Part, TextPart, with_text
from aaa.wire.report import Violation, flagged
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.visible import says_more

__all__ = ["NoContent"]


@dataclass(frozen=True)
class NoContent(Rule):
    """Every message has content, except one that calls tools; an empty list is none, unless the provider takes it."""

    name: ClassVar[str] = "no_content"
    takes_empty_lists: bool = False

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages whose content, or a text in it, is null or an empty list."""
        return flagged(self.name, messages, self._problem)

    def mend(self, draft: Draft) -> None:
        """Leave out the texts that are null, and give what is left without content an empty text."""
        draft.fix(self.name, self._problem, lambda message: with_text(message, _parts_said(message) or ""))

    def _problem(self, message: Message) -> str | None:
        if message.content == ():
            return None if self.takes_empty_lists else "empty_list"
        if isinstance(message.content, tuple) and any(map(_is_null, message.content)):
            return "null_text"
        may_be_null = message.role == "assistant" and (message.tool_calls or says_more(message))
        return "null_content" if message.content is None and not may_be_null else None


def _parts_said(message: Message) -> tuple[Part, ...]:
    parts = message.content if isinstance(message.content, tuple) else ()
    return tuple(part for part in parts if not _is_null(part))


def _is_null(part: Part) -> bool:
    """Whether OpenAI's chat format writes null for the text of a part, because it read that."""
    if not isinstance(part, TextPart) or part.text or '"text"' not in part.extra:
        return False
    return json.loads(part.extra).get("text", "") is None
