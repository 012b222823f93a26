"""Cutting text to its start and end, with a note of what is missing."""

from bisect import bisect_left
from collections.abc import Callable

from msgspec.structs import replace

from aaa.messages import Part, TextPart

__all__ = ["cut_text", "level", "most", "shortened"]


def shortened(
    content: str | tuple[Part, ...],
    max_chars: int,
    head: float = 0.7,
    *,
    cut: Callable[[str, int, float], str] | None = None,
) -> str | tuple[Part, ...]:
    """`content` with at most `max_chars` characters of text; itself if it is short enough.

    Of several text parts the longest are cut, to one length, by `cut`; other parts are not touched.
    """
    cut = cut or cut_text
    if isinstance(content, str):
        return cut(content, max_chars, head) if len(content) > max_chars else content
    lengths = [len(part.text) for part in content if isinstance(part, TextPart)]
    if sum(lengths) <= max_chars:
        return content
    cap = level(lengths, max_chars)
    return tuple(
        replace(part, text=cut(part.text, cap, head)) if isinstance(part, TextPart) and len(part.text) > cap else part
        for part in content
    )


def cut_text(text: str, max_chars: int, head: float = 0.7) -> str:
    """The start and the end of `text`, with a note between them, in at most `max_chars` characters."""
    if len(text) <= max_chars:
        return text
    note = f"\n[... {len(text) - max_chars:,} characters cut ...]\n"
    keep = max_chars - len(note) - 2  # the note grows by at most two characters: its own length is cut too
    if keep <= 0:
        return text[:max_chars]
    start = int(keep * head)
    note = f"\n[... {len(text) - keep:,} characters cut ...]\n"
    return text[:start] + note + text[len(text) - (keep - start) :]


def level(lengths: list[int], total: int) -> int:
    """The cap for which the lengths, each cut to it, add up to at most `total`."""
    left = total
    for rank, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - rank)
        if length > share:
            return share
        left -= length
    return total


def most(total: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `total` for which `holds`, 0 if there is none; what holds holds for all below it.

    Asked are numbers up to twice the answer, O(log total) of them.
    """
    high = 1
    while high < total and holds(high):
        high *= 2
    return bisect_left(range(1, min(high, total) + 1), x=True, key=lambda number: not holds(number))
