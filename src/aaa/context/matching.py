"""Finding out what a strategy did, by object identity.

    before   a  b  c  d  e
    after    a  b′ e  n           b′ stands for b (same role and calls); c and d are gone; n is new

One object may stand in two places: an unchanged beginning is matched first, the rest from its end, because what is
removed is mostly at the beginning.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

from aaa.context.edits import Item
from aaa.messages import Message

__all__ = ["rematch"]


def rematch(
    old: Sequence[Item], messages: Sequence[Message], count: Callable[[Message], int], strategy: str
) -> list[Item]:
    """Items for `messages`: known objects keep theirs, new ones take the place of what they stand for.

    Cost: O(messages), and counting what is new.
    """
    start = next((i for i, (item, m) in enumerate(zip(old, messages, strict=False)) if item.message is not m), None)
    start = min(len(old), len(messages)) if start is None else start
    rest = _from_the_end(old, messages, start)
    matched: list[int | None] = [*range(start), *rest]
    return _fill(old, messages, matched, count, strategy)


def _from_the_end(old: Sequence[Item], messages: Sequence[Message], start: int) -> list[int | None]:
    """For each message from `start` on, the old item with the same object, none before `start`."""
    places: defaultdict[int, list[int]] = defaultdict(list)
    for position in range(start, len(old)):
        places[id(old[position].message)].append(position)
    matched: list[int | None] = []
    bound = len(old)
    for message in reversed(messages[start:]):
        candidates = places[id(message)]
        while candidates and candidates[-1] >= bound:
            candidates.pop()
        matched.append(candidates.pop() if candidates else None)
        bound = bound if matched[-1] is None else matched[-1]
    return matched[::-1]


def _fill(
    old: Sequence[Item],
    messages: Sequence[Message],
    matched: Sequence[int | None],
    count: Callable[[Message], int],
    strategy: str,
) -> list[Item]:
    items: list[Item] = []
    following = _next_matches(matched, len(old))
    free = 0  # the first old item that a new message may still stand for
    for message, position, limit in zip(messages, matched, following, strict=True):
        if position is not None:
            items.append(old[position])
            free = position + 1
            continue
        gap = range(free, limit)
        place = next((i for i in gap if old[i].source is not None and _stands_for(message, old[i].message)), None)
        items.append(Item(message, None if place is None else old[place].source, count(message), strategy))
        free = free if place is None else place + 1
    return items


def _next_matches(matched: Sequence[int | None], end: int) -> list[int]:
    following: list[int] = []
    for position in reversed(matched):
        end = end if position is None else position
        following.append(end)
    return following[::-1]


def _stands_for(new: Message, old: Message) -> bool:
    return (new.role, new.tool_call_id, new.kind) == (old.role, old.tool_call_id, old.kind) and [
        call.id for call in new.tool_calls
    ] == [call.id for call in old.tool_calls]
