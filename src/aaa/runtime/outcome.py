"""How a run ended."""

from typing import Any, Literal

import msgspec

from aaa.runtime.events import Event

__all__ = ["Outcome", "Status"]

Status = Literal["done", "failed", "cancelled", "out_of_turns", "out_of_budget", "past_deadline"]


class Outcome(msgspec.Struct, frozen=True):
    """The end of a run: `value` is what the algorithm returned (for `out_of_turns` what it had), `error` says why not.

    `error` is {"type", "message"}.
    """

    status: Status
    value: Any = None
    error: dict[str, str] | None = None

    @property
    def is_done(self) -> bool:
        """Whether the algorithm returned."""
        return self.status == "done"

    @classmethod
    def of(cls, event: Event) -> "Outcome":
        """The outcome that an `aaa.run.completed` event records."""
        return msgspec.convert({key: event.data.get(key) for key in ("status", "value", "error")}, cls)
