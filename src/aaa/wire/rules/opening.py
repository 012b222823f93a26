"""How a conversation begins: with something, and for some providers with the user.

    system  assistant  …    ──▶    system  user "(what came before is not shown)"  assistant  …

Sources: "messages: at least one message is required" (Anthropic); "A conversation must start with a user message"
(Bedrock); "function call turn comes immediately after a user turn or after a function response turn" (Gemini).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule, cuts_of, head_length, leading_systems
from aaa.wire.rules.stand_ins import opening

__all__ = ["Opening"]


@dataclass(frozen=True)
class Opening(Rule):
    """There is a message; with `by_user` one behind the instructions, and the first of those not the assistant's."""

    name: ClassVar[str] = "opening"
    by_user: bool

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """A conversation without messages, or one that the assistant begins."""
        leading = leading_systems(messages)
        if leading == len(messages):
            return [Violation(self.name, "no_message")] if self.by_user or not messages else []
        is_begun_wrong = self.by_user and messages[leading].role == "assistant"
        return [Violation(self.name, "begun_by_assistant", leading)] if is_begun_wrong else []

    def safe_cuts(self, messages: Sequence[Message]) -> set[int]:
        """All, if the head has the user's first message; else where the user speaks next."""
        head = head_length(messages)
        if not self.by_user or head > leading_systems(messages):
            return set(cuts_of(messages))
        safe, is_safe = {*cuts_of(messages)[:1]}, False
        for index in reversed(cuts_of(messages)):
            message = messages[index]
            is_safe = is_safe if message.is_system else message.role != "assistant"
            if is_safe:
                safe.add(index)
        return safe

    def mend(self, draft: Draft) -> None:
        """Put a message of the user in front."""
        for violation in self.violations(draft.messages):
            leading = leading_systems(draft.messages)
            source = draft.entries[min(leading, len(draft.entries) - 1)].source if draft.entries else 0
            draft.note(self.name, "added", source, violation.problem)
            draft.entries.insert(leading, Entry(source, opening()))
