"""From a transcript to a plan, without I/O (`aaa.context.driving` runs the steps).

stored summary, edits in force ─▶ above the trigger? ─▶ strategies, down to the target ─▶ above the budget? ─▶ floor
                                        │ no                                                   │ no
                                        └──────────────────▶ plan ◀────────────────────────────┘
"""

from collections.abc import Awaitable, Generator, Sequence
from functools import cached_property
from itertools import takewhile
from math import floor
from typing import Any

from aaa.context.anchor import Sizing
from aaa.context.counters import Measure
from aaa.context.driving import Steps
from aaa.context.edits import Edit, Item, render
from aaa.context.floor import floor_error, reach_floor
from aaa.context.ledger import in_force, kept_beside, summary_edit, with_calls
from aaa.context.limits import keep_bytes, keep_limits
from aaa.context.plan import Plan
from aaa.context.reducing import OURS, Reduction
from aaa.context.settings import Call, Settings
from aaa.context.spared import current_request, spared_users
from aaa.context.summaries import SummaryBook, summary_message
from aaa.context.transcript import Transcript
from aaa.context.validity import Target, made_valid
from aaa.context.work import Work
from aaa.errors import ContextFloorError
from aaa.messages import Message
from aaa.wire.report import Repair

__all__ = ["Planning"]

_REPAIR_ROUNDS = 3  # what is cut to make room may itself call for repairs


