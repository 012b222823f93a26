"""Tools of a request whose conversation uses some, which Bedrock insists on.

Only whoever makes the request can name them, so this is reported and not repaired. Source: `toolConfig` must be given
where messages have toolUse blocks (Bedrock's Converse API).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule

__all__ = ["ToolsNamed"]


@dataclass(frozen=True)
class ToolsNamed(Rule):
    """A request without tools has no calls in it. To be used for requests that are known to have none."""

    name: ClassVar[str] = "tools_named"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """The request, if there are calls in it."""
        has_calls = any(message.tool_calls for message in messages)
        return [Violation(self.name, "calls_without_tools", is_repairable=False)] if has_calls else []

    def mend(self, draft: Draft) -> None:
        """Change nothing."""
