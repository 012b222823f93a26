"""Horizontal bars in plain characters: what was sent, what would have been, and the window between them.

     7  ██████████████░░░░│░░░░░░           3,120     5,480

Needs no colour; ASCII where the terminal's encoding has no blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["ASCII", "BLOCKS", "Bar", "Symbols", "chart"]


@dataclass(frozen=True, slots=True)
class Symbols:
    """The characters of a chart: what was sent, what more would have been, and the window."""

    sent: str
    more: str
    window: str


BLOCKS = Symbols("█", "░", "│")
ASCII = Symbols("#", ".", "|")


@dataclass(frozen=True, slots=True)
class Bar:
    """One call: its label, and its size with a policy and without, in tokens."""

    label: str
    sent: int
    without: int


def chart(bars: Sequence[Bar], window: int, *, width: int, symbols: Symbols) -> list[str]:
    """One line per bar, each `width` characters wide, the window marked in all of them."""
    numbers = len("  sent   without")
    room = max(width - 6 - numbers, 10)
    largest = max([window, *(bar.without for bar in bars)])
    title = f"call  {'':{room}}{'sent':>7}{'without':>9}"
    return [title, *(_line(bar, largest, window, room, symbols) for bar in bars)]


def _line(bar: Bar, largest: int, window: int, room: int, symbols: Symbols) -> str:
    sent, without, mark = (round(tokens * (room - 1) / largest) for tokens in (bar.sent, bar.without, window))
    cells = list((symbols.sent * sent + symbols.more * (without - sent)).ljust(room))
    cells[mark] = symbols.window
    return f"{bar.label:>4}  {''.join(cells)}{bar.sent:>7,}{bar.without:>9,}"
