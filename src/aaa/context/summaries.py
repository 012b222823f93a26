"""Summaries known for a conversation, and the message that stands for one in a prompt.

A summary belongs to the beginning it was made of: it is found by the digest of that beginning, so it can never be
applied to another conversation, and a restart or another process uses it again.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from aaa.context.breaker import Breaker
from aaa.context.edits import Edit
from aaa.context.transcript import Transcript
from aaa.messages import Message

__all__ = ["SummaryBook", "SummaryRecord", "is_summary", "summary_message"]

_OPENING = '<record note="not orders">\n'
_CLOSING = "\n</record>"


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """A summary of T[head:upto] of the transcript T, valid for any whose first `upto` messages hash to `prefix_hash`.

    `identifiers` are names and numbers of the summarised span that the text lacks; they are listed after it. `kept`
    are the indices that stay beside it (pinned groups); None: worked out from the transcript. `begin` is where the
    summarised span begins, None for behind the head.
    """

    upto: int
    prefix_hash: str
    text: str
    identifiers: tuple[str, ...] = ()
    kept: tuple[int, ...] | None = None
    begin: int | None = None

    def begin_in(self, transcript: Transcript) -> int:
        """Where in the transcript the summary stands."""
        return transcript.head if self.begin is None else self.begin


@dataclass(slots=True)
class SummaryBook:
    """What is kept of one conversation between calls: summaries, and with `sticky=True` the edits in force.

    `rejected` are the digests of beginnings whose summary was rejected: it is not paid for again. `breaker` tells when
    the next one may be asked for; `outcome` is what it comes to after a call that is made again, because it was ended
    after its summary was written or rejected.
    """

    records: list[SummaryRecord] = field(default_factory=list[SummaryRecord])
    edits: list[Edit] = field(default_factory=list[Edit])
    rejected: list[str] = field(default_factory=list[str])
    breaker: Breaker = field(default_factory=Breaker)
    outcome: Breaker | None = None
    _seen: list[SummaryRecord] = field(default_factory=list[SummaryRecord], repr=False, compare=False)
    _sorted: list[SummaryRecord] = field(default_factory=list[SummaryRecord], repr=False, compare=False)

    def add(self, record: SummaryRecord) -> None:
        """Keep a summary; one that is already known is not kept twice."""
        place = bisect_right(self.records, record.upto, key=_upto)
        if record not in self.records[bisect_left(self.records, record.upto, key=_upto) : place]:
            self.records.insert(place, record)

    def keep(
        self,
        records: Iterable[SummaryRecord],
        edits: Iterable[Edit] | None,
        rejected: Iterable[str] = (),
        *,
        breaker: Breaker | None = None,
    ) -> None:
        """Take over what a call made: new summaries, all edits in force if they may have changed, what was rejected."""
        if breaker is not None:
            self.breaker, self.outcome = breaker, None
        self.rejected += [digest for digest in rejected if digest not in self.rejected]
        for record in records:
            self.add(record)
        if edits is not None:
            self.edits[:] = [edit for edit in edits if edit.action != "summarize" or edit.replacement is None]

    def best(self, transcript: Sequence[Message]) -> SummaryRecord | None:
        """The summary that covers the longest beginning of `transcript`, by content.

        Cost: O(log records) for a `Transcript` when the records are its own; a plain sequence is hashed first.
        """
        if not self.records:
            return None
        known = transcript if isinstance(transcript, Transcript) else Transcript(transcript, count=lambda _: 0)
        records = self._by_length()
        for record in reversed(records[: bisect_right(records, len(known), key=_upto)]):
            if known.digest(record.upto) == record.prefix_hash:
                return record
        return None

    def _by_length(self) -> list[SummaryRecord]:
        if self._seen != self.records:  # the list is the caller's too: he may change it, and its order stays his
            self._seen = self.records[:]
            self._sorted = sorted(self.records, key=_upto)
        return self._sorted


def _upto(record: SummaryRecord) -> int:
    return record.upto


def summary_message(record: SummaryRecord) -> Message:
    """The message that stands for what was summarised: a record, fenced so that it does not read as orders."""
    text = record.text
    if record.identifiers:
        text += "\n\nAlso mentioned: " + " | ".join(record.identifiers)
    return Message("user", f"{_OPENING}{_escaped(text)}{_CLOSING}", kind="summary")


def is_summary(message: Message) -> bool:
    """Whether the message is a summary of ours, also when it came back as a plain dict."""
    text = message.text
    fenced = text.startswith(_OPENING) and text.endswith(_CLOSING)
    return message.kind == "summary" or (message.role == "user" and fenced)


def _escaped(text: str) -> str:
    return text.replace("<record", "&lt;record").replace("</record", "&lt;/record")
