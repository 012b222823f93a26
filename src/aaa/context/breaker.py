"""What stops compactions that do not help: too soon after the last one, or for too little.

    call   7        8           9           10
           summary  held back   held back   allowed again, and before if the prompt would not fit

Counted are summaries, which a model writes, and with `sticky=True` every strategy's edits, which are kept and rewrite
the cached prefix; once it is rewritten, what the next strategy adds costs no more. What is recomputed for each call,
the default, costs neither.
"""

import msgspec

__all__ = ["Breaker", "Futile", "least_gain"]

_CALLS = 3  # that one summary has to last for
_LEAST_GAIN = 0.05  # of the budget: below that an edit costs more than it saves (measured on recorded sessions)


def least_gain(budget_tokens: int) -> int:
    """Tokens that an event must free, or a prompt have grown by, to count."""
    return int(_LEAST_GAIN * budget_tokens)


class Futile(msgspec.Struct, frozen=True):
    """A strategy that freed too little: `freed_tokens`, in a prompt that then was sent with `raw_tokens`."""

    strategy: str
    freed_tokens: int
    raw_tokens: int


class Breaker(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of earlier compactions of a conversation; a fold of its log.

    `since_summary` counts the calls since a summary was asked for, None once there were enough.
    """

    since_summary: int | None = None
    futile: tuple[Futile, ...] = ()

    def futile_by(self, strategy: str) -> Futile | None:
        """The last use of a strategy, if it freed too little."""
        return next((known for known in self.futile if known.strategy == strategy), None)

    def too_soon(self) -> str:
        """Why no summary may be asked for now, "" if one may."""
        if self.since_summary is None:
            return ""
        return f"the last summary was {self.since_summary + 1} calls ago, of at least {_CALLS}"

    def after(self, *, has_asked: bool, gains: dict[str, int], raw_tokens: int, least_tokens: int) -> "Breaker":
        """As it is after a call that sent `raw_tokens`; `gains` says what the strategies that were used freed."""
        old = [known for known in self.futile if known.strategy not in gains]
        new = [Futile(name, freed, raw_tokens) for name, freed in gains.items() if freed < least_tokens]
        calls = 0 if has_asked else None if self.since_summary is None else self.since_summary + 1
        return Breaker(calls if calls is not None and calls < _CALLS - 1 else None, (*old, *new))
