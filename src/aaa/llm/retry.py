"""Which faults pass, and how long to wait: data, not code."""

import asyncio

import msgspec

from aaa.errors import ProviderError

__all__ = ["RetryPolicy"]


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Retry transient faults up to `max_attempts` tries, waiting `initial_seconds` · `factor`ⁿ, at most `max_seconds`.

    Transient are provider errors that say so, time-outs, lost connections, and errors whose `status_code` is in
    `statuses`. A server's own
    `retry_after` (seconds) is waited for if it is longer, and if it is not above `max_seconds`.
    """

    max_attempts: int = 4
    initial_seconds: float = 0.5
    factor: float = 2.0
    max_seconds: float = 30.0
    statuses: frozenset[int] = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

    def __post_init__(self) -> None:
        if self.max_attempts < 1 or self.initial_seconds < 0 or self.factor < 1 or self.max_seconds < 0:
            raise ValueError(f"max_attempts >= 1, seconds >= 0 and factor >= 1 must hold, got {self!r}")

    def seconds_before(self, attempt: int, error: BaseException) -> float | None:
        """How long to wait before the try after `attempt` (from 1); None if there is to be none."""
        if attempt >= self.max_attempts or not self._is_transient(error):
            return None
        try:
            wait = min(self.initial_seconds * self.factor ** (attempt - 1), self.max_seconds)
        except OverflowError:
            wait = self.max_seconds
        asked = getattr(error, "retry_after", None)
        if isinstance(asked, int | float):
            return max(wait, asked) if asked <= self.max_seconds else None
        return wait

    def _is_transient(self, error: BaseException) -> bool:
        if isinstance(error, ProviderError):
            return error.is_transient
        if getattr(error, "status_code", None) in self.statuses:
            return True
        cause: BaseException | None = error  # SDKs wrap a lost connection in an error of their own
        while cause is not None:
            if isinstance(cause, TimeoutError | ConnectionError | asyncio.IncompleteReadError):
                return True
            cause = cause.__cause__
        return False
