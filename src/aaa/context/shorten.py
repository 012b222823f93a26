"""Cutting text to its start and end, with a note of what is missing."""

from msgspec.structs import replace

from aaa.messages import Part, TextPart

__all__ = ["shortened"]


def shortened(content: str | tuple[Part, ...], max_chars: int, head: float = 0.7) -> str | tuple[Part, ...]:
    """`content` with at most `max_chars` characters of text; itself if it is short enough.

    Of several text parts the longest are cut, to one length; other parts are not touched.
    """
    if isinstance(content, str):
        return _cut(content, max_chars, head)
    lengths = [len(part.text) for part in content if isinstance(part, TextPart)]
    if sum(lengths) <= max_chars:
        return content
    cap = _level(lengths, max_chars)
    return tuple(
        replace(part, text=_cut(part.text, cap, head)) if isinstance(part, TextPart) and len(part.text) > cap else part
        for part in content
    )


def _cut(text: str, max_chars: int, head: float) -> str:
    if len(text) <= max_chars:
        return text
    note = f"\n[... {len(text) - max_chars:,} characters cut ...]\n"
    keep = max_chars - len(note) - 2  # the note grows by at most two characters: its own length is cut too
    if keep <= 0:
        return text[:max_chars]
    start = int(keep * head)
    note = f"\n[... {len(text) - keep:,} characters cut ...]\n"
    return text[:start] + note + text[len(text) - (keep - start) :]


def _level(lengths: list[int], total: int) -> int:
    """The cap for which the lengths, each cut to it, add up to at most `total`."""
    left = total
    for rank, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - rank)
        if length > share:
            return share
        left -= length
    return total
