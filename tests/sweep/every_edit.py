"""Every edit of a conversation: what a strategy may make of it, and what it may not.

clear          any set of results           drop            any range of groups, with and without a marker
truncate       any one result               insert          a note between any two groups
shorten        any one user's or reply      arguments       those of any one message's calls
part           one message of a group alone: undone if it parts a call from its result
head           something of the head: undone
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from msgspec.structs import replace

from aaa.context.groups import groups, is_pinned
from aaa.context.markers import marker
from aaa.context.work import Work
from aaa.messages import Message, with_text
from aaa.wire.rewriting import with_arguments

__all__ = ["Change", "OneEdit", "changes"]

_NOTE = Message("user", "<note> mind the tests")


@dataclass(frozen=True)
class Change:
    """What a strategy makes of a conversation; whether it may. None: that depends on the pairs it parts."""

    kind: str
    messages: list[Message]
    is_lawful: bool | None = True


class OneEdit:
    """A strategy that makes of any prompt what it was told."""

    name = "one_edit"

    def __init__(self) -> None:
        self.change: Change | None = None

    async def apply(self, work: Work) -> None:
        self.reduce(work)

    def reduce(self, work: Work) -> None:
        if self.change is not None:
            work.messages = self.change.messages


def changes(messages: Sequence[Message], head: int, *, most: int) -> Iterator[Change]:
    """Every edit, none at all first. Nothing is inserted into a conversation of `most` messages."""
    given = [*messages]
    free = [index for index in range(head, len(given)) if not is_pinned(given[index])]
    ranges = groups(given, head)
    yield Change("none", given)
    yield from _replacing(given, free)
    yield from _dropping(given, ranges)
    if len(given) < most:
        places = [*(start for start, _ in ranges), *[len(given)] * bool(given)]
        yield from (Change("insert", [*given[:at], _NOTE, *given[at:]]) for at in places)
    yield from _forbidden(given, ranges, head)


def _replacing(given: Sequence[Message], free: Sequence[int]) -> Iterator[Change]:
    results = [index for index in free if given[index].role == "tool"]
    for size in range(1, len(results) + 1):
        for some in combinations(results, size):
            cleared = [with_text(m, "[cleared]") if index in some else m for index, m in enumerate(given)]
            yield Change("clear", cleared)
    for index in free:
        message = given[index]
        kind = "truncate" if message.role == "tool" else "shorten"
        yield Change(kind, _with(given, index, with_text(message, message.text[:9])))
        if message.tool_calls:
            calls = tuple(with_arguments(call, '{"path":"…","lines":"…"}') for call in message.tool_calls)
            yield Change("arguments", _with(given, index, replace(message, tool_calls=calls)))


def _dropping(given: Sequence[Message], ranges: Sequence[tuple[int, int]]) -> Iterator[Change]:
    for first, last in combinations(range(len(ranges) + 1), 2):
        start, stop = ranges[first][0], ranges[last - 1][1]
        is_lawful = not any(map(is_pinned, given[start:stop]))
        yield Change("drop", [*given[:start], *given[stop:]], is_lawful)
        yield Change("drop with marker", [*given[:start], marker(stop - start), *given[stop:]], is_lawful)


def _forbidden(given: Sequence[Message], ranges: Sequence[tuple[int, int]], head: int) -> Iterator[Change]:
    for start, stop in ranges:
        if stop - start > 1:
            parts = [index for index in range(start, stop) if given[index].tool_calls or given[index].role == "tool"]
            yield from (Change("part", [*given[:index], *given[index + 1 :]], None) for index in parts)
    if head:
        yield Change("head", list(given[1:]), False)
        yield Change("head", _with(given, head - 1, with_text(given[head - 1], "other")), False)


def _with(given: Sequence[Message], index: int, message: Message) -> list[Message]:
    return [*given[:index], message, *given[index + 1 :]]
