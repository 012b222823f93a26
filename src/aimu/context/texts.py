"""A message as the text that its size is estimated from, four characters a token.

    {"role": "user", "content": "é", "timestamp": …} ──▶ {"content": "\\u00e9", "role": "user"}

The text is JSON with sorted keys, all of it ASCII. Keys that never leave this machine take no part in it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aaa.errors import WireError
from aaa.wire.lossless import errors_at, mapping

__all__ = ["INERT_KEYS", "MessageDict", "estimate_of", "joined", "message_text", "message_texts", "sent_fields"]

MessageDict = dict[str, Any]

INERT_KEYS = frozenset({"timestamp", "thinking", "provenance"})
"""What is kept beside a message and no provider is sent."""

_CHARS_PER_TOKEN = 4


def sent_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message without what no provider sees; itself if there is nothing of that.

    Raises:
        WireError: not an object.
    """
    if not isinstance(fields, dict):
        fields = mapping(fields, "a message")
    if INERT_KEYS.isdisjoint(fields):
        return fields
    return {key: value for key, value in fields.items() if key not in INERT_KEYS}


def _plain(value: Any) -> Any:
    return mapping(value, "a value in a message")


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
