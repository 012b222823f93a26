"""One instruction in front, for templates that look at the first message alone.

    system "You are Kit."  system "Memory: …"  user    ──▶    system "You are Kit.⏎⏎Memory: …"  user

A template takes the first message out if it is an instruction and reads the rest as turns. A second one is then an
instruction among the turns (Qwen's), or breaks their alternation (Gemma's, Mistral's).

Sources: "System message must be at the beginning." (Qwen 3.5); "Conversation roles must alternate
user/assistant/user/assistant/..." (Gemma, Mistral).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.merging import merged
from aaa.wire.rules.rule import Rule, cuts_of, head_length, leading_systems

__all__ = ["OneSystem"]


@dataclass(frozen=True)
class OneSystem(Rule):
    """At most one instruction stands in front of everything else."""

    name: ClassVar[str] = "one_system"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """The second and later instructions in front."""
        return [Violation(self.name, "second_system", index) for index in range(1, leading_systems(messages))]

    def safe_cuts(self, messages: Sequence[Message]) -> set[int]:
        """Where the cut brings no two instructions together in front."""
        head, leading, cuts = head_length(messages), leading_systems(messages), cuts_of(messages)
        if head > leading:
            return set(cuts)
        safe, row = {head}.intersection(cuts), 0  # at the end of the head nothing is left out
        for index in reversed(cuts):
            row = row + 1 if messages[index].is_system else 0
            if not row or leading + row == 1:
                safe.add(index)
        return safe

    def mend(self, draft: Draft) -> None:
        """Make one of them."""
        row = draft.entries[: leading_systems(draft.messages)]
        if len(row) < 2:
            return
        for entry in row[1:]:
            draft.note(self.name, "merged", entry.source, f"into {row[0].source}")
        draft.entries[: len(row)] = [Entry(row[0].source, merged([entry.message for entry in row]))]
