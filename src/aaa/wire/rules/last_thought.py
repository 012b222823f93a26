"""Thinking that nothing follows in its turn: providers take it only in front of what was thought of.

    assistant [thinking]   user                     the thinking is left out, and the message with it
    assistant [thinking]   assistant "text"         stays: the two are one turn
    assistant [reasoning, text, reasoning]   user   the last reasoning is left out

Sources: "Item 'rs_…' of type 'reasoning' was provided without its required following item" (OpenAI, Responses); the
final block of an assistant's message cannot be `thinking` (Anthropic). What a call follows is kept: "Item 'fc_…' of
type 'function_call' was provided without its required 'reasoning' item".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message, OpaquePart, Part
from aaa.wire.report import Violation
from aaa.wire.rewriting import with_parts
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.visible import is_said

__all__ = ["LastThought"]


@dataclass(frozen=True)
class LastThought(Rule):
    """A part of `types` in `format` has something of the assistant's turn behind it."""

    name: ClassVar[str] = "last_thought"
    format: str
    types: frozenset[str]
    takes_spaces: bool = False

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages that end their turn with thinking."""
        return [Violation(self.name, "nothing_follows", index) for index in sorted(self._left(messages))]

    def mend(self, draft: Draft) -> None:
        """Leave the thinking out."""
        left = self._left(draft.messages)
        made: list[Entry] = []
        for index, entry in enumerate(draft.entries):
            message = with_parts(entry.message, left[index]) if index in left else entry.message
            if index in left:
                draft.note(self.name, "changed" if message else "dropped", entry.source, "nothing_follows")
            if message:
                made.append(Entry(entry.source, message))
        draft.entries = made

    def _left(self, messages: Sequence[Message]) -> dict[int, tuple[Part, ...]]:
        """The parts that stay of each message that some must go from."""
        left: dict[int, tuple[Part, ...]] = {}
        is_followed = False
        for index in reversed(range(len(messages))):
            message = messages[index]
            if message.role != "assistant":
                is_followed = False
                continue
            parts, is_followed = self._stay(message, is_followed or bool(message.tool_calls))
            if parts is not None:
                left[index] = parts
        return left

    def _stay(self, message: Message, is_followed: bool) -> tuple[tuple[Part, ...] | None, bool]:
        """The parts that stay, None if all of them do, and whether what comes before the message is followed."""
        if not isinstance(message.content, tuple):
            text = message.content or ""
            return None, is_followed or bool(text if self.takes_spaces else text.strip())
        stay: list[Part] = []
        for part in reversed(message.content):
            is_thought = self._is_thought(part)
            is_followed = is_followed or (not is_thought and self._is_said(part))
            if is_followed or not is_thought:
                stay.append(part)
        return tuple(reversed(stay)) if len(stay) < len(message.content) else None, is_followed

    def _is_thought(self, part: Part) -> bool:
        return isinstance(part, OpaquePart) and part.format == self.format and part.type in self.types

    def _is_said(self, part: Part) -> bool:
        return is_said(part, "assistant", format=self.format, takes_spaces=self.takes_spaces)
