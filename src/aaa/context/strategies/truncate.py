"""Shorten single huge tool results."""

from aaa.context.shorten import shortened
from aaa.context.strategies.replacing import replace_old
from aaa.context.work import Work
from aaa.messages import Message, with_text

__all__ = ["TruncateToolResults"]


class TruncateToolResults:
    """Cut any tool result longer than `max_chars` to its start and end; `head` is the start's share.

    Loses the middle of very large outputs. A cut result has at most `max_chars` characters, its note included.
    """

    name = "truncate_tool_results"

    def __init__(self, max_chars: int = 8000, head: float = 0.7) -> None:
        if max_chars < 1:
            raise ValueError(f"max_chars must be at least 1, got {max_chars}")
        if not 0 <= head <= 1:
            raise ValueError(f"head must be between 0 and 1, got {head}")
        self.max_chars = max_chars
        self.head = head

    async def apply(self, work: Work) -> None:
        """Cut every result before the recent tail that is too long."""
        self.reduce(work)

    def reduce(self, work: Work) -> None:
        """As `apply`; awaits nothing."""
        replace_old(work, self.name, self._cut)

    def _cut(self, message: Message) -> Message:
        if message.role != "tool" or message.content is None:
            return message
        content = shortened(message.content, self.max_chars, self.head)
        return message if content is message.content else with_text(message, content)
