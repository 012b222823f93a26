"""A message as the text that its size is estimated from, four characters a token.

    {"role": "user", "content": "é", "timestamp": …} ──▶ {"content": "\\u00e9", "role": "user"}

The text is JSON with sorted keys, all of it ASCII. Keys that never leave this machine take no part in it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from aaa.errors import WireError
from aaa.wire.lossless import errors_at, mapping

__all__ = [
    "INERT_KEYS",
    "MessageDict",
    "estimate_of",
    "fields_of",
    "joined",
    "message_text",
    "message_texts",
    "sent_at",
    "sent_fields",
    "sequence_of",
]

MessageDict = dict[str, Any]

T = TypeVar("T")

INERT_KEYS = frozenset({"timestamp", "thinking", "provenance"})
"""What is kept beside a message and no provider is sent."""

_CHARS_PER_TOKEN = 4


def sequence_of(messages: Sequence[T]) -> Sequence[T]:
    """`messages`, which must be a list or the like: an iterator can be read only once, and would be found empty.

    Raises:
        TypeError: they are none.
    """
    if not isinstance(messages, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance] - who calls may not check
        raise TypeError(f"messages must be a list of messages, got {type(messages).__name__}")
    return messages


def fields_of(message: Mapping[str, Any]) -> MessageDict:
    """The message as a dict, itself if it is one: an SDK's own object (a pydantic model) is dumped.

    Raises:
        WireError: not an object.
    """
    return message if isinstance(message, dict) else dict(mapping(message, "a message"))


def sent_fields(message: Mapping[str, Any]) -> MessageDict:
    """The message without what no provider sees; itself if there is nothing of that.

    Raises:
        WireError: not an object.
    """
    fields = fields_of(message)
    if INERT_KEYS.isdisjoint(fields):
        return fields
    return {key: value for key, value in fields.items() if key not in INERT_KEYS}


def sent_at(message: Mapping[str, Any], index: int | None) -> MessageDict:
    """As `sent_fields`; the error says which message it is."""
    try:
        return sent_fields(message)
    except WireError as error:
        raise WireError(error.problem, index=index) from error


def _plain(value: Any) -> Any:
    return dict(mapping(value, "a value in a message"))  # a dict, or its encoder would ask again


_encode = json.JSONEncoder(sort_keys=True, default=_plain).encode


def message_text(fields: Mapping[str, Any]) -> str:
    """One message as text. Cost: O(its size).

    Raises:
        WireError, TypeError, ValueError, RecursionError: no object, or a value that is not JSON.
    """
    return _encode(sent_fields(fields))


def message_texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every message as text, in order.

    Raises:
        WireError: naming the index of a message that is no object, or holds a value that is not JSON.
    """
    try:
        return list(map(message_text, messages))
    except (WireError, TypeError, ValueError, RecursionError):
        for index, message in enumerate(messages):
            with errors_at(index, "message"):
                message_text(message)
        raise


def joined(texts: Iterable[str]) -> str:
    """A conversation as the one text that a counter is given."""
    return "\n".join(texts)


def estimate_of(chars: int) -> int:
    """Estimated tokens of a conversation whose text has `chars` characters."""
    return chars // _CHARS_PER_TOKEN
