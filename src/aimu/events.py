"""What is told of what was done to a conversation, as data."""

import msgspec

__all__ = ["ContextCompacted"]


class ContextCompacted(msgspec.Struct, frozen=True):
    """Messages of an agent's conversation are no longer in it: `dropped` many, counted by content.

    Units: tokens by the estimate of `aimu.count_tokens`, whatever counted in the function that dropped them.
    """

    before_tokens: int
    after_tokens: int
    dropped: int
    agent: str
