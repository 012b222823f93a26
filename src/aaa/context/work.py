"""The prompt while strategies make it smaller.

A strategy changes `work.messages`: replaces items, removes groups, inserts messages. What it did is found by object
identity afterwards and kept as edits, so only new objects are counted and anyone's strategy is as good as ours.
"""

from collections.abc import Collection, Sequence
from operator import is_

from msgspec.structs import replace

from aaa.context.counters import Measure
from aaa.context.edits import Edit, Item, pinned_in
from aaa.context.groups import groups, is_pinned
from aaa.context.ledger import edits_of, is_written_marker
from aaa.context.matching import rematch
from aaa.context.summaries import SummaryRecord
from aaa.context.summarizing import PendingSummary
from aaa.context.transcript import Transcript
from aaa.messages import Message

__all__ = ["Work"]


class Work:
    """What a strategy sees and changes.

    `messages` may be changed in place or replaced by another list; `applied` takes the strategy's name, or
    `name(detail)`, if it changed anything. `target_tokens` is where to stop, `keep_recent` the number of newest groups
    to leave alone. A summarising strategy sets `pending` and the summary is written for it. `spared` are the user's
    words that stay verbatim, by their places in the transcript.
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
        self._head = min(transcript.head, record.begin_in(transcript)) if record else transcript.head
        self.measure = measure
        self.target_tokens = target_tokens
        self.budget_tokens = budget_tokens
        self.keep_recent = keep_recent
        self.record = record
        self.rejected_digests: Collection[str] = ()
        self.spared: frozenset[int] = frozenset()
        self.strategy = "strategy"
        self.applied: list[str] = []
        self.rejected: list[str] = []
        self.pending: PendingSummary | None = None
        self._items = list(items)
        self._messages = [item.message for item in items]
        self._settled = self._messages[:]  # as `_items` has them
        self.drops: dict[int, Edit] = {}
        self._groups: list[tuple[int, int]] | None = None

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
        return self._head

    @property
    def tail(self) -> int:
        """Index in `messages` of the first protected recent group."""
        return self.tail_of(self.keep_recent)

    def tail_of(self, keep: int) -> int:
        """Index in `messages` where the last `keep` groups begin."""
        ranges = self.groups()[-keep:] if keep > 0 else []
        return ranges[0][0] if ranges else len(self._messages)

    def groups(self) -> list[tuple[int, int]]:
        """Half-open ranges of the groups after the head, oldest first. Cost: O(messages), once per change."""
        if self.settle() or self._groups is None:
            self._groups = groups(self._messages, self.head)
        return self._groups

    def is_protected(self, index: int) -> bool:
        """Whether the message at `index` is head or pinned."""
        return index < self.head or is_pinned(self._messages[index])

    def is_spared(self, index: int) -> bool:
        """Whether the message at `index` is a user's that stays verbatim while there is room for it."""
        return bool(self.spared) and self.items[index].source in self.spared

    def kept_in(self, start: int, stop: int) -> list[int]:
        """Indices in [start, stop), in order, of what no summary stands for: groups with what is pinned or spared."""
        kept = set(pinned_in(self._messages, start, stop))
        if self.spared:
            inside = (range(*group) for group in self.groups() if start <= group[0] and group[1] <= stop)
            kept.update(i for group in inside if any(map(self.is_spared, group)) for i in group)
        return sorted(kept)

    def count(self, message: Message) -> int:
        """Raw tokens of one message."""
        return self.measure.message(message)

    def size_of(self, messages: Sequence[Message]) -> int:
        """Calibrated tokens that the prompt would have with `messages`. Cost: counts only what is new in them."""
        known = {id(item.message): item.raw for item in self.items}
        raw = (
            sum(known[id(m)] if id(m) in known else self.count(m) for m in messages) if self.measure.is_additive else 0
        )
        return self.measure.size(self.measure.total(raw, messages))

    def settle(self) -> bool:
        """Take over what was done to `messages` in the name of `strategy`; says whether anything was."""
        if len(self._settled) == len(self._messages) and all(map(is_, self._messages, self._settled)):
            return False
        before = {item.source for item in self._items}
        self._items = rematch(self._items, self._messages, self.count, self.strategy)
        for source in before - {item.source for item in self._items}:
            if source is not None:
                self.drops[source] = Edit("drop", source, self.strategy)
        self._mark_drops()
        self._settled = self._messages[:]
        self._groups = None
        return True

    def _mark_drops(self) -> None:
        """A marker tells of what the strategy that wrote it has dropped; what earlier ones told of, it takes over."""
        if any(is_written_marker(item) and item.strategy == self.strategy for item in self._items):
            for source, edit in self.drops.items():
                if edit.strategy == self.strategy and not edit.marked:
                    self.drops[source] = replace(edit, marked=True)

    def restore(self, items: Sequence[Item]) -> None:
        """Go back to an earlier state of `items`."""
        self._items = list(items)
        self._messages = [item.message for item in items]
        self._settled = self._messages[:]
        self._groups = None

    def edits(self) -> tuple[Edit, ...]:
        """What makes this prompt out of the transcript, in order. Cost: O(messages)."""
        return edits_of(self.transcript, self.length, self.items, self.record, self.drops)
