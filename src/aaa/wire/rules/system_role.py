"""The role of instructions: OpenAI's newer name for it is not known to other servers of its format.

Source: "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`" (DeepSeek).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message
from aaa.wire.report import Violation, flagged
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule

__all__ = ["SystemRole"]


@dataclass(frozen=True)
class SystemRole(Rule):
    """Instructions have the role "system"."""

    name: ClassVar[str] = "system_role"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages of the developer."""
        return flagged(self.name, messages, _problem)

    def mend(self, draft: Draft) -> None:
        """Call them the system's."""
        draft.fix(self.name, _problem, lambda message: replace(message, role="system"))


def _problem(message: Message) -> str | None:
    return "developer_role" if message.role == "developer" else None
