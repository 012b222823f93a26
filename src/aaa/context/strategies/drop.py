"""Delete the oldest groups, leaving a marker."""

from bisect import bisect_left
from collections.abc import Sequence

from aaa.context.markers import is_marker, marked, marker
from aaa.context.summaries import is_summary
from aaa.context.work import Work
from aaa.messages import Message

__all__ = ["DropOldest", "drop_groups"]


class DropOldest:
    """Last resort: delete the oldest groups until the target is reached, leaving one line that says so.

    Never the head, the recent tail, pinned messages or a summary, and with `sticky=True` not what the user said as far
    as it is spared. Loses everything it drops.
    """

    name = "drop_oldest"

    async def apply(self, work: Work) -> None:
        """Drop as few of the oldest groups as reach the target."""
        self.reduce(work)

    def reduce(self, work: Work) -> None:
        """As `apply`; awaits nothing."""
        dropped = drop_groups(work, work.tail, work.target_tokens)
        if dropped:
            work.applied.append(f"{self.name}({dropped})")


def drop_groups(
    work: Work, stop: int, target_tokens: int, *, spare_summaries: bool = True, spare_users: bool = True
) -> int:
    """Drop the oldest groups before `stop` until `target_tokens` are reached; says how many messages went.

    One marker tells how many are missing in all; an earlier marker is counted in. Drops nothing if the prompt would
    not become smaller.
    """
    ranges = [r for r in work.groups() if r[1] <= stop and _is_droppable(work, *r, spare_summaries)]
    if spare_users and work.spared:
        ranges = [r for r in ranges if not any(map(work.is_spared, range(*r)))]
    if not ranges:
        return 0
    count = bisect_left(range(1, len(ranges)), True, key=lambda n: _size(work, ranges[:n]) <= target_tokens) + 1
    prompt = _without(work, ranges[:count])
    if work.size_of(prompt) >= work.tokens:
        return 0
    work.messages = prompt
    return sum(end - start for start, end in ranges[:count])


def _is_droppable(work: Work, start: int, end: int, spare_summaries: bool) -> bool:
    return not any(
        work.is_protected(index) or is_marker(message) or (spare_summaries and is_summary(message))
        for index, message in enumerate(work.messages[start:end], start)
    )


def _size(work: Work, ranges: Sequence[tuple[int, int]]) -> int:
    return work.size_of(_without(work, ranges))


def _without(work: Work, ranges: Sequence[tuple[int, int]]) -> list[Message]:
    """The prompt without `ranges` and earlier markers, one marker where the first of them stood."""
    gone = {index for start, end in ranges for index in range(start, end)}
    gone |= {i for i, message in enumerate(work.messages) if is_marker(message) and not work.is_protected(i)}
    items = work.items
    told = [items[i].message for i in gone if items[i].source is not None or is_marker(items[i].message)]
    kept = [(index, message) for index, message in enumerate(work.messages) if index not in gone]
    first = min(gone)
    before, behind = [m for i, m in kept if i < first], [m for i, m in kept if i > first]
    return [*before, marker(sum(map(marked, told))), *behind] if told else [*before, *behind]
