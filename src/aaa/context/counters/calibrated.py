"""A counter that learns from the provider's own count."""

from collections.abc import Mapping, Sequence
from math import ceil, inf

from aaa.context.counters.heuristic import HeuristicCounter
from aaa.context.counters.protocol import TokenCounter
from aaa.messages import Message, ToolSpec

__all__ = ["CalibratedCounter", "scaled"]


_ODD = 3  # times the known ratio, where it is also out of bounds


class CalibratedCounter:
    """Wraps a counter and scales it by actual / estimated, a smoothed average per model, kept within `bounds`.

    The first observation sets the ratio, later ones move it by `smoothing`. The calibrated size is ⌈raw · ratio⌉;
    a model never observed has the ratio 1.
    """

    def __init__(
        self,
        base: TokenCounter | None = None,
        *,
        smoothing: float = 0.3,
        bounds: tuple[float, float] = (0.4, 3.0),
    ) -> None:
        if not 0 < smoothing <= 1:
            raise ValueError(f"smoothing must be above 0 and at most 1, got {smoothing}")
        if not 0 < bounds[0] <= bounds[1]:
            raise ValueError(f"bounds must be two numbers above 0, the smaller first, got {bounds}")
        self.base: TokenCounter = base if base is not None else HeuristicCounter()
        self.smoothing = smoothing
        self.bounds = bounds
        self.ratios: dict[str | None, float] = {}

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), *, model: str | None = None) -> int:
        """Calibrated tokens of `messages` and `tools` together."""
        return scaled(self.base.count(messages, tools), self.ratio(model))

    def ratio(self, model: str | None) -> float:
        """What the base's count is multiplied by for `model`."""
        return self.ratios.get(model, 1.0)

    def observe(self, model: str | None, estimated: int, actual: int) -> None:
        """Feed back one measurement: `estimated` is the base's own count of exactly what was sent.

        A count that is no finite number above 0 teaches nothing, nor does one that is far above what was known: a
        report of several calls together, say.
        """
        if not (0 < estimated < inf and 0 < actual < inf):  # false for NaN too, which would stay in the average
            return
        seen = actual / estimated
        known = self.ratios.get(model)
        if known is not None and seen > _ODD * known and seen > self.bounds[1]:
            return
        ratio = seen if known is None else known + self.smoothing * (seen - known)
        low, high = self.bounds
        self.ratios[model] = min(max(ratio, low), high)

    def copy(self, ratios: Mapping[str | None, float] | None = None) -> "CalibratedCounter":
        """A counter over the same base with ratios of its own: this one's, or those given."""
        other = CalibratedCounter(self.base, smoothing=self.smoothing, bounds=self.bounds)
        other.ratios.update(self.ratios if ratios is None else ratios)
        return other


def scaled(raw: int, ratio: float) -> int:
    """⌈raw · ratio⌉, with no step up from the last bit of a float."""
    return ceil(raw * ratio - 1e-9)
