"""Checks on what a model signs of its calls, in Gemini's own format and as its server of OpenAI's format has it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.cases.checks.registry import check
from tests.cases.found import Found

Expected = Mapping[str, Any]
Turn = Mapping[str, Any]

_DUMMY = "skip_thought_signature_validator"
_KEYS = ("thoughtSignature", "thought_signature")


@check("signature_on_first_call", "literal")
def signature_on_first_call(found: Found, expected: Expected) -> str | None:
    for index, signatures in _current_calls(found):
        if not signatures[0]:
            return f"turn {index}: the first call has none"
        if signatures[0] not in {*_signatures_in(found.case["messages"]), _DUMMY}:
            return f"turn {index}: {signatures[0]!r} is neither real nor the documented one"
    return None


@check("no_signature_on_siblings")
def no_signature_on_siblings(found: Found, expected: Expected) -> str | None:
    wrong = [index for index, signatures in _current_calls(found) if any(map(_is_there, signatures[1:]))]
    return f"turn {wrong[0]}: a sibling has one" if wrong else None


@check("old_turn_free")
def old_turn_free(found: Found, expected: Expected) -> str | None:
    current = {index for index, _ in _current_calls(found)}
    made = [
        index for index, turn in enumerate(found.turns) if index not in current and "skip_thought" in json.dumps(turn)
    ]
    return f"turn {made[0]} got one" if made else None


@check("keeps_signature")
def keeps_signature(found: Found, expected: Expected) -> str | None:
    return None if f'"{expected["value"]}"' in json.dumps(found.turns) else "it is gone"


def _current_calls(found: Found) -> list[tuple[int, list[str | None]]]:
    """The signatures of the calls of each turn since the user last spoke; None where a call has none."""
    turns = found.turns
    start = max((index for index, turn in enumerate(turns) if _is_said_by_user(turn)), default=0)
    calls = ((index, list(map(_signature_of, _calls_in(turns[index])))) for index in range(start, len(turns)))
    return [(index, signatures) for index, signatures in calls if signatures]


def _is_said_by_user(turn: Turn) -> bool:
    return turn.get("role") == "user" and any("text" in part for part in turn.get("parts", ({"text": ""},)))


def _calls_in(turn: Turn) -> list[Turn]:
    """The calls of a turn: parts of Gemini's, entries of OpenAI's."""
    return [part for part in turn.get("parts", ()) if "functionCall" in part] or list(turn.get("tool_calls") or ())


def _signature_of(call: Turn) -> str | None:
    return next(iter(_signatures_in(call)), None)


def _signatures_in(value: Any) -> Iterable[str]:
    """Every signature anywhere in `value`, an empty one too."""
    if isinstance(value, list):
        for item in value:
            yield from _signatures_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from [item] if key in _KEYS else _signatures_in(item)


def _is_there(signature: str | None) -> bool:
    return signature is not None
