"""A call of Gemini's whose arguments stream in, value by value (Vertex, `streamFunctionCallArguments`).

    {"name": "write", "willContinue": true}                                                     a call begins
    {"partialArgs": [{"jsonPath": "$.items[0].text", "stringValue": "Fre", "willContinue": true}], "willContinue": true}
    {"partialArgs": [{"jsonPath": "$.items[0].text", "stringValue": "sh"}], "willContinue": true}
    {}                                                                                          it is whole

The last one may be missing. Source: recorded streams, and google-genai 3.6, November 2026.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from aaa.errors import WireError
from aaa.wire.lossless import Fields, mapping

__all__ = ["PartialCall"]

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.DOTALL)
_MOST_SKIPPED = 1000  # of a list, by one index: a broken path must not fill the memory
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


class PartialCall:
    """A part with a call that grows."""

    def __init__(self) -> None:
        self._part: Fields = {}
        self._call: Fields = {}
        self._arguments: Fields = {}
        self._has_arguments = False
        self._unfinished: set[str] = set()

    def grow(self, part: Mapping[str, Any], call: Mapping[str, Any]) -> None:
        """Take in the next piece: a part, and the call in it."""
        self._part |= {key: value for key, value in part.items() if key != "functionCall"}
        self._call |= {key: value for key, value in call.items() if key not in ("args", "partialArgs", "willContinue")}
        self._has_arguments |= "args" in call or "partialArgs" in call
        self._arguments |= mapping(call.get("args") or {}, "args")
        for value in cast("Sequence[Any]", call.get("partialArgs") or ()):
            self._set(mapping(value, "a partial argument"))

    def part(self) -> Fields:
        """The part as it is in a reply of one piece."""
        arguments = {"args": self._arguments} if self._has_arguments else {}
        return self._part | {"functionCall": self._call | arguments}

    def _set(self, piece: Mapping[str, Any]) -> None:
        path = piece.get("jsonPath")
        key = next((key for key in _VALUES if key in piece), None)
        if not isinstance(path, str) or key is None:
            raise WireError("a partial argument needs a jsonPath and a value")
        value = None if key == "nullValue" else piece[key]
        _set_at(self._arguments, _steps(path), value, appends=path in self._unfinished)
        (self._unfinished.add if piece.get("willContinue") else self._unfinished.discard)(path)


def _steps(path: str) -> list[str | int]:
    """The steps of a path; quoted names are written as RFC 9535 says, but for its \\u escapes."""
    steps: list[str | int] = []
    end = 1
    while path[:1] == "$" and (found := _STEP.match(path, end)):
        name, index, *quoted = found.groups()
        text = next((text for text in quoted if text is not None), None)
        steps.append(int(index) if index else name if name else re.sub(r"\\(.)", r"\1", text or ""))
        end = found.end()
    if not steps or end != len(path) or not isinstance(steps[0], str):
        raise WireError("the jsonPath of a partial argument cannot be read")
    return steps


def _set_at(root: Fields, steps: Sequence[str | int], value: Any, *, appends: bool) -> None:
    inner: Any = root
    for step, after in pairwise(steps):
        found = _at(inner, step)
        if found is None:
            found = _put(inner, step, {} if isinstance(after, str) else [])
        inner = found
    last = steps[-1]
    before = _at(inner, last)
    _put(inner, last, before + value if appends and isinstance(before, str) and isinstance(value, str) else value)


def _at(inner: Any, step: str | int) -> Any:
    if isinstance(inner, dict) and isinstance(step, str):
        return cast("Fields", inner).get(step)
    if isinstance(inner, list) and isinstance(step, int):
        items = cast("list[Any]", inner)
        return items[step] if step < len(items) else None
    raise WireError("the paths of partial arguments contradict each other")


def _put(inner: Any, step: Any, value: Any) -> Any:
    if isinstance(inner, list):
        items = cast("list[Any]", inner)
        if step > len(items) + _MOST_SKIPPED:
            raise WireError(f"index {step} in the path of a partial argument, in a list of {len(items)}")
        items.extend([None] * (step + 1 - len(items)))
    inner[step] = value
    return value
