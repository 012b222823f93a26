"""The texts of a prompt, in order, and shown briefly."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aaa.messages import Message
from tests.cases.found import Found

__all__ = ["amount", "blocks_of", "briefly", "has", "leaves", "names_of", "pieces", "summary_texts"]


def pieces(messages: Iterable[Message]) -> list[str]:
    """Every text of every message, in order: of results, and of the system too."""
    found: list[str] = []
    for message in messages:
        found += message.texts
    return found


def has(texts: Sequence[str], text: str, *, part: bool = False) -> bool:
    """Whether `text` is one of the texts, or whole lines of one; with `part`, anywhere in one."""
    if part:
        return any(text in piece for piece in texts)
    return any(piece == text or f"\n{text}\n" in f"\n{piece}\n" for piece in texts)


def leaves(value: Any) -> list[str]:
    """Every text anywhere in what is sent: arguments, thinking and the data of pictures too."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [text for item in inner for text in leaves(item)]


def blocks_of(turn: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The blocks of a turn of Anthropic's; of a string the one that it stands for."""
    content = turn["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def amount(count: float, expected: Mapping[str, Any], what: str) -> str | None:
    """What is wrong with a number of things, by those of `equals`, `at_most` (or `n`) and `at_least` that are given."""
    most, least = expected.get("at_most", expected.get("n", count)), expected.get("at_least", count)
    is_right = count == expected.get("equals", count) and least <= count <= most
    return None if is_right else f"{count:,} {what}"


def summary_texts(found: Found) -> list[str]:
    """What those who write summaries were sent, request by request."""
    return ["\n\n".join(pieces(request.messages)) for request in found.summarizer.requests]


def names_of(messages: Sequence[Message]) -> list[str]:
    """The role of each message, briefly."""
    return [message.role for message in messages]


def briefly(value: Any, length: int = 160) -> str:
    """A value as it is shown in a report."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= length else f"{text[:length]}… ({len(text):,} characters)"
