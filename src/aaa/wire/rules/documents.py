"""A text beside a document, which Bedrock wants in the same message.

Source: "A text block must be included when using documents." (Bedrock).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message, OpaquePart, TextPart, with_text
from aaa.wire.media import media_of
from aaa.wire.report import Violation, flagged
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.stand_ins import SEE_DOCUMENT

__all__ = ["Documents"]


@dataclass(frozen=True)
class Documents(Rule):
    """A message of the user with a document says something about it."""

    name: ClassVar[str] = "documents"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Documents without a word."""
        return flagged(self.name, messages, _problem)

    def mend(self, draft: Draft) -> None:
        """Say that they are there."""
        draft.fix(self.name, _problem, _fixed)


def _problem(message: Message) -> str | None:
    if message.role != "user" or not isinstance(message.content, tuple) or message.text.strip():
        return None
    found = (media_of(part) for part in message.content if isinstance(part, OpaquePart))
    return "document_without_text" if any(media and media.kind == "document" for media in found) else None


def _fixed(message: Message) -> Message:
    parts = message.content if isinstance(message.content, tuple) else ()
    return with_text(message, (TextPart(SEE_DOCUMENT), *parts))
