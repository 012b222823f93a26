"""One figure of a benchmark."""

from dataclasses import dataclass

__all__ = ["Measurement"]


@dataclass(frozen=True)
class Measurement:
    """What was measured, how much it is, and in which unit; `target` says what it should be, if anything."""

    name: str
    value: float
    unit: str
    target: str = ""
