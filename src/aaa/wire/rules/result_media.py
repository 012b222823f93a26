"""Images and files in tool results, for providers that take only text there.

    tool [text, image]    tool "…"    ──▶    tool [text, "[image]"]    tool "…"    user ["What …", image]

Source: "Image URLs are only allowed for messages with role 'user'" (OpenAI, 2025). Parts of another format need no
repair in OpenAI's: it writes them so itself, in the same words. A dialect in which that would come too late, because
what follows results is ruled as well, asks for `all_formats`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message, OpaquePart, Part, TextPart, with_text
from aaa.wire.media import media_of
from aaa.wire.report import Violation, flagged
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.stand_ins import SHOWN_RESULTS

__all__ = ["ResultMedia"]


@dataclass(frozen=True)
class ResultMedia(Rule):
    """Results are text; what they show follows them in a message of the user."""

    name: ClassVar[str] = "result_media"
    all_formats: bool = False

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Results that show something."""
        return flagged(self.name, messages, self._problem)

    def mend(self, draft: Draft) -> None:
        """Move what results show behind them."""
        made: list[Entry] = []
        shown: list[tuple[int, OpaquePart]] = []
        for entry in draft.entries:
            moved = self._moved(entry.message)
            if entry.message.role != "tool":
                made += _showing(shown)
                shown = []
            elif moved:
                draft.note(self.name, "changed", entry.source, "media_in_result")
                shown += [(entry.source, part) for part in moved]
            made.append(Entry(entry.source, _told(entry.message, moved)) if moved else entry)
        draft.entries = made + _showing(shown)

    def _problem(self, message: Message) -> str | None:
        return "media_in_result" if self._moved(message) else None

    def _moved(self, message: Message) -> list[OpaquePart]:
        parts = message.content if message.role == "tool" and isinstance(message.content, tuple) else ()
        opaque = (part for part in parts if isinstance(part, OpaquePart) and (self.all_formats or not part.format))
        return [part for part in opaque if media_of(part)]


def _told(message: Message, moved: Sequence[OpaquePart]) -> Message:
    parts = message.content if isinstance(message.content, tuple) else ()
    return with_text(message, tuple(_in_words(part) if part in moved else part for part in parts))


def _in_words(part: Part) -> Part:
    media = media_of(part) if isinstance(part, OpaquePart) else None
    return TextPart(f"[{media.kind}]") if media else part


def _showing(shown: Sequence[tuple[int, OpaquePart]]) -> list[Entry]:
    """One message with what the results of a row show."""
    if not shown:
        return []
    parts = (TextPart(SHOWN_RESULTS), *(part for _, part in shown))
    return [Entry(shown[-1][0], Message("user", parts, kind="marker"))]
