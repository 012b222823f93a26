"""A policy's numbers for one model, worked out."""

from collections.abc import Sequence
from dataclasses import dataclass

from aaa.context.strategies import Strategy

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A policy's numbers for one model. Units: tokens."""

    window_tokens: int
    reserve_tokens: int
    trigger_tokens: int
    target_tokens: int
    keep_recent: int
    strategies: Sequence[Strategy]
    is_sticky: bool

    @property
    def budget_tokens(self) -> int:
        """What the prompt may have: window less reserve."""
        return self.window_tokens - self.reserve_tokens
