"""Anthropic's Messages API."""

from typing import Any, cast

from aaa.llm.providers.stainless import StainlessProvider
from aaa.wire import anthropic

__all__ = ["ANTHROPIC"]

_DEFAULT_MAX_TOKENS = 4096  # as much as a policy keeps free by default


def _with_max_tokens(body: dict[str, Any], stream: bool) -> None:
    """Every request must say how long its reply may be, thinking by budget included."""
    thinking = body.get("thinking")
    budget = cast("dict[str, Any]", thinking).get("budget_tokens") if isinstance(thinking, dict) else None
    body.setdefault("max_tokens", _DEFAULT_MAX_TOKENS + (budget if isinstance(budget, int) else 0))


ANTHROPIC = StainlessProvider(
    "anthropic",
    package="anthropic",
    key_variable="ANTHROPIC_API_KEY",
    method="messages.create",
    wire=anthropic,
    dialect="anthropic",
    complete_body=_with_max_tokens,
)
