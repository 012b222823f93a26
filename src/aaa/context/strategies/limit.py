"""Cut any message that is too long by itself."""

from aaa.context.shorten import shortened
from aaa.context.work import Work
from aaa.messages import Message, with_text

__all__ = ["CutMessages"]


class CutMessages:
    """No message has more than `max_tokens`: what is longer is cut to its start and end, with a note.

    Tool results, replies and the user's own words alike, also in the recent tail; head and pinned messages
    stay. Arguments of calls are left to `ShortenCalls`. Units: raw tokens of the policy's counter.
    """

    name = "cut_messages"

    def __init__(self, max_tokens: int) -> None:
        if max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, got {max_tokens}")
        self.max_tokens = max_tokens

    async def apply(self, work: Work) -> None:
        """Cut every message that is too long."""
        self.reduce(work)

    def reduce(self, work: Work) -> None:
        """As `apply`; awaits nothing."""
        items, cut = work.items, 0
        for index in range(len(work.messages)):
            message = work.messages[index]
            if work.is_protected(index) or items[index].raw <= self.max_tokens:
                continue
            shorter = self._shorter(work, message)
            if shorter is not None:
                work.messages[index] = shorter
                cut += 1
        if cut:
            work.applied.append(f"{self.name}({cut})")

    def _shorter(self, work: Work, message: Message) -> Message | None:
        """The message with as much of its text as fits, found by halving; None if its text is not what is long."""
        content = message.content
        if content is None:
            return None
        low, high, best = 1, len(message.text), None
        while low <= high:
            middle = (low + high) // 2
            tried = with_text(message, shortened(content, middle))
            if work.count(tried) <= self.max_tokens:
                low, best = middle + 1, tried
            else:
                high = middle - 1
        return best
