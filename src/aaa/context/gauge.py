"""How full a window is, as numbers to show and to decide by."""

from dataclasses import dataclass

from aaa.context.settings import Settings

__all__ = ["Gauge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """The size of the next prompt, before anything more is done to it, beside the numbers of its policy.

    Units: calibrated tokens, anchored on what the provider reported last. `fixed_tokens` are head and tools.
    """

    tokens: int
    settings: Settings
    fixed_tokens: int = 0
    awaits_results: bool = False

    @property
    def used_percent(self) -> int:
        """How much of the window is used, above 100 where it does not fit; rounded down."""
        return 100 * self.tokens // self.settings.window_tokens

    @property
    def free_tokens(self) -> int:
        """What is left of the window; negative where it does not fit."""
        return self.settings.window_tokens - self.tokens

    @property
    def needs_compaction(self) -> bool:
        """Whether the next prompt will be made smaller: it is above the trigger, and no call is under way."""
        return self.tokens > self.settings.trigger_tokens and not self.awaits_results
