"""Half an answer at the end, for the model to go on from, where a provider takes one.

Sources: "messages: final assistant content cannot end with trailing whitespace" (Anthropic); "Cannot have 2 or more
assistant messages at the end of the list." (llama-server, measured November 2026).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message, Part, TextPart, with_text
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.merging import merged
from aaa.wire.rules.rule import Rule

__all__ = ["OnePrefill", "TrimmedPrefill"]


@dataclass(frozen=True)
class TrimmedPrefill(Rule):
    """The text of an assistant that speaks last does not end in white space."""

    name: ClassVar[str] = "trimmed_prefill"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """The last message, if it is so."""
        if messages and _trimmed(messages[-1]) is not None:
            return [Violation(self.name, "trailing_space", len(messages) - 1)]
        return []

    def mend(self, draft: Draft) -> None:
        """Cut the white space off."""
        if self.violations(draft.messages):
            source, message = draft.entries[-1]
            draft.note(self.name, "changed", source, "trailing_space")
            draft.entries[-1] = Entry(source, _trimmed(message) or message)


@dataclass(frozen=True)
class OnePrefill(Rule):
    """Of the messages at the end, one at most is the assistant's."""

    name: ClassVar[str] = "one_prefill"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """The second and later ones."""
        later = range(_start_of_last_row(messages) + 1, len(messages))
        return [Violation(self.name, "second_prefill", index) for index in later]

    def mend(self, draft: Draft) -> None:
        """Make them one."""
        start = _start_of_last_row(draft.messages)
        row = draft.entries[start:]
        if len(row) < 2:
            return
        for entry in row[1:]:
            draft.note(self.name, "merged", entry.source, f"into {row[0].source}")
        draft.entries[start:] = [Entry(row[0].source, merged([entry.message for entry in row]))]


def _trimmed(message: Message) -> Message | None:
    """The message without white space at its end; None if there was none."""
    if message.role != "assistant" or message.tool_calls:
        return None
    match message.content:
        case str(text) if text != text.rstrip():
            return with_text(message, text.rstrip())
        case (*before, TextPart(text=text) as last) if text != text.rstrip():
            parts: tuple[Part, ...] = (*before, replace(last, text=text.rstrip()))
            return with_text(message, parts)
        case _:
            return None


def _start_of_last_row(messages: Sequence[Message]) -> int:
    start = len(messages)
    while start and messages[start - 1].role == "assistant":
        start -= 1
    return start
