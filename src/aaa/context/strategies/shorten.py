"""Shorten the long arguments of old calls."""

from aaa.context.cutting import with_shorter_arguments
from aaa.context.strategies.replacing import replace_old
from aaa.context.work import Work

__all__ = ["ShortenCalls"]


class ShortenCalls:
    """Cut arguments longer than `max_chars`, leaf by leaf: they stay an object with the same keys.

    Loses the middle of long texts that a model wrote into a tool: whole files, mostly, which it can read again.
    """

    name = "shorten_calls"

    def __init__(self, max_chars: int = 2000) -> None:
        if max_chars < 1:
            raise ValueError(f"max_chars must be at least 1, got {max_chars}")
        self.max_chars = max_chars

    async def apply(self, work: Work) -> None:
        """Cut every call before the recent tail that is too long."""
        self.reduce(work)

    def reduce(self, work: Work) -> None:
        """As `apply`; awaits nothing."""
        replace_old(work, self.name, lambda message: with_shorter_arguments(message, self.max_chars))
