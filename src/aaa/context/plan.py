"""A compaction as data: what would be done to a transcript, before anything is."""

from collections.abc import Sequence

import msgspec

from aaa.context.breaker import Breaker
from aaa.context.edits import Edit, Item, render
from aaa.context.summaries import SummaryRecord
from aaa.context.transcript import Transcript
from aaa.context.validity import Target, made_valid
from aaa.messages import Message
from aaa.wire.report import Repair

__all__ = ["Plan"]


class Plan(msgspec.Struct, frozen=True):
    """The edits that make the prompt of one call, and what they cost.

    Units: calibrated tokens, tools included; `tokens_before` is the whole transcript; `raw_tokens` is the prompt's
    uncalibrated count. `kept_prefix_tokens` is the
    part, from the start, that is the transcript's own, which a provider's cache may hold. `applied` names what was
    done now; `edits_in_force` counts the edits that were there before (`sticky=True`). `floor` lists the rungs of the
    floor, `rejected` the summaries and strategies that were not taken, with why, `held_back` those that were not tried
    because they came too soon or freed too little before; `breaker` is what is known of that for the next call.
    `is_estimate` marks a plan made without calling a model, which can be read but not applied. `repairs` are what makes
    the prompt valid for its `target`; their tokens are counted.
    """

    length: int
    raw_tokens: int = 0
    edits: tuple[Edit, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    kept_prefix_tokens: int = 0
    applied: tuple[str, ...] = ()
    floor: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    rejected_digests: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()
    breaker: Breaker = Breaker()
    edits_in_force: int = 0
    new_summaries: tuple[SummaryRecord, ...] = ()
    tokens_spent: int = 0
    cost: float = 0.0
    is_estimate: bool = False
    target: Target | None = None
    repairs: tuple[Repair, ...] = ()

    def apply(self, transcript: Sequence[Message]) -> list[Message]:
        """The prompt: `transcript` with the edits made. Pure; the transcript is not touched.

        Raises:
            ValueError: another transcript than the one planned for, or a plan that is only an estimate.
        """
        known = transcript if isinstance(transcript, Transcript) else Transcript(transcript, count=lambda _: 0)
        return made_valid(self.items(known), known, self.target)[0]

    def items(self, transcript: Transcript) -> list[Item]:
        """The prompt with the source of each message."""
        if self.is_estimate:
            raise ValueError("this plan is an estimate: its summary is not written; plan without estimate=True")
        if len(transcript) < self.length or any(not _is_of(edit, transcript) for edit in self.edits):
            raise ValueError(f"this plan was made for another transcript, of {self.length} messages")
        return render(transcript, self.edits, self.length)

    def report(self) -> dict[str, object] | None:
        """What a log keeps of it; None if the prompt is the transcript."""
        if not (self.edits or self.rejected or self.held_back or self.repairs):
            return None
        report: dict[str, object] = {
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "applied": list(self.applied),
        }
        optional: dict[str, object] = {
            "floor": list(self.floor),
            "rejected": list(self.rejected),
            "held_back": list(self.held_back),
            "edits_in_force": self.edits_in_force,
            "repairs": msgspec.to_builtins(self.repairs),
        }
        return report | {key: value for key, value in optional.items() if value}


def _is_of(edit: Edit, transcript: Transcript) -> bool:
    if edit.action == "summarize":
        return transcript.digest(edit.stop) == edit.digest
    return edit.index < 0 or transcript.message_digest(edit.index) == edit.digest