class Planning:
    """The making of one plan."""

    def __init__(
        self, settings: Settings, transcript: Transcript, measure: Measure, book: SummaryBook, call: Call
    ) -> None:
        if not 0 < call.pressure <= 1:
            raise ValueError(f"pressure must be above 0 and at most 1, got {call.pressure}")
        self.settings = settings
        self.transcript = transcript
        self.measure = measure
        self.pressure = call.pressure
        self.target = Target(call.provider, measure.model, call.params) if call.provider is not None else None
        self.max_bytes = call.max_bytes
        self.is_estimate = call.is_estimate
        self.record = book.best(transcript)
        self.rejected = frozenset(book.rejected)
        self.reduction = Reduction(settings, transcript, book, call)
        self.in_force = in_force(book.edits, transcript, len(transcript)) if settings.is_sticky else []
        self.rungs: list[str] = []
        self.late_results = 0
        self.repairs: tuple[Repair, ...] = ()
        self.repairs_raw = 0
        self.sizing = Sizing.of_prompt(measure, transcript, call.anchor, self.record.upto if self.record else 0)

    def steps(self) -> Steps:
        """Make the plan.

        Raises:
            ContextFloorError: nothing that may be removed is left and the prompt is above the budget.
        """
        self._refuse_impossible()
        start = self._starting_edits()
        is_small = self.pressure == 1 and self.sizing.of(self._whole_raw) <= self.settings.trigger_tokens
        if not start and is_small and self.target is None and self.max_bytes is None:
            return self._untouched()
        work = self._work(start)
        self._keep_limits(work)
        size = self.sizing.of(work.raw)
        if size > self.settings.trigger_tokens or self.pressure < 1:
            self.sizing.leave_anchor(work.raw)
            yield from self._compact(work, size)
        if self.target is not None:
            yield from self._repair(work)
        return self._plan(work, start)

    def _keep_limits(self, work: Work) -> None:
        raw = work.raw
        if self.max_bytes is not None:
            keep_bytes(work, self.max_bytes)
        if self.target is not None:
            keep_limits(work, self.target)
        if work.applied:
            self.sizing.leave_anchor(raw)

    def _untouched(self) -> Plan:
        raw = self._whole_raw
        size = self.sizing.of(raw)
        return Plan(
            len(self.transcript),
            raw,
            tokens_before=size,
            tokens_after=size,
            kept_prefix_tokens=size,
            breaker=self.reduction.breaker_after(raw),
        )

    @cached_property
    def _whole_raw(self) -> int:
        return self.measure.total(self.transcript.tokens(), self.transcript)

    @property
    def prompt_tokens(self) -> int:
        """Calibrated tokens of the prompt before anything more is done to it."""
        start = self._starting_edits()
        return self.sizing.of(self._work(start).raw if start else self._whole_raw)

    @property
    def fixed_tokens(self) -> int:
        """Calibrated tokens of head and tools, which no strategy makes smaller."""
        head = self.transcript[: self._head]
        return self.measure.size(self.measure.total(self._head_raw(), head))

    def _refuse_impossible(self) -> None:
        """Head and tools alone above the budget can never fit: say so on the first call."""
        if self.fixed_tokens > self.settings.budget_tokens:
            raise self._floor_error(self.fixed_tokens, (), self.settings.budget_tokens)

    def _head_raw(self) -> int:
        return self.transcript.tokens(0, self._head)

    @property
    def _head(self) -> int:
        """How many messages stand before everything else; a summary may cover the task."""
        head = self.transcript.head
        return head if self.record is None else min(head, self.record.begin_in(self.transcript))

    def _starting_edits(self) -> list[Edit]:
        """The stored summary, the edits in force outside of what it stands for, and what goes with either."""
        edits = [edit for edit in self.in_force if edit.action != "summarize"]
        if self.record is not None:
            record, message = self.record, summary_message(self.record)
            kept = kept_beside(self.transcript, record)
            is_left_out = any(edit.digest == record.prefix_hash for edit in self.in_force if edit.action == "summarize")
            written = None if is_left_out else Item(message, None, self.measure.message(message))
            summary = summary_edit(self.transcript, record, kept, written)
            span, beside = range(summary.index, record.upto), set(kept)
            edits = [summary, *(edit for edit in edits if edit.index not in span or edit.index in beside)]
        whole = with_calls(edits, self.transcript, len(self.transcript)) if edits else edits
        self.late_results = len(whole) - len(edits)
        return whole

    def _work(self, start: list[Edit]) -> Work:
        work = Work(
            self.transcript,
            render(self.transcript, start),
            measure=self.measure,
            target_tokens=self.settings.target_tokens,
            budget_tokens=self.settings.budget_tokens,
            keep_recent=self.settings.keep_recent,
            record=self.record,
        )
        work.rejected_digests = self.rejected
        work.spared = current_request(work)
        if self.settings.is_sticky:
            work.spared |= spared_users(work)
        work.drops.update((edit.index, edit) for edit in start if edit.action == "drop")
        return work

    def _compact(self, work: Work, size: int) -> Generator[Awaitable[Any], Any, None]:
        settings = self.settings
        limit = settings.budget_tokens
        if size > settings.trigger_tokens:
            yield from self.reduction.to(settings.target_tokens, work)
            self.rungs = self._reach_floor(work, limit)
        last_sent = work.tokens
        if self.pressure < 1:
            limit = floor(min(limit, last_sent) * self.pressure)
            yield from self.reduction.to(min(limit, floor(settings.target_tokens * self.pressure)), work)
            self.rungs += self._reach_floor(work, limit)
        is_futile = self.pressure < 1 and work.tokens >= last_sent > 0  # it would be the request that was refused
        if work.tokens > settings.budget_tokens or is_futile:
            error = self._floor_error(work.tokens, work.items, limit)
            error.rejected = tuple(work.rejected)
            spent = self.reduction.spent
            error.tokens_spent, error.cost = spent.tokens_spent, spent.cost
            raise error

    def _reach_floor(self, work: Work, limit: int) -> list[str]:
        if any(type(strategy) not in OURS for strategy in self.settings.strategies):  # the marker tells of their drops
            work.restore(render(self.transcript, work.edits(), work.length))
        return reach_floor(work, limit, self.settings.trigger_tokens)

    def _repair(self, work: Work) -> Generator[Awaitable[Any], Any, None]:
        """See what makes the prompt valid, and make room for it; a repair may add a message of some words."""
        budget = self.settings.budget_tokens
        for _ in range(_REPAIR_ROUNDS):
            self._find_repairs(work)
            size = self.sizing.of(work.raw + self.repairs_raw)
            if size <= budget:
                return
            self.sizing.leave_anchor(work.raw + self.repairs_raw)
            limit = budget - max(self.measure.size(self.repairs_raw), 0)
            yield from self.reduction.to(min(limit, self.settings.target_tokens), work)
            self.rungs += self._reach_floor(work, limit)
        self._find_repairs(work)
        size = self.sizing.of(work.raw + self.repairs_raw)
        if size > budget:
            raise self._floor_error(size, work.items, budget)

    def _find_repairs(self, work: Work) -> None:
        if work.applied or self.rungs:  # a marker stands where the edits put it: repairs depend on what is beside it
            work.restore(render(self.transcript, work.edits(), work.length))
        repaired, self.repairs = made_valid(work.items, self.transcript, self.target)
        self.repairs_raw = self._growth(work, repaired) if self.repairs else 0

    def _growth(self, work: Work, repaired: Sequence[Message]) -> int:
        """Raw tokens that repairs add."""
        if not self.measure.is_additive:
            return self.measure.total(0, repaired) - work.raw
        known = {id(item.message): item.raw for item in work.items}
        count = self.measure.message
        return sum(known[id(m)] if id(m) in known else count(m) for m in repaired) - sum(i.raw for i in work.items)

    def _plan(self, work: Work, start: list[Edit]) -> Plan:
        changed, raw = bool(work.applied or self.rungs), work.raw + self.repairs_raw
        late = [f"late_results({self.late_results})"] if self.late_results > 0 else []
        stored = ["stored_summary"] if self.record is not None and not self.settings.is_sticky else []
        return Plan(
            length=work.length,
            raw_tokens=raw,
            edits=work.edits() if changed else tuple(start),
            tokens_before=self.sizing.of(self._whole_raw),
            tokens_after=self.sizing.of(raw),
            kept_prefix_tokens=self._kept_tokens(work),
            applied=(*stored, *late, *work.applied, *(f"floor({rung})" for rung in self.rungs)),
            floor=tuple(self.rungs),
            rejected=tuple(work.rejected),
            rejected_digests=tuple(self.reduction.new_rejected),
            held_back=tuple(self.reduction.held_back),
            breaker=self.reduction.breaker_after(work.raw),
            edits_in_force=len(start) if self.settings.is_sticky else 0,
            new_summaries=tuple(self.reduction.new_records),
            tokens_spent=self.reduction.spent.tokens_spent,
            cost=self.reduction.spent.cost,
            is_estimate=self.is_estimate and bool(self.reduction.new_records),
            target=self.target,
            repairs=self.repairs,
        )

    def _kept_tokens(self, work: Work) -> int:
        """Calibrated tokens of tools and the messages at the start that are the transcript's own."""
        kept = takewhile(
            lambda item: item[1].source == item[0] and item[1].message is work.transcript[item[0]],
            enumerate(work.items),
        )
        raws = [item.raw for _, item in kept]
        if len(raws) == work.length and not self.repairs:
            return self.sizing.of(work.raw)
        return self.measure.size(self.measure.tools_raw + sum(raws))

    def _floor_error(self, needed: int, items: Sequence[Item], budget_tokens: int) -> ContextFloorError:
        return floor_error(
            items or render(self.transcript, (), self._head),
            self.measure,
            head_raw=self._head_raw(),
            needed=needed,
            budget=budget_tokens,
            reserve=self.settings.reserve_tokens,
        )
