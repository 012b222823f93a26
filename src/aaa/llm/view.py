"""What a handler knows of one conversation of one run: a fold of the log, so that a resumed run sends the same bytes.

recorded calls ── fold ──▶ plain data ── settle, when the next call is made ──▶ fitter
"""

import logging
from collections.abc import Sequence
from math import floor
from typing import Any

import msgspec

from aaa.context import ContextPolicy, Prepared, PromptFitter, SummaryRecord
from aaa.context.anchor import Anchor
from aaa.context.breaker import Breaker
from aaa.context.edits import Edit
from aaa.context.ledger import after, difference
from aaa.context.media_notes import with_notes
from aaa.context.strategies.media import bytes_of
from aaa.errors import ContextOverflowError
from aaa.messages import Effects, LLMResponse, Message, Usage
from aaa.wire.overflow import ContextOverflow
from aaa.wire.rules.asked import decisive
from aaa.wire.truncation import NOTHING_SEEN, Seen, seen, silent_truncation

__all__ = ["ConversationView"]

_log = logging.getLogger("aaa.llm")

_BELOW_REFUSED = 0.9  # of a prompt that was refused without numbers: the budget from then on
_RESULTS = frozenset(("aaa.llm.completed", "aaa.llm.failed"))
_NOTHING: dict[str, Any] = {}
_Events = list[tuple[str, dict[str, Any]]]
_Reported = tuple[dict[str, Any], int]  # what was sent, as the log has it, and the tokens reported for it


