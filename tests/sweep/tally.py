"""How many prompts there were of each kind, and the table of them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from aaa.context import Plan

__all__ = ["Tally", "table"]


@dataclass
class Tally:
    """What came of some calls with one format, window and setting; `largest` is the largest share of a budget."""

    counts: Counter[str] = field(default_factory=Counter[str])
    rungs: Counter[str] = field(default_factory=Counter[str])
    wrong: Counter[str] = field(default_factory=Counter[str])
    examples: list[str] = field(default_factory=list[str])
    largest: float = 0.0

    def add_prompt(self, plan: Plan, window: int) -> None:
        self.counts["calls"] += 1
        self.counts["floor" if plan.floor else "compacted" if plan.edits else "untouched"] += 1
        self.counts["repaired"] += bool(plan.repairs)
        self.rungs.update({re.sub(r"\d+, ", "", rung) for rung in plan.floor})
        self.largest = max(self.largest, plan.tokens_after / window)

    def add_refusal(self) -> None:
        self.counts["calls"] += 1
        self.counts["refused"] += 1

    def add_wrong(self, names: Iterable[str], where: str) -> None:
        for name in names:
            self.wrong[name] += 1
            self.examples.append(f"{where}: {name}")

    def end_conversation(self) -> None:
        """All calls so far were of one conversation."""
        self.counts["conversations"] = 1
        self.counts["refused conversations"] = min(self.counts["refused"], 1)

    def add(self, other: "Tally") -> None:
        self.counts += other.counts
        self.rungs += other.rungs
        self.wrong += other.wrong
        self.examples += other.examples[:5]
        self.largest = max(self.largest, other.largest)


_COLUMNS = ("conversations", "calls", "untouched", "compacted", "floor", "repaired", "refused", "refused conversations")


def table(tallies: Mapping[tuple[str, int, bool], Tally]) -> Iterator[str]:
    """Lines of a table in Markdown: one for each format, window and setting."""
    yield f"| format | window | sticky | {' | '.join(_COLUMNS)} | violations | largest / budget |"
    yield "|" + "---|" * (len(_COLUMNS) + 5)
    total = Tally()
    for (format, window, is_sticky), tally in tallies.items():
        yield _row(f"{format} | {window:,} | {'yes' if is_sticky else 'no'}", tally)
        total.add(tally)
    yield _row("all | | ", total)
    for rung, count in total.rungs.most_common():
        yield f"floor rung {rung}: {count:,} prompts"
    for name, count in total.wrong.most_common():
        yield f"VIOLATED {count:,} times: {name}"
    yield from total.examples[:40]


def _row(name: str, tally: Tally) -> str:
    numbers = " | ".join(f"{tally.counts[column]:,}" for column in _COLUMNS)
    return f"| {name} | {numbers} | {tally.wrong.total():,} | {tally.largest:.4f} |"
