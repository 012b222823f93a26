"""What happened to the calls of one conversation, or of many."""

from collections import Counter
from collections.abc import Iterable, KeysView
from dataclasses import dataclass, field
from itertools import islice

from aaa.context import Plan
from aaa.errors import ContextFloorError

__all__ = ["Refusal", "Tally"]

_STORED = "stored_summary"  # applied again, not anew
_MOST_REFUSALS = 10  # kept of one conversation, the rest is counted


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that could not be made to fit: the number of the call, how long its transcript is, and the sizes."""

    call: int
    messages: int
    error: ContextFloorError

    def to_dict(self) -> dict[str, object]:
        """The refusal for a JSON document."""
        sizes = ("needed", "budget", "window", "reserve", "head", "tools", "tail")
        numbers = {f"{name}_tokens": getattr(self.error, f"{name}_tokens") for name in sizes}
        return {"call": self.call, "messages": self.messages, **numbers}


@dataclass(slots=True)
class Tally:
    """Counts of calls, sizes in estimated tokens.

    `applied`, `floor` and `rejected` count the calls in which each strategy, rung of the floor or refused summary
    occurred. `largest_with` is 0 while no call has been fitted.
    """

    calls: int = 0
    largest_without: int = 0
    largest_with: int = 0
    compactions: int = 0
    applied: Counter[str] = field(default_factory=Counter[str])
    floor: Counter[str] = field(default_factory=Counter[str])
    rejected: Counter[str] = field(default_factory=Counter[str])
    refused: int = 0
    refusals: list[Refusal] = field(default_factory=list[Refusal])

    def fitted(self, plan: Plan) -> None:
        """Count a call that was fitted."""
        self.calls += 1
        self.largest_without = max(self.largest_without, plan.tokens_before)
        self.largest_with = max(self.largest_with, plan.tokens_after)
        self.compactions += any(name != _STORED for name in plan.applied)
        self.applied.update(_names(plan.applied))
        self.floor.update(_names(plan.floor))
        self.rejected.update(dict.fromkeys(plan.rejected).keys())

    def refuse(self, refusal: Refusal, tokens_without: int) -> None:
        """Count a call that could not be."""
        self.calls += 1
        self.largest_without = max(self.largest_without, tokens_without)
        self.refused += 1
        if len(self.refusals) < _MOST_REFUSALS:
            self.refusals.append(refusal)

    def add(self, other: "Tally") -> None:
        """Take in another conversation's counts, its single refusals apart."""
        self.calls += other.calls
        self.largest_without = max(self.largest_without, other.largest_without)
        self.largest_with = max(self.largest_with, other.largest_with)
        self.compactions += other.compactions
        self.refused += other.refused
        for mine, others in ((self.applied, other.applied), (self.floor, other.floor), (self.rejected, other.rejected)):
            mine.update(others)

    def to_dict(self) -> dict[str, object]:
        """The counts for a JSON document."""
        return {
            "calls": self.calls,
            "largest_without_tokens": self.largest_without,
            "largest_with_tokens": self.largest_with if self.calls > self.refused else None,
            "compactions": self.compactions,
            "applied": dict(self.applied.most_common()),
            "floor": dict(self.floor.most_common()),
            "rejected": dict(islice(self.rejected.most_common(), _MOST_REFUSALS)),
            "refused": self.refused,
        }


def _names(applied: Iterable[str]) -> KeysView[str]:
    """Each name once, in order, so that two runs print the same."""
    return dict.fromkeys(name.partition("(")[0] for name in applied).keys()
