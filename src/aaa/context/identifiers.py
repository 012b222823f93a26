"""Names and numbers that a model needs to go on working: paths, symbols, hashes, ids.

A summary loses them first, and without them the model can not even ask. They are listed by rule, not by the model.
"""

import re
from collections.abc import Sequence

from aaa.messages import Message

__all__ = ["identifiers_in", "missing_identifiers"]

_WORD = re.compile(r"[A-Za-z0-9_./~\\-]*[A-Za-z0-9_][A-Za-z0-9_./:\\-]*[A-Za-z0-9_]|\d+")
_NUMBER = re.compile(r"\d{3,}")
_MARKED = re.compile(r"[A-Za-z0-9](?:[_./\\]+)[A-Za-z0-9]|^[/~.]|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|_")
_LENGTHS = range(4, 121)


def identifiers_in(text: str) -> dict[str, None]:
    """Identifiers in `text`, in order of first appearance, as keys.

    An identifier is a path, a word with an underscore, a dot, a digit or a capital inside, or a hexadecimal word, of
    4 to 120 characters; or a number of three digits or more.
    """
    return {word: None for word in _WORD.findall(text) if _is_identifier(word)}


def _is_identifier(word: str) -> bool:
    if _NUMBER.fullmatch(word):
        return True
    return len(word) in _LENGTHS and _MARKED.search(word) is not None


def missing_identifiers(
    span: Sequence[Message], summary: str, *, earlier: Sequence[str] = (), max_tokens: int
) -> tuple[str, ...]:
    """Identifiers of `span` (and `earlier`, those listed before) that `summary` lacks, best first, within `max_tokens`.

    Ranked by (recency + 0.2) × 10 if a user or an assistant mentions it, else × 0.3: the best of four rankings tried
    on recorded sessions. Units: estimated tokens, 3.5 characters each.
    """
    scores: dict[str, float] = dict.fromkeys(earlier, 0.2 * 10)
    for position, message in enumerate(span):
        weight = ((position + 1) / len(span) + 0.2) * (0.3 if message.role == "tool" else 10)
        for text in (*message.texts, *(call.arguments_json for call in message.tool_calls)):
            for word in identifiers_in(text):
                scores[word] = max(weight, scores.get(word, 0))
    chosen: list[str] = []
    room = float(max_tokens)
    for word in sorted(scores, key=lambda word: (-scores[word], word)):
        cost = (len(word) + 3) / 3.5
        if word not in summary and cost <= room:
            chosen.append(word)
            room -= cost
    return tuple(chosen)
