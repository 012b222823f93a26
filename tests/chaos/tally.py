"""The sum of all runs, as data and as a table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tests.chaos.running import RunResult
from tests.chaos.texts import WORDINGS

__all__ = ["problems", "table", "totals"]

_SHOWN = 5  # problems of one run


def totals(results: Sequence[RunResult], *, seconds: float) -> dict[str, Any]:
    """Everything that was counted."""
    wordings = set().union(*(result.wordings for result in results)) if results else set()
    return {
        "runs": len(results),
        "seconds": round(seconds, 1),
        "steps done": sum(result.steps for result in results),
        "slowest run (seconds)": round(max((result.seconds for result in results), default=0.0), 1),
        "overflow texts": f"{len(wordings)} distinct of {len(WORDINGS)}",
        **_sum(result.counts for result in results),
        "providers": _ordered(Counter(result.provider for result in results)),
        "ended in": _ordered(Counter(result.ending or "a violation" for result in results)),
        "provider's faults": _ordered(_sum(result.faults for result in results)),
        "summaries asked for": _ordered(_sum(result.summaries for result in results)),
        "summaries rejected": _ordered(_sum(result.rejected for result in results)),
        "runs with violations": sum(bool(result.problems) for result in results),
        "violations": sum(len(result.problems) for result in results),
    }


def _sum(counters: Any) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _ordered(counter: Counter[str]) -> dict[str, int]:
    return dict(counter.most_common())


def table(summary: dict[str, Any]) -> str:
    """One line a figure; what is counted by kind is indented below its name."""
    lines: list[str] = []
    for name, value in summary.items():
        if isinstance(value, dict):
            lines.append(f"{name}:")
            lines += [f"    {kind:<66}{_number(count):>10}" for kind, count in value.items()]
        else:
            lines.append(f"{name:<44}{_number(value):>36}")
    return "\n".join(lines)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def problems(results: Sequence[RunResult], seed: int, steps: int) -> Iterator[str]:
    """What did not hold, run by run, with the way to see it again."""
    for result in results:
        if not result.problems:
            continue
        yield f"run {result.number} ({result.provider}, {result.ending or 'no end'}): {len(result.problems)} violations"
        yield from (f"  {problem}" for problem in result.problems[:_SHOWN])
        yield f"  again: python -m tests.chaos --seed {seed} --steps {steps} --only {result.number}"
