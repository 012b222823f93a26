"""The size of a prompt: one counter, one model, one list of tools.

    raw size         = tools + Σ messages              (the counter's own numbers)
    calibrated size  = ⌈raw · ratio⌉
    anchored size    = reported + ⌈(raw − raw then) · ratio⌉   while the prompt extends the one the report was for

A counter that is not additive counts whole prompts: correct, but every question costs O(prompt). To what a literal
counter says of a message is added what it does not see: media by the provider's rule, what a model thought by its
words. Else the calibration would take their tokens for those of the text.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from aaa.context.counters.beside import beside_tokens
from aaa.context.counters.calibrated import CalibratedCounter, scaled
from aaa.context.counters.media import MediaRule, media_rule
from aaa.context.counters.protocol import AdditiveCounter, TokenCounter
from aaa.messages import Message, ToolSpec

__all__ = ["Measure", "base_counter"]


def base_counter(counter: TokenCounter) -> TokenCounter:
    """The counter whose numbers are raw: that under a calibration, or the counter itself."""
    return counter.base if isinstance(counter, CalibratedCounter) else counter


def _with_what_is_beside(
    count: Callable[[Message], int], base: TokenCounter, rule: MediaRule
) -> Callable[[Message], int]:
    """What `count`, that of `base`, says of a message, and what it does not see."""

    def counted(message: Message) -> int:
        if message.extra or isinstance(message.content, tuple):
            return count(message) + beside_tokens(message, base, rule)
        return count(message)

    return counted


@lru_cache(maxsize=256)
def _tools_of(base: TokenCounter, tools: tuple[ToolSpec, ...]) -> int:
    return base.count((), tools)  # the same tools come with every call of a run: count them once


class Measure:
    """Raw and calibrated sizes for one request. Where the counter is literal, `media` is the rule for media: that of
    the model if its name tells it, else of the provider.
    """

    def __init__(
        self,
        counter: TokenCounter,
        tools: Sequence[ToolSpec] = (),
        model: str | None = None,
        *,
        provider: str | None = None,
    ) -> None:
        base = base_counter(counter)
        self.base = base
        self.tools = tuple(tools)
        self.model = model
        self.provider = provider
        self.is_additive = isinstance(base, AdditiveCounter)
        self.message: Callable[[Message], int] = (
            base.count_message if isinstance(base, AdditiveCounter) else lambda message: base.count((message,), ())
        )
        self.media = media_rule(model, provider) if getattr(base, "is_literal", False) else None
        if self.media is not None:
            self.message = _with_what_is_beside(self.message, base, self.media)
        self.ratio = counter.ratio(model) if isinstance(counter, CalibratedCounter) else 1.0

    @cached_property
    def tools_raw(self) -> int:
        """Raw tokens of the tools alone."""
        if not self.tools:
            return 0
        try:
            return _tools_of(self.base, self.tools) if self.is_additive else self.base.count((), self.tools)
        except TypeError:  # a counter that has no hash
            return self.base.count((), self.tools)

    def total(self, messages_raw: int, messages: Sequence[Message]) -> int:
        """Raw tokens of a prompt; `messages_raw` is the sum over `messages`, used when the counter is additive."""
        if self.is_additive:
            return self.tools_raw + messages_raw
        return self.base.count(messages, self.tools)

    def size(self, raw: int) -> int:
        """Calibrated tokens of a raw count."""
        return scaled(raw, self.ratio)
