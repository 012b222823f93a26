"""What no strategy may do."""

from collections.abc import Sequence

from aaa.context.work import Work
from aaa.messages import Message, pair

__all__ = ["is_lawful"]


def is_lawful(work: Work) -> bool:
    """Whether the head is as it was and no call has been separated from its result."""
    items = work.items
    if [item.message for item in items[: work.head]] != work.transcript[: work.head]:
        return False
    unpaired = _unpaired(work.messages)
    known = _unpaired(work.transcript) if unpaired else set[int]()
    return all(items[index].source in known for index in unpaired)


def _unpaired(messages: Sequence[Message]) -> set[int]:
    pairing = pair(messages)
    return {*pairing.orphans, *(index for index, _ in pairing.unanswered)}
