"""What OpenAI's Responses format keeps in the native extra of a message, a part, a call or a tool.

| note | on | means |
|---|---|---|
| `item` | message, first part of an item, call | keys of the item that we do not know, to be laid over what we write |
| `part` | text part | the same for the content part |
| `string` | text part | its item had a string as content |
| `list` | message | its one text stood in a list |
| `at` | call | it stood before the part of this number; without it behind all parts |
| `place` | opaque part | "item" or "content", where its type does not tell |
| `reasoned` | message | its items belong to reasoning that stood before them |
| `instructions` | message | it was the `instructions` of the request |
| `input` | message | it was the whole `input`, a string |
| `tool` | tool | keys of a function that we do not know, to be laid over what we write |
| `hosted` | tool | the provider runs it |

They are hints: where an edit has taken away what they speak of, the default is written.
"""

import json
from collections.abc import Mapping
from typing import Any

from aaa.wire.lossless import Fields, compact, difference, native, overlay, with_native

__all__ = ["FORMAT", "fields_of", "json_of", "json_with_notes", "laid_over", "noted", "notes_of", "with_notes"]

FORMAT = "openai-responses"

_KEY = f"aaa:{FORMAT}"


def notes_of(extra: str) -> Fields:
    """What this format keeps in `extra`, or in the JSON text of an opaque part."""
    return native(extra, FORMAT)


def with_notes(extra: str, notes: Mapping[str, Any]) -> str:
    """`extra` with `notes` added to what this format keeps there."""
    return with_native(extra, FORMAT, {**notes_of(extra), **notes}) if notes else extra


def noted(name: str, given: Mapping[str, Any], *, written: Fields) -> dict[str, str]:
    """The note that says what must be laid over `written` to get `given`: JSON text, so that no order is lost.

    Raises:
        WireError: a key of `given` begins like ours.
    """
    over = difference(given, written)
    return {name: over} if over else {}


def laid_over(fields: Fields, over: str | None, *, but: str | None = None) -> Fields:
    """`fields`, changed in place by what was noted, the key `but` apart."""
    over = over or ""
    if but is not None and but in over:
        over = compact({key: value for key, value in json.loads(over).items() if key != but})
    return overlay(fields, over)


def json_of(fields: Mapping[str, Any], notes: Mapping[str, Any] = {}) -> str:
    """JSON text for an opaque part, with notes.

    Raises:
        WireError: a key begins like ours.
    """
    difference(fields, dict(fields))
    return compact({**fields, _KEY: {**notes}} if notes else fields)


def json_with_notes(json_text: str, notes: Mapping[str, Any]) -> str:
    """The JSON text of an opaque part with `notes` added."""
    fields = json.loads(json_text)
    return compact({**fields, _KEY: {**fields.get(_KEY, {}), **notes}}) if notes else json_text


def fields_of(json_text: str) -> Fields:
    """What an opaque part is without its notes."""
    fields = json.loads(json_text)
    fields.pop(_KEY, None)
    return fields
