"""Arguments of calls where a format wants an object: what a model wrote as text, and that is none, stands inside one.

    {"path": "a.p   ──▶   {"INVALID_JSON": "{\"path\": \"a.p"}

Nothing of it is lost. The key is the one in Anthropic's guide to fine-grained tool streaming (November 2026).
"""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, cast

from aaa.wire.lossless import Fields, compact

__all__ = ["INVALID_JSON", "object_in", "object_or_wrapped", "text_of"]

INVALID_JSON = "INVALID_JSON"


def object_in(text: str) -> Fields | None:
    """The JSON object that a text is; None if it is none. NaN and numbers too large to be one are no JSON."""
    try:
        value: Any = json.loads(text, parse_constant=_number, parse_float=_number)
    except (ValueError, RecursionError):
        return None
    return cast("Fields", value) if isinstance(value, dict) else None


def object_or_wrapped(text: str) -> Fields:
    """The object of a call's arguments, {} for no text; what is none stands inside one."""
    value = object_in(text or "{}")
    return {INVALID_JSON: text} if value is None else value


def text_of(given: Mapping[str, Any]) -> str:
    """The text that `object_or_wrapped` made an object of."""
    text = given.get(INVALID_JSON)
    if isinstance(text, str) and object_or_wrapped(text) == given:
        return text
    return compact(given, allow_nan=False)


def _number(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text} is not JSON")
    return value
