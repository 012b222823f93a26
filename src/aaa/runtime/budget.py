"""What a run may spend, and what it has spent: a fold of its log."""

from datetime import datetime
from typing import Any

import msgspec

from aaa.runtime.events import Event

__all__ = ["SPENDING", "Budget", "Spent"]

SPENDING = frozenset(
    (
        *("aaa.llm.requested", "aaa.llm.completed", "aaa.context.summary", "aaa.context.rejected"),
        *("aaa.child.completed", "aaa.child.failed"),
    )
)


class Budget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Limits of a run, its children included; None is no limit.

    Units: `max_tokens` prompt and reply together, summaries included; `max_cost` USD; `max_steps` model calls;
    `deadline` seconds since 1970 UTC, or an aware datetime. Checked before each effect; the deadline also ends one
    that is under way.

    Raises:
        ValueError: a limit that is not above zero, or a deadline without a time zone.
    """

    max_tokens: int | None = None
    max_cost: float | None = None
    max_steps: int | None = None
    deadline: float | datetime | None = None

    def __post_init__(self) -> None:
        for name in ("max_tokens", "max_cost", "max_steps"):
            limit = getattr(self, name)
            if limit is not None and not limit > 0:
                raise ValueError(f"{name} must be above 0, got {limit}")
        deadline = self.deadline
        if isinstance(deadline, datetime):
            if deadline.tzinfo is None:
                raise ValueError("deadline must have a time zone")
            msgspec.structs.force_setattr(self, "deadline", deadline.timestamp())

    @property
    def ends_at(self) -> float | None:
        """The deadline in seconds since 1970, UTC."""
        return self.deadline.timestamp() if isinstance(self.deadline, datetime) else self.deadline

    def exceeded_by(self, spent: "Spent") -> str | None:
        """Which limit is used up, in words with both numbers; None if none is."""
        total = spent.total()
        for name, used in (("max_tokens", total.tokens), ("max_cost", total.cost), ("max_steps", total.steps)):
            limit = getattr(self, name)
            if limit is not None and used >= limit:
                return f"{name} is {limit:,}, spent {used:,}"
        return None


class Spent(msgspec.Struct):
    """What a run has spent: its own log's sum, and that of the children under way. Units: tokens, USD, model calls."""

    tokens: int = 0
    cost: float = 0.0
    steps: int = 0
    children: list["Spent"] = msgspec.field(default_factory=list["Spent"])

    def total(self) -> "Spent":
        """The sum with all children."""
        below = [child.total() for child in self.children]
        return Spent(
            self.tokens + sum(child.tokens for child in below),
            self.cost + sum(child.cost for child in below),
            self.steps + sum(child.steps for child in below),
        )

    def fold(self, event: Event) -> None:
        """Take in one event; it changes nothing unless its type is one of `SPENDING`."""
        data = event.data
        match event.type:
            case "aaa.llm.requested":
                self.steps += 1
            case "aaa.llm.completed":
                usage: dict[str, Any] | None = data.get("usage")
                self.tokens += usage.get("total_tokens", 0) if usage else 0
                self.cost += data.get("cost") or 0.0
            case "aaa.context.summary" | "aaa.context.rejected":
                self._add(data.get("tokens_spent", 0), data.get("cost"))
            case "aaa.child.completed" | "aaa.child.failed":
                child: dict[str, Any] = data.get("spent") or {}
                self._add(child.get("tokens", 0), child.get("cost"), child.get("steps", 0))
            case _:
                pass

    def _add(self, tokens: int, cost: float | None, steps: int = 0) -> None:
        self.tokens += tokens
        self.cost += cost or 0.0
        self.steps += steps
