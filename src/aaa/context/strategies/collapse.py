"""Fold runs of equal calls with equal results, such as polling."""

from collections.abc import Iterator

from aaa.context.markers import marker
from aaa.context.work import Work
from aaa.messages import Message

__all__ = ["CollapseRepeats"]


class CollapseRepeats:
    """Of calls in a row with the same name, arguments and result keep the first and the last `keep_last`.

    A model learns nothing from the others, and some providers refuse a history of many equal calls. Loses how often it
    was called, but for the line that tells how many messages are missing. Also in the recent tail.
    """

    name = "collapse_repeats"

    def __init__(self, keep_last: int = 2) -> None:
        if keep_last < 1:
            raise ValueError(f"keep_last must be at least 1, got {keep_last}")
        self.keep_last = keep_last

    async def apply(self, work: Work) -> None:
        """Fold every run."""
        self.reduce(work)

    def reduce(self, work: Work) -> None:
        """As `apply`; awaits nothing."""
        gone = [index for row in _rows(work) for group in row[1 : -self.keep_last] for index in range(*group)]
        if not gone:
            return
        first, removed = gone[0], set(gone)
        kept = [message for index, message in enumerate(work.messages) if index not in removed]
        prompt = [*kept[:first], marker(len(gone)), *kept[first:]]
        if work.size_of(prompt) < work.tokens:
            work.messages = prompt
            work.applied.append(f"{self.name}({len(gone)})")


def _rows(work: Work) -> Iterator[list[tuple[int, int]]]:
    """Groups in a row that say the same."""
    row: list[tuple[int, int]] = []
    before: object = None
    for group in work.groups():
        said = _said(work, group)
        if said is None or said != before:
            yield row
            row = []
        if said is not None:
            row.append(group)
        before = said
    yield row


def _said(work: Work, group: tuple[int, int]) -> object:
    """What a group of a call and its results says, ids aside; None for any other, and for one that must stay."""
    messages: list[Message] = work.messages[group[0] : group[1]]
    first, *others = messages
    is_whole = bool(first.tool_calls) and bool(others) and all(message.role == "tool" for message in others)
    if not is_whole or any(work.is_protected(index) for index in range(*group)):
        return None
    calls = [(call.name, call.arguments_json) for call in first.tool_calls]
    return first.content, calls, [message.content for message in others]