class ConversationView:
    """The fitter of one conversation, and the edits as the log has them."""

    def __init__(self, policy: ContextPolicy, parent: "ConversationView | None" = None) -> None:
        if parent is not None:
            parent.settle()
        self.fitter = PromptFitter(policy, parent.fitter.state if parent else None)
        self._edits: list[Any] = list(parent._edits) if parent else []
        self._recorded: list[_Events] = []
        self._seen: Seen = parent._seen if parent else NOTHING_SEEN
        self._seen_of: tuple[str | None, int] | None = parent._seen_of if parent else None
        self._length: int = parent._length if parent else 0

    def described(self, effects: Effects, prompt: Prepared[Message]) -> dict[str, Any]:
        """What reproduces the prompt; edits are noted as the difference to those of the call before."""
        assert prompt.plan is not None
        removed, added = difference(self._edits, prompt.plan.edits)
        if added or removed:
            effects.note("aaa.context.edited", {"removed": removed, "added": added})
            self._compare_from_here(removed, [edit.index for _, edit in added])
        self._edits = list(prompt.plan.edits)
        self._length = self.fitter.sent.length if self.fitter.sent is not None else 0
        data: dict[str, Any] = {"sent": self.fitter.sent, "tokens": prompt.plan.tokens_after}
        if prompt.plan.breaker != Breaker():
            data["breaker"] = prompt.plan.breaker
        if prompt.plan.repairs:
            target = prompt.plan.target
            assert target is not None
            data |= {"provider": target.provider, "asked": {"model": target.model, "params": decisive(target.params)}}
        return data | ({"context": prompt.report} if prompt.report else {})

    def _compare_from_here(self, removed: Sequence[int], added: Sequence[int]) -> None:
        """A prompt that changes what was sent before does not extend it: its size says nothing beside the one before.

        What providers count for each message makes a prompt of few long ones smaller than one of many short ones that
        we estimate lower. `added` are the indices of new edits; those of new messages change nothing that was sent.
        """
        if removed or any(not self._length or index < self._length for index in added):
            self._seen = Seen(most=self._seen.most)

    def learn(
        self, effects: Effects, overflow: ContextOverflowError, prompt: Prepared[Message], model: str | None
    ) -> bool:
        """Take the limit that a refusal of `prompt` tells of, and note it; whether it tells of one.

        Of bytes it need not have numbers: half of what was sent is tried, as far as media can be left out.
        """
        if overflow.kind == "bytes":
            size = sum(map(bytes_of, prompt.messages))
            media = any(with_notes(message) is not message for message in prompt.messages)
            limit = min(overflow.limit or size, size // 2)
            is_learned = media and self.fitter.learn_max_bytes(model, limit)
            if is_learned:
                effects.note("aaa.context.learned", {"model": model, "max_bytes": limit, "kind": "bytes"})
            return is_learned
        is_learned = bool(overflow.limit) and self.fitter.learn_window(model, overflow.limit or 0)
        if is_learned:
            _note_learned(effects, model, overflow.limit or 0, overflow.kind)
        return is_learned

    def tighten(
        self, effects: Effects, refused: Prepared[Message], accepted: Prepared[Message], response: LLMResponse
    ) -> None:
        """Take the window to lie below the prompt that was refused without a limit, as the one accepted shows.

        Both are measured by what was reported for the latter, so that an estimate that is too low alone is no reason.
        """
        assert refused.plan is not None
        assert accepted.plan is not None
        assert self.fitter.sent is not None
        model = self.fitter.sent.model
        if accepted.plan.raw_tokens >= refused.plan.raw_tokens:
            return
        reported = response.usage.prompt_tokens if response.usage else 0
        accepted_tokens = accepted.plan.tokens_after
        if reported > 0:
            accepted_tokens = self.fitter.believed(accepted.plan.raw_tokens, reported, model)
        refused_tokens = accepted_tokens * refused.plan.raw_tokens / max(accepted.plan.raw_tokens, 1)
        budget = max(accepted_tokens, floor(_BELOW_REFUSED * refused_tokens))
        window = budget + self.fitter.policy.settings(model).reserve_tokens
        if self.fitter.learn_window(model, window):
            _note_learned(effects, model, window, "tightened")

    def cut_in(self, effects: Effects, response: LLMResponse, *, is_cached_told: bool) -> ContextOverflow | None:
        """The silent cut of the prompt that a reply's usage gives away; noted, warned of, and learned from."""
        assert self.fitter.sent is not None
        model, estimate = self.fitter.sent.model, self.fitter.sent.raw  # raw: calibration moves, and is no growth
        before = self._seen_for(model, self.fitter.sent.tools_raw)
        cut = silent_truncation(
            estimate,
            response.usage,
            cached_reported=is_cached_told,
            finish_reason=response.finish_reason,
            before=before,
        )
        self._seen = seen(before, estimate, response.usage, is_cut=cut is not None)
        if cut is not None and cut.limit:
            _log.warning("a prompt of about %d tokens was cut silently: the server read %d", estimate, cut.limit)
            self.fitter.learn_window(model, cut.limit)
            _note_learned(effects, model, cut.limit, "silent")
        return cut

    def fold(self, events: _Events) -> None:
        """Take in the events of one recorded call, when the conversation goes on."""
        self._recorded.append(events)

    def settle(self) -> None:
        """Be as the recorded calls left things."""
        if not self._recorded:
            return
        recorded, self._recorded = self._recorded, []
        sent: dict[str, Any] | None = None
        anchor: _Reported | Anchor | None = self.fitter.state.anchor
        for events in recorded:
            is_cut = False
            for type_, data in events:
                if type_ in _RESULTS:
                    if data.get("sent"):
                        sent, anchor = data["sent"], self._anchor_after(data, anchor, is_cut=is_cut)
                        self._length = data["sent"]["length"]
                        self.fitter.book.keep((), None, breaker=_breaker(data))
                elif type_ != "aaa.llm.requested":
                    is_cut = self._take(type_, data) or is_cut
        self._edits = msgspec.convert(self._edits, list[Edit])
        last = msgspec.convert(sent, Anchor) if sent else self.fitter.sent
        self.fitter.replay(self._edits, last, self._as_anchor(anchor))

    def _take(self, type_: str, data: dict[str, Any]) -> bool:
        """Take in what was noted beside a call; whether its prompt was found to be cut."""
        match type_:
            case "aaa.context.edited":
                self._edits = after(self._edits, data["removed"], data["added"])
                self._compare_from_here(data["removed"], [edit["index"] for _, edit in data["added"]])
            case "aaa.context.summary":
                self._add(_record(data["record"]))
                self.fitter.book.outcome = _breaker(data)
            case "aaa.context.rejected":
                self.fitter.book.keep((), None, data.get("digests", ()))
                self.fitter.book.outcome = _breaker(data) if "breaker" in data else None
            case "aaa.context.learned" if data["kind"] == "bytes":
                self.fitter.learn_max_bytes(data["model"], data["max_bytes"])
            case "aaa.context.learned":
                self.fitter.learn_window(data["model"], data["window_tokens"])
                return data["kind"] == "silent"
            case _:
                pass
        return False

    def _add(self, record: SummaryRecord) -> None:
        """Keep a summary; mostly it covers more than all before it, and then there is no place to look for."""
        records = self.fitter.book.records
        if not records or records[-1].upto < record.upto:
            records.append(record)
        else:
            self.fitter.book.add(record)

    def _anchor_after(
        self, data: dict[str, Any], before: "_Reported | Anchor | None", *, is_cut: bool
    ) -> "_Reported | Anchor | None":
        """The anchor after a recorded call; the calibration learns on the way."""
        sent: dict[str, Any] = data["sent"]
        usage: dict[str, Any] = data.get("usage") or _NOTHING
        reported: int = usage.get("prompt_tokens", 0)
        model, estimate = sent["model"], sent["raw"]
        known = self._seen_for(model, sent["tools_raw"])
        self._seen = seen(known, estimate, Usage(reported, 0, reported), is_cut=is_cut)
        if reported > 0 and not is_cut:
            self.fitter.observe(model, estimate, reported)
            if sent["length"]:
                return sent, reported
        applied: list[str] = (data.get("context") or _NOTHING).get("applied", [])
        return None if any(name != "stored_summary" for name in applied) else before

    def _seen_for(self, model: str | None, tools_raw: int) -> Seen:
        """What the calls showed so far; nothing of those to another model or with other tools."""
        if self._seen_of != (model, tools_raw):
            self._seen_of, self._seen = (model, tools_raw), NOTHING_SEEN
        return self._seen

    def _as_anchor(self, anchor: "_Reported | Anchor | None") -> Anchor | None:
        if not isinstance(anchor, tuple):
            return anchor
        sent, reported = anchor
        return msgspec.convert(sent | {"reported": self.fitter.believed(sent["raw"], reported)}, Anchor)


def _record(data: dict[str, Any]) -> SummaryRecord:
    """A recorded summary, its texts shared with the log: one of a long run names thousands."""
    kept = data.get("kept")
    return SummaryRecord(
        data["upto"],
        data["prefix_hash"],
        data["text"],
        tuple(data.get("identifiers", ())),
        None if kept is None else tuple(kept),
        data.get("begin"),
    )


def _breaker(data: dict[str, Any]) -> Breaker:
    return msgspec.convert(data.get("breaker", _NOTHING), Breaker)


def _note_learned(effects: Effects, model: str | None, window_tokens: int, kind: str) -> None:
    effects.note("aaa.context.learned", {"model": model, "window_tokens": window_tokens, "kind": kind})
