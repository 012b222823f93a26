"""What writes summaries where no model is at hand: it quotes instead of understanding.

Its summaries have about the size of real ones at their shortest, so sizes and edits are realistic, the words are not.
"""

__all__ = ["stand_in_summary"]

_TEXT_CHARACTERS, _EARLIER_CHARACTERS = 170, 100


def stand_in_summary(text: str, previous: str | None) -> str:
    """The first and last characters of `text` and of the earlier summary, at most 600 in all; same in, same out."""
    parts = ["Extract, not a summary.", _ends(text, _TEXT_CHARACTERS)]
    if previous:
        parts.insert(1, _ends(previous, _EARLIER_CHARACTERS))
    return "\n".join(parts)


def _ends(text: str, characters: int) -> str:
    if len(text) <= 2 * characters:
        return text
    return f"{text[:characters]} ... {text[-characters:]}"
