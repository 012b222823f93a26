"""User and assistant take turns, where a provider or a template insists and the format does not see to it.

    user "a"  user "b"  assistant    ──▶    user "a⏎⏎b"  assistant

Sources: "user and assistant roles should be alternating" (Perplexity); "Conversation roles must alternate
user/assistant/user/assistant/..." (templates, measured on llama-server); Bedrock's Converse API.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import ClassVar

from aaa.messages import Message
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.merging import merged
from aaa.wire.rules.rule import Rule, cuts_of, head_length

__all__ = ["Alternation"]

_SIDES = ("user", "assistant")


@dataclass(frozen=True)
class Alternation(Rule):
    """No two neighbours are both the user's, or both the assistant's."""

    name: ClassVar[str] = "alternation"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """The second and later messages of a row."""
        found = [index for index, (one, two) in enumerate(pairwise(messages), 1) if _are_alike(one, two)]
        return [Violation(self.name, "same_role_again", index) for index in found]

    def safe_cuts(self, messages: Sequence[Message]) -> set[int]:
        """Where the cut brings no two messages of the user together."""
        head = head_length(messages)
        last = messages[head - 1] if head else None
        return {
            index
            for index in cuts_of(messages)
            if last is None or not _are_alike(last, messages[index]) or _are_alike(messages[index - 1], messages[index])
        }

    def mend(self, draft: Draft) -> None:
        """Make one message of each row."""
        made: list[Entry] = []
        for role, group in groupby(draft.entries, key=lambda entry: entry.message.role):
            row = list(group)
            if role not in _SIDES or len(row) == 1:
                made += row
                continue
            for entry in row[1:]:
                draft.note(self.name, "merged", entry.source, f"into {row[0].source}")
            made.append(Entry(row[0].source, merged([entry.message for entry in row])))
        draft.entries = made


def _are_alike(one: Message, two: Message) -> bool:
    return one.role == two.role and one.role in _SIDES
