"""A compaction that is asked for: now, whatever the size, or an error that says why not.

    head │ … what is old … │ the newest groups
           part │ part │ part          each summarised together with the summary so far, and kept at once

A strategy makes room when a prompt is too large and tries something else where no summary can be had. This one serves a
user or a program that wants a summary. Each part is a whole summary of everything up to its end, so that what is
written when a later part fails is not lost, and not paid for again.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from aaa.context.counters import Measure
from aaa.context.cutting import SHORTEST
from aaa.context.edits import pinned_in
from aaa.context.groups import groups
from aaa.context.identifiers import missing_identifiers
from aaa.context.settings import Settings
from aaa.context.shorten import cut_text, most
from aaa.context.spared import is_said
from aaa.context.strategies import Summarize
from aaa.context.summaries import SummaryBook, SummaryRecord, is_summary, summary_message
from aaa.context.summarizing import PendingSummary, Written, chunks_of, write
from aaa.context.transcript import Transcript
from aaa.errors import SummaryError
from aaa.messages import Message

__all__ = ["Compaction", "summarize_of"]

_SLACK = 64  # tokens by which a summary may be larger than the few words it stands for
_LONGEST_TASK = 4 * SHORTEST * 5  # characters of the user's first words that are quoted
_FIRST_WORDS = "\n\nThe user's first words, long ago: "
_IDENTIFIERS = (800, 0.06)  # tokens, and of the budget, as the strategy has them
_REASONS = (
    ("empty", "empty"),
    ("cut off", "cut off"),
    ("the model called", "tool call"),
    ("reads like", "error text"),
    ("not smaller", "too large"),
)


@dataclass(kw_only=True)
class Compaction:
    """What is before the newest `keep_recent` groups of `transcript` becomes a summary in `book`.

    `keep_first` messages stay in front of it; None: instructions, and the task while it is the last that the user said.
    What was said by the user before is quoted in the summary, so that it does not stand there as a request; a request
    that is worked on stays as it is.
    """

    transcript: Transcript
    measure: Measure
    settings: Settings
    strategy: Summarize
    book: SummaryBook
    keep_recent: int
    keep_first: int | None = None
    timeout_seconds: float | None = None
    spent: Written = field(default_factory=Written)

    async def run(self) -> None:
        """Summarise part by part.

        Raises:
            SummaryError: a part got no summary that could be used.
        """
        stop = self._stop()
        while (begin := self._done()) < stop:
            part = self._part(begin, stop)
            written = await self._written(part)
            self.spent = Written(
                tokens_spent=self.spent.tokens_spent + written.tokens_spent, cost=self.spent.cost + written.cost
            )
            self.book.add(self._record(part, written))

    def _done(self) -> int:
        """Up to where a summary covers the conversation already."""
        record = self.book.best(self.transcript)
        return record.upto if record else self._begin()

    def _begin(self) -> int:
        record = self.book.best(self.transcript)
        if record is not None:
            return record.begin_in(self.transcript)
        return self._first() if self.keep_first is None else min(self.keep_first, len(self.transcript))

    def _first(self) -> int:
        """Behind the instructions; behind the task too if the user has said nothing since, or pinned it."""
        instructions = sum(1 for _ in takewhile(lambda message: message.is_system, self.transcript))
        head = self.transcript.head
        is_old = any(message.role == "user" and not is_summary(message) for message in self.transcript[head:])
        is_free = head > instructions and not self.transcript[instructions].pinned
        return instructions if is_old and is_free else head

    def _stop(self) -> int:
        """Where the tail begins: `keep_recent` groups, and more while the strategy keeps some by their size."""
        ranges = groups(self.transcript, self._begin()) if self._begin() < len(self.transcript) else []
        tail = ranges[-self.keep_recent :] if self.keep_recent > 0 else []
        stop = tail[0][0] if tail else len(self.transcript)
        room = self.strategy.keep_tokens or 0
        for start, _ in reversed(ranges[: len(ranges) - len(tail)]):
            if self.measure.size(self.transcript.tokens(start)) > room:
                break
            stop = start
        return stop

    def _part(self, begin: int, stop: int) -> PendingSummary:
        """The next groups that can be read at once; one group at least."""
        record = self.book.best(self.transcript)
        previous = _without_quote(record.text) if record else None
        count, budget = self.measure.message, self.settings.budget_tokens
        chunk_tokens = self.strategy.chunk_for(count, budget, previous)
        task = self._task() if record is None else ()
        ends = [end for _, end in groups(self.transcript[:stop], begin)]

        def read(number: int) -> tuple[str, ...]:
            return chunks_of((*task, *self._span(begin, ends[number - 1])), count, chunk_tokens)

        number = most(len(ends), lambda number: len(read(number)) <= 1) or 1
        upto = ends[number - 1]
        return PendingSummary(
            start=self._begin(),
            stop=upto,
            upto=upto,
            span=self._span(begin, upto),
            chunks=read(number),
            previous=previous,
            earlier_identifiers=record.identifiers if record else (),
            max_tokens=self.strategy.max_summary_tokens,
            summarize=self.strategy.summarizer(count, budget),
        )

    def _task(self) -> tuple[Message, ...]:
        """The task if it stays in front: whoever writes the first part must know what the work is about."""
        last = self.transcript[self._begin() - 1] if self._begin() else None
        return (last,) if last is not None and last.role == "user" else ()

    def _span(self, begin: int, end: int) -> tuple[Message, ...]:
        kept = set(self._kept(begin, end))
        return tuple(self.transcript[index] for index in range(begin, end) if index not in kept)

    async def _written(self, part: PendingSummary) -> Written:
        if not part.span:
            return Written(part.previous or "")
        try:
            async with asyncio.timeout(self.timeout_seconds):
                written = await write(part)
        except TimeoutError as error:
            problem = f"none within {self.timeout_seconds} s"
            raise SummaryError("timeout", problem, messages=len(part.span)) from error
        if written.problem:
            reason = next((name for start, name in _REASONS if written.problem.startswith(start)), "failed")
            raise SummaryError(reason, written.problem, messages=len(part.span))
        return written

    def _record(self, part: PendingSummary, written: Written) -> SummaryRecord:
        room = min(_IDENTIFIERS[0], int(self.settings.budget_tokens * _IDENTIFIERS[1]))
        text = self._with_task(written.text, part.start)
        lacking = missing_identifiers(part.span, text, earlier=part.earlier_identifiers, max_tokens=room)
        kept = tuple(self._kept(part.start, part.upto))
        digest = self.transcript.digest(part.upto)
        record = SummaryRecord(part.upto, digest, text, lacking, kept, part.start)
        self._refuse_larger(record, part)
        return record

    def _with_task(self, text: str, begin: int) -> str:
        """The summary, and the user's first words if they are no longer there by themselves."""
        head = self.transcript.head
        task = self.transcript[head - 1].text if begin < head else ""
        if not task or task in text or head - 1 == self._request():
            return text
        return f"{text}{_FIRST_WORDS}{cut_text(task, _LONGEST_TASK)}"

    def _kept(self, begin: int, end: int) -> list[int]:
        """What stays beside the summary of [begin, end): pins, calls under way, and what the user asked them for."""
        request = self._request()
        asked = {request} if request is not None and begin <= request < end else set[int]()
        return sorted(asked.union(pinned_in(self.transcript, begin, end)))

    def _request(self) -> int | None:
        """Where the user asked for what is under way: calls or results came last. What was answered is no request."""
        last = self.transcript[-1]
        if last.role != "tool" and not last.tool_calls:
            return None
        places = reversed(range(len(self.transcript)))
        return next((index for index in places if is_said(self.transcript[index])), None)

    def _refuse_larger(self, record: SummaryRecord, part: PendingSummary) -> None:
        count = self.measure.message
        before = self.book.best(self.transcript)
        replaced = sum(map(count, part.span)) + (count(summary_message(before)) if before else 0)
        size = count(summary_message(record))
        if size > replaced + _SLACK:
            problem = f"{size:,} tokens in place of {replaced:,}"
            raise SummaryError("too large", problem, messages=len(part.span))


def _without_quote(text: str) -> str:
    """A record as the model wrote it: what is quoted behind it is quoted again, and need not be read again."""
    return text.split(_FIRST_WORDS, maxsplit=1)[0]


def summarize_of(strategies: Sequence[object]) -> Summarize:
    """The strategy of a policy that writes summaries.

    Raises:
        ValueError: it has none.
    """
    found = next((strategy for strategy in strategies if isinstance(strategy, Summarize)), None)
    if found is None:
        raise ValueError("there is nothing to summarise with: give the policy a summarizer, or Summarize(…)")
    return found
