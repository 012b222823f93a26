"""The prompt while strategies make it smaller.

A strategy changes `work.messages`: replaces items, removes groups, inserts messages. What it did is found by object
identity afterwards and kept as edits, so only new objects are counted and anyone's strategy is as good as ours.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from operator import is_

from msgspec.structs import replace

from aaa.context.counters import Measure
from aaa.context.edits import Edit, Item, is_pinned, occurrences
from aaa.context.groups import groups
from aaa.context.summaries import SummaryRecord
from aaa.context.summarizing import PendingSummary
from aaa.context.transcript import Transcript
from aaa.messages import Message

__all__ = ["Work"]


class Work:
    """What a strategy sees and changes.

    `messages` may be changed in place or replaced by another list; `applied` takes the strategy's name, or
    `name(detail)`, if it changed anything. `target_tokens` is where to stop, `keep_recent` the number of newest groups
    to leave alone. A summarising strategy sets `pending` and the summary is written for it.
    """

    def __init__(
        self,
        transcript: Transcript,
        items: Sequence[Item],
        *,
        measure: Measure,
        target_tokens: int,
        budget_tokens: int,
        keep_recent: int,
        record: SummaryRecord | None = None,
    ) -> None:
        self.transcript = transcript
        self.length = len(transcript)
        self.measure = measure
        self.target_tokens = target_tokens
        self.budget_tokens = budget_tokens
        self.keep_recent = keep_recent
        self.record = record
        self.strategy = "strategy"
        self.applied: list[str] = []
        self.rejected: list[str] = []
        self.pending: PendingSummary | None = None
        self._items = list(items)
        self._messages = [item.message for item in items]
        self._dropped_by: dict[int, str] = {}

    @property
    def messages(self) -> list[Message]:
        """The prompt as it stands."""
        return self._messages

    @messages.setter
    def messages(self, messages: Sequence[Message]) -> None:
        self._messages = list(messages)

    @property
    def tokens(self) -> int:
        """Calibrated tokens of the prompt, tools included. Cost: O(what was changed), and a pointer comparison."""
        return self.measure.size(self.raw)

    @property
    def raw(self) -> int:
        """Raw tokens of the prompt, tools included."""
        return self.measure.total(sum(item.raw for item in self.items), self._messages)

    @property
    def fits(self) -> bool:
        """Whether the target is reached."""
        return self.tokens <= self.target_tokens

    @property
    def items(self) -> list[Item]:
        """The prompt with sources and raw sizes, brought up to date with `messages`."""
        self.settle()
        return self._items

    @property
    def head(self) -> int:
        """How many messages the head has; they come first in `messages` and are not to be touched."""
        return self.transcript.head

    @property
    def tail(self) -> int:
        """Index in `messages` of the first protected recent group."""
        return self.tail_of(self.keep_recent)

    def tail_of(self, keep: int) -> int:
        """Index in `messages` where the last `keep` groups begin."""
        if keep <= 0:
            return len(self._messages)
        ranges = groups(self._messages, self.head)[-keep:]
        return ranges[0][0] if ranges else len(self._messages)

    def groups(self) -> list[tuple[int, int]]:
        """Half-open ranges of the groups after the head, oldest first."""
        return groups(self._messages, self.head)

    def is_protected(self, index: int) -> bool:
        """Whether the message at `index` is head or pinned."""
        return index < self.head or is_pinned(self._messages[index])

    def count(self, message: Message) -> int:
        """Raw tokens of one message."""
        return self.measure.message(message)

    def size_of(self, messages: Sequence[Message]) -> int:
        """Calibrated tokens that the prompt would have with `messages`. Cost: counts only what is new in them."""
        known = {id(item.message): item.raw for item in self.items}
        raw = sum(known[id(m)] if id(m) in known else self.count(m) for m in messages) if self.measure.is_additive else 0
        return self.measure.size(self.measure.total(raw, messages))

    def settle(self) -> bool:
        """Take over what was done to `messages` in the name of `strategy`; says whether anything was."""
        if len(self._items) == len(self._messages) and all(
            map(is_, self._messages, (item.message for item in self._items))
        ):
            return False
        before = {item.source for item in self._items}
        self._items = _rematch(self._items, self._messages, self.count, self.strategy)
        for source in before - {item.source for item in self._items}:
            if source is not None:
                self._dropped_by[source] = self.strategy
        return True

    def restore(self, items: Sequence[Item]) -> None:
        """Go back to an earlier state of `items`."""
        self._items = list(items)
        self._messages = [item.message for item in items]

    def edits(self) -> tuple[Edit, ...]:
        """What makes this prompt out of the transcript, in order. Cost: O(messages)."""
        summary = _summary_edit(self.transcript, self.items, self.record)
        changes = [*_changes(self.transcript, self.length, self._items, summary, self._dropped_by)]
        inserts = _inserts(self.transcript, self._items, self.record)
        named = _named(changes + inserts, self.transcript, self.length)
        return tuple(sorted([*summary, *named], key=lambda edit: edit.index))


def _rematch(
    old: Sequence[Item], messages: Sequence[Message], count: Callable[[Message], int], strategy: str
) -> list[Item]:
    """Items for `messages`: known objects keep theirs, new ones take the place of what they stand for.

    From the end, because what is removed is mostly at the beginning and one object may stand in two places.
    """
    places: defaultdict[int, list[int]] = defaultdict(list)
    for position, item in enumerate(old):
        places[id(item.message)].append(position)
    matched: list[int | None] = []
    bound = len(old)
    for message in reversed(messages):
        candidates = places[id(message)]
        while candidates and candidates[-1] >= bound:
            candidates.pop()
        matched.append(candidates.pop() if candidates else None)
        bound = bound if matched[-1] is None else matched[-1]
    matched.reverse()
    return _fill(old, messages, matched, count, strategy)


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


def _summary_edit(transcript: Transcript, items: Sequence[Item], record: SummaryRecord | None) -> list[Edit]:
    if record is None:
        return []
    written = next(item for item in items if item.source is None and item.message.kind == "summary")
    kept = sum(item.raw for item in items if item.source is not None and transcript.head <= item.source < record.upto)
    edit = Edit(
        "summarize",
        transcript.head,
        written.strategy,
        digest=record.prefix_hash,
        stop=record.upto,
        tokens_before=transcript.tokens(transcript.head, record.upto) - kept,
        tokens_after=written.raw,
        replacement=written.message,
    )
    return [edit]


def _changes(
    transcript: Transcript, length: int, items: Sequence[Item], summary: Sequence[Edit], dropped_by: dict[int, str]
) -> list[Edit]:
    kept = {item.source: item for item in items}
    covered = range(summary[0].index, summary[0].stop) if summary else range(0)
    edits: list[Edit] = []
    for index in range(length):
        item = kept.get(index)
        before = transcript.tokens(index, index + 1)
        if item is None and index not in covered:
            edits.append(Edit("drop", index, dropped_by.get(index, ""), tokens_before=before))
        elif item is not None and item.message is not transcript[index]:
            new = item.message
            edits.append(
                Edit("replace", index, item.strategy, tokens_before=before, tokens_after=item.raw, replacement=new)
            )
    return edits


def _inserts(transcript: Transcript, items: Sequence[Item], record: SummaryRecord | None) -> list[Edit]:
    edits: list[Edit] = []
    anchor = -1
    for item in items:
        if item.source is not None:
            anchor = item.source
        elif not (record is not None and item.message.kind == "summary"):
            edits.append(
                Edit("insert", anchor, item.strategy, tokens_after=item.raw, replacement=item.message)
            )
    return edits


def _named(edits: Sequence[Edit], transcript: Transcript, length: int) -> list[Edit]:
    """The same edits with the digest and occurrence of their messages."""
    if not edits:
        return []
    names = {index: name for name, index in occurrences(transcript, length).items()}
    named: list[Edit] = []
    for edit in edits:
        digest, occurrence = names.get(edit.index, ("", 0))
        named.append(replace(edit, digest=digest, occurrence=occurrence))
    return named
