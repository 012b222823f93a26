"""The calls of a streamed reply, put together from fragments whose servers do not agree on how to mark them.

| a fragment | belongs to |
|---|---|
| of an index seen before | the last call of that index … |
| … with another id and a name | a new call: some servers give all calls the index 0 |
| without an index, of an id seen before | the call of that id |
| without both, with a name | a new call: such servers send calls whole |
| without all three | the last call |

An id or a name that comes again says nothing new. Arguments may come as text, in pieces, or as one object.
"""

from collections.abc import Mapping
from typing import Any, cast

from aaa.wire.lossless import Fields, compact

__all__ = ["CallFragments"]


class CallFragments:
    """Collects the `tool_calls` of deltas."""

    def __init__(self) -> None:
        self._calls: list[Fields] = []
        self._indices: list[Any] = []  # the `index` each call came with

    @property
    def calls(self) -> list[Fields]:
        """The calls so far, as a whole reply has them."""
        return self._calls

    def add(self, fragment: Mapping[str, Any]) -> tuple[int, str]:
        """Take in one fragment: which call of the reply it belongs to, and what it adds to its arguments."""
        place = self._place_of(fragment)
        if place is None:
            place = len(self._calls)
            self._calls.append({})
            self._indices.append(fragment.get("index"))
        return place, _grow(self._calls[place], fragment)

    def _place_of(self, fragment: Mapping[str, Any]) -> int | None:
        call_id, name, index = fragment.get("id"), _function(fragment).get("name"), fragment.get("index")
        if index is not None:
            place = _last([at for at, known in enumerate(self._indices) if known == index])
            known_id = self._calls[place].get("id") if place is not None else None
            is_other = call_id and known_id and call_id != known_id and name
            return None if is_other else place
        if call_id:
            return _last([at for at, call in enumerate(self._calls) if call.get("id") == call_id])
        return None if name or not self._calls else len(self._calls) - 1


def _last(places: list[int]) -> int | None:
    return places[-1] if places else None


def _function(fragment: Mapping[str, Any]) -> Mapping[str, Any]:
    value = fragment.get("function") or fragment.get("custom")
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _grow(call: Fields, fragment: Mapping[str, Any]) -> str:
    """Lay `fragment` over `call`; the text that its arguments grew by."""
    grown = ""
    for key, value in fragment.items():
        if key in ("function", "custom") and isinstance(value, Mapping):
            grown += _grow_function(call.setdefault(key, {}), cast("Mapping[str, Any]", value))
        elif key == "id":
            call["id"] = call.get("id") or value
        elif key != "index" and (value is not None or key not in call):
            call[key] = value
    return grown


def _grow_function(function: Fields, fragment: Mapping[str, Any]) -> str:
    grown = ""
    for key, value in fragment.items():
        if key in ("arguments", "input"):
            grown += _grow_arguments(function, key, value)
        elif key == "name":
            function["name"] = function.get("name") or value
        elif value is not None or key not in function:
            function[key] = value
    return grown


def _grow_arguments(function: Fields, key: str, value: Any) -> str:
    before = function.get(key)
    if value is None or value == "":
        function[key] = "" if before is None else before
        return ""
    text = value if isinstance(value, str) else compact(value)
    function[key] = value if not before else (before if isinstance(before, str) else compact(before)) + text
    return text
