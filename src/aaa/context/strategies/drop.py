"""Delete the oldest groups, leaving a marker."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from aaa.context.summaries import is_summary
from aaa.context.work import Work
from aaa.messages import Message

__all__ = ["DropOldest", "drop_groups", "is_marker"]

_MARKER = re.compile(r"\[(\d+) earlier messages? left out to save context\]")


class DropOldest:
    """Last resort: delete the oldest groups until the target is reached, leaving one line that says so.

    Never the head, the recent tail, pinned messages or a summary. Loses everything it drops.
    """

    name = "drop_oldest"

    async def apply(self, work: Work) -> None:
        """Drop as few of the oldest groups as reach the target."""
        dropped = drop_groups(work, work.tail, work.target_tokens)
        if dropped:
            work.applied.append(f"{self.name}({dropped})")


def drop_groups(work: Work, stop: int, target_tokens: int, *, spare_summaries: bool = True) -> int:
    """Drop the oldest groups before `stop` until `target_tokens` are reached; says how many messages went.

    One marker tells how many are missing in all; an earlier marker is counted in. Drops nothing if the prompt would
    not become smaller.
    """
    ranges = [
        (start, end) for start, end in work.groups() if end <= stop and _is_droppable(work, start, end, spare_summaries)
    ]
    if not ranges:
        return 0
    count = bisect_left(range(1, len(ranges)), True, key=lambda n: _size(work, ranges[:n]) <= target_tokens) + 1
    prompt = _without(work.messages, ranges[:count])
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
    return work.size_of(_without(work.messages, ranges))


def _without(messages: Sequence[Message], ranges: Sequence[tuple[int, int]]) -> list[Message]:
    """The messages without `ranges` and earlier markers, one marker where the first of them stood."""
    gone = {index for start, end in ranges for index in range(start, end)}
    markers = [index for index, message in enumerate(messages) if is_marker(message)]
    total = len(gone) + sum(_marked(messages[index]) for index in markers)
    first = min([*markers, *gone])
    kept = [message for index, message in enumerate(messages) if index not in gone and index not in markers]
    marker = Message("user", f"[{total} earlier message{'s' * (total > 1)} left out to save context]", kind="marker")
    return [*kept[:first], marker, *kept[first:]]


def _marked(marker: Message) -> int:
    found = _MARKER.fullmatch(marker.text)
    return int(found[1]) if found else 0


def is_marker(message: Message) -> bool:
    """Whether the message is the line that tells what was dropped, also when it came back as a plain dict."""
    return message.role == "user" and isinstance(message.content, str) and bool(_MARKER.fullmatch(message.content))
