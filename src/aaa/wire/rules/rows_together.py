"""Neighbours of one side are one of Gemini's contents, where they were read as several.

    user ["a"]   user ["b"]   model ["let me look"]   model [call]
        ──▶   user ["a", "b"]   model ["let me look", call]

So they are written of conversations from elsewhere. A content that holds responses stays by itself, since some models
count what stands in it. Parts stay as they are, and with them the signatures in them.

Source: "function call turn comes immediately after a user turn or after a function response turn" (Gemini;
gemini-3-flash-preview took two contents of calls in a row, as recorded).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from aaa.messages import Message
from aaa.wire.gemini.turns import grouped
from aaa.wire.made_ids import call_answered_by
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.hints import forget, place_of
from aaa.wire.rules.rule import Rule, cuts_of, head_length, leading_systems

__all__ = ["RowsTogether"]


@dataclass(frozen=True)
class RowsTogether(Rule):
    """No two neighbouring contents without responses are both the user's, or both the model's."""

    name: ClassVar[str] = "rows_together"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """The first message of each content that should be one with the content before it."""
        return [Violation(self.name, "row_split", index) for index in _split(messages)]

    def safe_cuts(self, messages: Sequence[Message]) -> set[int]:
        """Not inside a content, nor where words of the user that stood by themselves would follow those of the head."""
        head, cuts = head_length(messages), cuts_of(messages)
        unsafe = ("joined",) if head == leading_systems(messages) else ("own", "joined")
        words = {index for index in cuts if messages[index].role not in ("assistant", "tool")}
        return {
            index for index in cuts if index == head or index not in words or place_of(messages[index]) not in unsafe
        }

    def mend(self, draft: Draft) -> None:
        """Let the format write them as one."""
        for index in _split(draft.messages):
            forget(draft, index, self.name, "row_split", "gemini", "place")


def _split(messages: Sequence[Message]) -> list[int]:
    leading = leading_systems(messages)
    turns = messages[leading:]
    if not any(place_of(message) == "own" for message in turns):
        return []
    groups = grouped(turns, call_answered_by(turns))
    sides = [{_side(turns[index]) for index in group} for group in groups]
    alike = [two for two, (one, other) in enumerate(pairwise(sides), 1) if one == other and "tool" not in one]
    return sorted(groups[two][0] + leading for two in alike)


def _side(message: Message) -> str:
    return message.role if message.role in ("assistant", "tool") else "user"
