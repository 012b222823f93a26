"""What no strategy may do, and neither may the floor."""

from collections.abc import Sequence

from aaa.context.edits import Item, render
from aaa.context.work import Work
from aaa.messages import Message, pair, with_extra_of

__all__ = ["is_faithful", "is_lawful"]


def is_lawful(work: Work) -> bool:
    """Whether head and pinned messages are as they were and no call has been separated from its result."""
    items = work.items
    head = work.transcript[: work.head]
    if [item.source for item in items[: work.head]] != list(range(work.head)):
        return False
    if any(item.message is not message for item, message in zip(items, head, strict=False)):
        return False
    return _keeps_pinned(work) and _keeps_pairs(work)


def is_faithful(work: Work, before: Sequence[Item]) -> bool:
    """Whether the edits of this prompt give this prompt, and the summary is the one that stood in `before`."""
    written = [item.message for item in before if item.source is None and item.message.kind == "summary"]
    there = {id(message) for message in work.messages}
    if any(id(message) not in there for message in written) or _has_moved_results(work):
        return False
    rendered = [item.message for item in render(work.transcript, work.edits(), work.length)]
    return rendered == [_with_own_extra(work, item) for item in work.items]


def _with_own_extra(work: Work, item: Item) -> Message:
    """The message as it will be shown: with the extra keys of the one it stands for, whatever the strategy left."""
    if item.source is None or item.message is work.transcript[item.source]:
        return item.message
    return with_extra_of(item.message, work.transcript[item.source])


def _has_moved_results(work: Work) -> bool:
    """Whether a result stands as a new message beside a call of the transcript: later it would be there twice."""
    items = work.items
    calls = pair(work.messages).call_of
    return any(items[result].source is None and items[call].source is not None for result, call in calls.items())


def _keeps_pinned(work: Work) -> bool:
    pinned = work.transcript.pinned_between(work.head, work.length)
    if not pinned:
        return True
    there = {item.source: item.message for item in work.items}
    return all(there.get(index) is work.transcript[index] for index in pinned)


def _keeps_pairs(work: Work) -> bool:
    unpaired = _unpaired(work.messages)
    if not unpaired:
        return True
    known = _unpaired(work.transcript)
    return all((work.items[index].source, call_id) in known for index, call_id in unpaired)


def _unpaired(messages: Sequence[Message]) -> set[tuple[int, str]]:
    """Calls without a result and results without a call, as (index, call id)."""
    pairing = pair(messages)
    return {*pairing.unanswered, *((index, messages[index].tool_call_id or "") for index in pairing.orphans)}
