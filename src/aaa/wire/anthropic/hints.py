"""What Anthropic's format keeps in the `extra` of a message, text, call or tool, to write it as it was read.

A hint says how something stood ("plain", "order", …; `anthropic_reading` has the list), or holds the keys we have no
field for (`cache_control`, `citations`, `is_error`, `caller`, unknown ones), to be laid over what is written. Those
never name a field of ours, so an edit of a text, of arguments or of a result is what is sent.
"""

import json
from collections.abc import Mapping
from typing import Any

from aaa.wire.lossless import Fields, compact, difference, native, overlay, with_native

__all__ = ["FORMAT", "hints_of", "laid_over", "unwritten", "with_hints"]

FORMAT = "anthropic"


def hints_of(extra: str) -> Fields:
    """What this format keeps in `extra`."""
    return native(extra, FORMAT)


def with_hints(extra: str, hints: Fields) -> str:
    """`extra` with `hints` added to what this format keeps there."""
    return with_native(extra, FORMAT, hints_of(extra) | hints) if hints else extra


def unwritten(given: Mapping[str, Any], written: Fields, *besides: str, under: str = "block") -> Fields:
    """The hint, by the name `under`, to lay over `written` what else is in `given`, the keys `besides` apart."""
    over = difference({key: value for key, value in given.items() if key not in besides}, written)
    return {under: json.loads(over)} if over else {}


def laid_over(fields: Fields, hints: Fields, under: str = "block") -> Fields:
    """`fields`, changed in place by what was unwritten."""
    return overlay(fields, compact(hints[under])) if under in hints else fields
