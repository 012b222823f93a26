"""JSON in fewer characters that is still JSON.

    {"rows": [a, b, c, … z], "log": "very long"}   ──▶   {"rows":[a,b,"[... 23 items cut ...]",z],"log":"very … long"}

Room is shared: what is small stays whole, what is large is cut to one size, from its start and its end, and says so.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from math import isinf
from typing import Any, cast

from aaa.context.json_sizes import JsonSizes, dumped
from aaa.context.shorten import cut_text, level

__all__ = ["JsonAbridger", "parsed"]

_NOTE = 48  # characters of a note about items or keys that were cut, with its comma
_LEAST = 24  # characters that are worth keeping of one item
_ELLIPSIS = "…"


def parsed(text: str) -> Any:
    """The value of `text` if it is a JSON object or list, else None. Cost: O(text)."""
    if not text.lstrip()[:1].startswith(("{", "[")):
        return None
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise ValueError(f"{digits} is out of range")
    return number


class JsonAbridger:
    """Writes one JSON object or list in any number of characters; what it learns of its sizes serves every length.

    Cost: O(max_chars) for each level of nesting, however large the value is.
    """

    def __init__(self, value: dict[str, Any] | list[Any]) -> None:
        self._value = value
        self._size = JsonSizes().size

    def abridged(self, max_chars: int) -> str | None:
        """The value as JSON of at most `max_chars` characters and of its own type; None if it is nested too deeply."""
        try:
            text = dumped(self._fitted(self._value, max_chars))
        except RecursionError:
            return None
        return text if len(text) <= max_chars else None

    def with_all_keys(self, max_chars: int) -> str | None:
        """The object with all its keys; longer than `max_chars` where keys and shortest values are."""
        fields = cast("dict[str, Any]", self._value)
        try:
            keys = 2 + sum(self._size(key, max_chars) + 2 for key in fields)
            items = self._levelled(list(fields.values()), max_chars - keys)
            return dumped(dict(zip(fields, items, strict=True)))
        except RecursionError:
            return None

    def _fitted(self, value: Any, room: int) -> Any:
        if self._size(value, room) <= room:
            return value
        match value:
            case list() if room >= _NOTE:
                return self._list(cast("list[Any]", value), room)
            case dict() if room >= _NOTE:
                return self._object(cast("dict[str, Any]", value), room)
            case list() | dict():
                return _ELLIPSIS
            case _:
                return _text(value if isinstance(value, str) else str(value), room)

    def _list(self, items: list[Any], room: int) -> list[Any]:
        first, last = _ends(items, room, self._item_cost)
        ends = [*items[:first], *items[len(items) - last :]]
        fitted = self._levelled(ends, room - _NOTE - len(ends))
        cut = len(items) - len(ends)
        return [*fitted[:first], f"[... {cut:,} items cut ...]", *fitted[first:]] if cut else fitted

    def _object(self, value: dict[str, Any], room: int) -> dict[str, Any]:
        fields = list(value.items())
        first, last = _ends(fields, room, self._field_cost)
        ends = [*fields[:first], *fields[len(fields) - last :]]
        keys = sum(self._size(key, room) + 2 for key, _ in ends)
        items = self._levelled([item for _, item in ends], room - _NOTE - keys)
        fitted = [(key, item) for (key, _), item in zip(ends, items, strict=True)]
        cut = len(fields) - len(ends)
        note = [(_free_key(value), f"[... {cut:,} keys cut ...]")] if cut else []
        return dict([*fitted[:first], *note, *fitted[first:]])

    def _levelled(self, items: Sequence[Any], room: int) -> list[Any]:
        """The items in `room` characters together; the largest are cut, to one size."""
        cap = level([self._size(item, room) for item in items], max(room, 0))
        return [self._fitted(item, max(cap, 3)) for item in items]

    def _item_cost(self, item: Any, share: int) -> int:
        return min(self._size(item, share), share) + 1

    def _field_cost(self, field: tuple[str, Any], share: int) -> int:
        return self._size(field[0], 8 * share) + 1 + self._item_cost(field[1], share)


def _text(text: str, room: int) -> str:
    """The start and the end of `text` in `room` characters of JSON; escapes count."""
    low, high = 0, min(room, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(dumped(_cut(text, middle))) <= room else (low, middle - 1)
    return _cut(text, low)


def _cut(text: str, max_chars: int) -> str:
    return cut_text(text, max_chars) if max_chars > _NOTE else text[: max(max_chars - 1, 0)] + _ELLIPSIS


def _free_key(value: dict[str, Any]) -> str:
    key = "[...]"
    while key in value:
        key += "."
    return key


def _ends(items: Sequence[Any], room: int, cost: Callable[[Any, int], int]) -> tuple[int, int]:
    """How many items to keep of the start and of the end; each is taken to need at most a quarter of the room."""
    inner = room - 2 - _NOTE
    share = max(inner // 4, _LEAST)
    first = _taken(items, inner * 7 // 10, share, cost)
    last = _taken(reversed(items), inner - inner * 7 // 10, share, cost)
    return first, min(last, len(items) - first)


def _taken(items: Iterable[Any], room: int, share: int, cost: Callable[[Any, int], int]) -> int:
    taken = 0
    for item in items:
        room -= cost(item, share)
        if room < 0:
            break
        taken += 1
    return taken
