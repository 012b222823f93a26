"""What a rule finds wrong, and what was changed to put it right; data without a word of any message."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from aaa.messages import Message

__all__ = ["Action", "Repair", "Violation", "flagged"]

Action = Literal["added", "changed", "dropped", "merged", "moved", "split"]


class Violation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place where a conversation breaks a rule.

    `index` is the message's, None where it is the request as a whole. What `is_repairable` is false of (sizes, counts,
    what was asked for besides the messages) stays as it is when the conversation is repaired.
    """

    rule: str
    problem: str
    index: int | None = None
    detail: str = ""
    is_repairable: bool = True


class Repair(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change; `index` is that of the message in the conversation before any repair, for an added message of the
    one it was added for."""

    rule: str
    action: Action
    index: int
    detail: str = ""


def flagged(rule: str, messages: Sequence[Message], problem_of: Callable[[Message], str | None]) -> list[Violation]:
    """A violation for each message that has a problem by itself."""
    found = ((index, problem_of(message)) for index, message in enumerate(messages))
    return [Violation(rule, problem, index) for index, problem in found if problem]
