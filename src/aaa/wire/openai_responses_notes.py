"""What OpenAI's Responses format keeps in the native extra of a message, a part or a call.

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

They are hints: where an edit has taken away what they speak of, the default is written.
"""

import json
from collections.abc import Mapping
from typing import Any

from aaa.wire.lossless import Fields, compact, difference, native, overlay, with_native

__all__ = ["FORMAT", "json_of", "laid_over", "notes_of", "unwritten", "with_notes"]

FORMAT = "openai-responses"


def notes_of(extra: str) -> Fields:
    """What this format keeps in `extra`, or in the JSON text of an opaque part."""
    return native(extra, FORMAT)


def with_notes(extra: str, notes: Mapping[str, Any]) -> str:
    """`extra` with `notes` added to what this format keeps there."""
    return with_native(extra, FORMAT, {**notes_of(extra), **notes}) if notes else extra


def unwritten(given: Mapping[str, Any], written: Fields) -> Fields:
    """What must be laid over `written` to get `given`.

    Raises:
        WireError: a key of `given` begins like ours.
    """
    over = difference(given, written)
    return json.loads(over) if over else {}


def laid_over(fields: Fields, over: Mapping[str, Any] | None) -> Fields:
    """`fields`, changed in place by what was unwritten."""
    return overlay(fields, compact(over)) if over else fields


def json_of(fields: Mapping[str, Any]) -> str:
    """JSON text for an opaque part.

    Raises:
        WireError: a key begins like ours.
    """
    difference(fields, dict(fields))
    return compact(fields)
