"""A policy's numbers for one model, worked out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aaa.context.anchor import Anchor
from aaa.context.strategies import Strategy

__all__ = ["Call", "Settings"]


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

    def output_for(self, prompt_tokens: int, wanted_tokens: int, *, largest: int | None = None) -> int:
        """How much output to ask for beside a prompt: what is wanted, at most what is left and the model gives.

        0 where the prompt fills the window: such a request is not to be sent.
        """
        left = max(self.window_tokens - prompt_tokens, 0)
        return min(wanted_tokens, left) if largest is None else min(wanted_tokens, left, largest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is known of one call beside the conversation and the policy.

    `pressure` below 1 says that the estimate is known to be too low, `anchor` what was reported of the last prompt,
    `learned_tokens` a smaller window than the policy's, `max_bytes` what a server takes at most, `provider` whose rules
    the prompt must keep, `params` those of the request, which decide some of them. `is_estimate` asks for a plan that
    calls no model.
    """

    pressure: float = 1.0
    anchor: Anchor | None = None
    learned_tokens: int | None = None
    max_bytes: int | None = None
    provider: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_estimate: bool = False
