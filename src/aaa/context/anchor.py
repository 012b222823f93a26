"""The provider's last word on a prompt's size.

While a prompt only extends the one last sent, its size is what the provider reported for that plus our estimate of
what was added: the estimate's error stays with the new messages.
"""

from typing import TYPE_CHECKING

import msgspec

from aaa.context.counters import Measure

if TYPE_CHECKING:
    from aaa.context.transcript import Transcript

__all__ = ["Anchor", "Sizing"]


class Anchor(msgspec.Struct, frozen=True):
    """What the provider said about the last prompt sent.

    Of the transcript's first `length` messages, whose digest is `digest`, it made a prompt of `raw` raw tokens, with
    the summary of the first `upto` (0: none), and `reported` is what the provider counted.
    """

    length: int
    digest: str
    upto: int
    raw: int
    reported: int
    model: str | None
    tools_raw: int
    provider: str | None = None


class Sizing:
    """The size of a prompt: the reported one and what came since, until it is cut; then the ratio of the two."""

    def __init__(self, measure: Measure, anchor: Anchor | None) -> None:
        self.measure = measure
        self.anchor = anchor

    @classmethod
    def of_prompt(cls, measure: Measure, transcript: "Transcript", anchor: Anchor | None, upto: int) -> "Sizing":
        """That of a prompt of `transcript` whose summary covers the first `upto` messages (0: none)."""
        extends = (
            anchor is not None
            and anchor.length <= len(transcript)
            and transcript.digest(anchor.length) == anchor.digest
            and anchor.upto == upto
            and (anchor.provider, anchor.model, anchor.tools_raw)
            == (measure.provider, measure.model, measure.tools_raw)
        )
        return cls(measure, anchor if extends else None)

    def of(self, raw: int) -> int:
        """Calibrated tokens of a prompt of `raw` raw tokens."""
        if self.anchor is None:
            return self.measure.size(raw)
        return self.anchor.reported + self.measure.size(raw - self.anchor.raw)

    def leave_anchor(self, raw: int) -> None:
        """The prompt, of `raw` now, is about to change and then extends nothing: its size goes on as a ratio."""
        if self.anchor is not None:
            self.measure.ratio = self.of(raw) / max(raw, 1)
            self.anchor = None
