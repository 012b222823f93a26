"""Names and numbers that a model needs to go on working: paths, symbols, hashes, ids.

A summary loses them first, and without them the model can not even ask. They are listed by rule, not by the model.
"""

import re
from collections.abc import Iterable, Sequence
from typing import cast

from aaa.errors import ToolArgumentsError
from aaa.messages import Message, ToolCall

__all__ = ["identifiers_in", "missing_identifiers"]

_WORD = re.compile(r"[\w./:~\\-]+")
_EDGES = "./:~\\-"
_MARKED = re.compile(r"\w[_./\\:]+\w|_|[a-z][A-Z]|[A-Z]{2}[a-z]|[^\W\d]\d|\d[^\W\d]")
_HEXADECIMAL = re.compile(r"[0-9a-f]{8,}")
_LENGTHS = range(4, 121)
_CHANGES = re.compile(r"(?i)write|edit|patch|create|update|replace|insert|append|delete|remove|move|rename|save")
_CHANGED = 20.0  # above what any other identifier can have


def identifiers_in(text: str) -> dict[str, None]:
    """Identifiers in `text`, in order of first appearance, as keys. Cost: O(text).

    An identifier is a path, a word with an underscore, a dot, a digit or a capital inside, or a hexadecimal word, of
    4 to 120 characters; or a number or date of three digits or more.
    """
    words = dict.fromkeys(map(_without_edges, dict.fromkeys(_WORD.findall(text))))  # each word is looked at once
    return {word: None for word in words if _is_identifier(word)}


def _without_edges(word: str) -> str:
    """Punctuation at the end goes, and at the start unless it makes a path."""
    word = word.rstrip(_EDGES)
    return word if word[:1] in ("/", "~", ".") and "/" in word else word.lstrip(_EDGES)


def _is_identifier(word: str) -> bool:
    if len(word) > _LENGTHS.stop:
        return False
    if not any(map(str.isalpha, word)):
        return sum(map(str.isdigit, word)) >= 3
    if len(word) not in _LENGTHS:
        return False
    return _MARKED.search(word) is not None or _HEXADECIMAL.fullmatch(word) is not None


def _strings(call: ToolCall) -> Iterable[str]:
    """The strings in a call's arguments, as the tool would see them."""
    try:
        return _leaves(call.arguments)
    except ToolArgumentsError:
        return (call.arguments_json,)


def _leaves(value: object) -> Iterable[str]:
    match value:
        case str():
            return (value,)
        case dict():
            return [leaf for item in cast("dict[str, object]", value).values() for leaf in _leaves(item)]
        case list():
            return [leaf for item in cast("list[object]", value) for leaf in _leaves(item)]
        case _:
            return (str(value),)


def _changed_paths(span: Sequence[Message]) -> Iterable[str]:
    """Files named by arguments of calls that change something."""
    calls = (call for message in span for call in message.tool_calls if _CHANGES.search(call.name))
    return [text for call in calls for text in _strings(call) if "/" in text and list(identifiers_in(text)) == [text]]


def missing_identifiers(
    span: Sequence[Message], summary: str, *, earlier: Sequence[str] = (), max_tokens: int
) -> tuple[str, ...]:
    """Identifiers of `span` (and `earlier`, those listed before) that `summary` lacks, best first, within `max_tokens`.

    Ranked by (recency + 0.2) × 10 if a user or an assistant mentions it, else × 0.3: the best of four rankings tried
    on recorded sessions. Files that a call has changed come before all others.
    Units: estimated tokens, 3.5 characters each.
    """
    scores: dict[str, float] = dict.fromkeys(earlier, 0.2 * 10)
    for path in _changed_paths(span):
        scores[path] = _CHANGED
    for position, message in enumerate(span):
        weight = ((position + 1) / len(span) + 0.2) * (0.3 if message.role == "tool" else 10)
        for text in (*message.texts, *(text for call in message.tool_calls for text in _strings(call))):
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
