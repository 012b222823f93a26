"""What every rule is, and where a conversation may be cut at all.

    head                     cuts
    system, user │ assistant, tool, user, assistant
                 ▲          ✗     ▲     ▲

A cut at i leaves the head and everything from i on.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from aaa.messages import Message
from aaa.wire.report import Repair, Violation
from aaa.wire.rules.draft import Draft

__all__ = ["Rule", "cuts_of", "head_length", "leading_systems"]


class Rule(ABC):
    """One thing a provider demands of a conversation.

    A rule finds nothing in what it has mended, and mends nothing where it finds nothing.
    """

    name: ClassVar[str]

    @abstractmethod
    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Where the conversation breaks this rule, in order."""

    @abstractmethod
    def mend(self, draft: Draft) -> None:
        """Change as little of the draft as this rule needs, and note each change."""

    def safe_cuts(self, messages: Sequence[Message]) -> set[int]:
        """The indices at which a cut breaks nothing that this rule guards. All of them, unless overridden."""
        return set(cuts_of(messages))

    def repair(self, messages: Sequence[Message]) -> tuple[list[Message], list[Repair]]:
        """The conversation as this rule wants it, and what was changed; unchanged messages are the same objects."""
        draft = Draft(messages)
        self.mend(draft)
        return draft.messages, draft.repairs


def leading_systems(messages: Sequence[Message]) -> int:
    """How many instructions stand in front of everything else."""
    return next((index for index, message in enumerate(messages) if not message.is_system), len(messages))


def head_length(messages: Sequence[Message]) -> int:
    """The length of the head: the leading instructions, and the message after them if it is the user's."""
    leading = leading_systems(messages)
    has_task = leading < len(messages) and messages[leading].role == "user"
    return leading + has_task


def cuts_of(messages: Sequence[Message]) -> range:
    """Every index a cut may be at: behind the head, and such that something is left."""
    return range(head_length(messages), len(messages))
