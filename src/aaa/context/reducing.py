"""The strategies run in order, each watched: what it may not do is undone, what does not help waits.

strategy ─▶ lawful? ─ no ─▶ undone, reported          summary pending ─▶ written ─▶ checked ─▶ in place, or reported
"""

from collections.abc import Awaitable, Generator, Sequence
from typing import Any, cast

from aaa.context.breaker import Breaker, least_gain
from aaa.context.edits import Item, render
from aaa.context.invariants import is_faithful, is_lawful
from aaa.context.settings import Call, Settings
from aaa.context.strategies import (
    ClearToolResults,
    DropOldest,
    Strategy,
    Summarize,
    SyncStrategy,
    TruncateToolResults,
)
from aaa.context.strategies.summarize import guessed, place_summary
from aaa.context.summaries import SummaryBook, SummaryRecord
from aaa.context.summarizing import PendingSummary, Written, write
from aaa.context.transcript import Transcript
from aaa.context.work import Work

__all__ = ["OURS", "Reduction"]

OURS = (TruncateToolResults, ClearToolResults, Summarize, DropOldest)  # known to keep the rules


class Reduction:
    """Brings a prompt down by the strategies of its policy, and keeps what was written, refused and held back."""

    def __init__(self, settings: Settings, transcript: Transcript, book: SummaryBook, call: Call) -> None:
        self.settings = settings
        self.transcript = transcript
        self.pressure = call.pressure
        self.is_estimate = call.is_estimate
        self.breaker, self.outcome = book.breaker, book.outcome
        self.least_gain = least_gain(settings.budget_tokens)
        self.gains: dict[str, int] = {}
        self.held_back: list[str] = []
        self.has_asked = False
        self.new_records: list[SummaryRecord] = []
        self.new_rejected: list[str] = []
        self.spent = Written()

    def to(self, target_tokens: int, work: Work) -> Generator[Awaitable[Any], Any, None]:
        """Run the strategies in order until the target is reached."""
        work.target_tokens = target_tokens
        start_raw, start_tokens = work.raw, work.tokens
        for strategy in self.settings.strategies:
            if work.fits:
                return
            if self._is_held_back(work, strategy, start_raw):
                continue
            before, names, tokens = work.items, len(work.applied), work.tokens
            work.strategy = strategy.name
            if isinstance(strategy, SyncStrategy):
                strategy.reduce(work)
            else:
                yield strategy.apply(work)
            if work.items is not before:
                self._check(work, strategy, before, names)
            if work.pending is not None:
                pending, work.pending = work.pending, None
                self.has_asked = True
                self._take(work, pending, (yield write(pending)) if not self.is_estimate else guessed(work, pending))
            elif work.items is before or not self.settings.is_sticky:
                continue
            self.gains[strategy.name] = (start_tokens if self.settings.is_sticky else tokens) - work.tokens

    def _is_held_back(self, work: Work, strategy: Strategy, start_raw: int) -> bool:
        """Whether a strategy has to wait: it was used too lately, or for too little. Never where nothing else fits."""
        is_summary = isinstance(strategy, Summarize)
        if is_summary and self.outcome is not None:
            return True  # this very call has asked already
        if not (is_summary or self.settings.is_sticky) or self._is_needed(work):
            return False
        why = self.breaker.too_soon() if is_summary else ""
        if why:
            work.target_tokens = self.settings.budget_tokens  # it fits: nothing is dropped only to fill the wait
        futile = self.breaker.futile_by(strategy.name)
        grown = work.measure.size(max(start_raw - futile.raw_tokens, 0)) if futile else 0
        if futile and not why and grown < self.least_gain:
            why = f"freed {futile.freed_tokens:,} tokens the last time, and the prompt has grown by {grown:,} since"
        if why:
            self.held_back.append(f"{strategy.name}: {why}")
        return bool(why)

    def _is_needed(self, work: Work) -> bool:
        """Whether the prompt does not fit as it is."""
        return self.pressure < 1 or work.tokens > self.settings.budget_tokens

    def _check(self, work: Work, strategy: Strategy, before: Sequence[Item], names: int) -> None:
        """Undo what a strategy may not do: touch the head, or separate a call from its result."""
        if is_lawful(work) and (type(strategy) in OURS or is_faithful(work, before)):
            if len(work.applied) == names:
                work.applied.append(strategy.name)
            return
        work.restore(before)
        del work.applied[names:]
        work.rejected.append(f"{strategy.name}: undone, it changed head, pins, pairs, summary or order")

    def _take(self, work: Work, pending: PendingSummary, written: Written) -> None:
        """Put a written summary in place, or report why it is none."""
        spent = self.spent
        self.spent = Written(tokens_spent=spent.tokens_spent + written.tokens_spent, cost=spent.cost + written.cost)
        problem = written.problem or place_summary(work, pending, written)
        if written.done and not place_summary(work, pending.until(written.done), Written(written.text)):
            problem += f"; {written.done} of {len(pending.chunks)} parts were written and are used"
            self.new_records.append(cast("SummaryRecord", work.record))
        if problem:
            work.rejected.append(f"summarize: {problem}")
            if not written.has_failed:  # a failure may pass: it is tried again
                self.new_rejected.append(self.transcript.digest(pending.upto))
        elif work.record is not None:
            self.new_records.append(work.record)
        if self.new_records:  # what it covers, no marker tells of any more
            work.restore(render(self.transcript, work.edits(), work.length))

    def breaker_after(self, raw_tokens: int) -> Breaker:
        """The breaker as it is once a prompt of `raw_tokens` was sent."""
        return self.outcome or self.breaker.after(
            has_asked=self.has_asked, gains=self.gains, raw_tokens=raw_tokens, least_tokens=self.least_gain
        )
