"""Words of the assistant between results and the user, where a provider lets the user not speak right after results.

    assistant(a)  tool(a)  user    ──▶    assistant(a)  tool(a)  assistant "(results received)"  user

Sources: "Unexpected role 'user' after role 'tool'" (models of Mistral's on many servers, until August 2026; the
newest mistral-common allows it); "Conversation blocks and tool result blocks cannot be provided in the same turn"
(Bedrock, models other than Claude).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from aaa.messages import Message
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.stand_ins import bridge

__all__ = ["Bridging"]


@dataclass(frozen=True)
class Bridging(Rule):
    """No message of the user stands right behind a result."""

    name: ClassVar[str] = "bridging"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages of the user behind results."""
        found = [index for index, pair in enumerate(pairwise(messages), 1) if _is_abrupt(*pair)]
        return [Violation(self.name, "user_after_result", index) for index in found]

    def mend(self, draft: Draft) -> None:
        """Let the assistant take note of the results."""
        made = draft.entries[:1]
        for before, entry in pairwise(draft.entries):
            if _is_abrupt(before.message, entry.message):
                draft.note(self.name, "added", entry.source, "user_after_result")
                made.append(Entry(entry.source, bridge()))
            made.append(entry)
        draft.entries = made


def _is_abrupt(before: Message, message: Message) -> bool:
    return before.role == "tool" and message.role == "user"
