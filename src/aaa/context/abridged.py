"""JSON in fewer characters that is still JSON.

    {"rows": [a, b, c, … z], "log": "very long"}   ──▶   {"rows":[a,b,"[... 23 items cut ...]",z],"log":"very … long"}

Room is shared: what is small stays whole, what is large is cut to one size, from its start and its end, and says so.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from math import isinf
from typing import Any, cast

from aaa.context.shorten import cut_text, level

__all__ = ["abridged", "abridged_object", "parsed"]

_NOTE = 48  # characters of a note about items or keys that were cut, with its comma
_LEAST = 24  # characters that are worth keeping of one item
_ELLIPSIS = "…"

_dumped = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode  # made once: `json.dumps` makes one a call


def parsed(text: str) -> Any:
    """The value of `text` if it is a JSON object or list, else None. Cost: O(text)."""
    if not text.lstrip()[:1].startswith(("{", "[")):
        return None
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def abridged(value: Any, max_chars: int) -> str | None:
    """`value` as JSON of at most `max_chars` characters and of its own type; None if it is nested too deeply.

    Cost: O(max_chars) for each level of nesting, however large the value is.
    """
    try:
        text = _dumped(_fitted(value, max_chars))
    except RecursionError:
        return None
    return text if len(text) <= max_chars else None


def abridged_object(value: dict[str, Any], max_chars: int) -> str | None:
    """`value` as a JSON object with all its keys; longer than `max_chars` where keys and shortest values are."""
    try:
        return _dumped(_with_all_keys(value, max_chars))
    except RecursionError:
        return None


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise ValueError(f"{digits} is out of range")
    return number


def _size(value: Any, limit: int) -> int:
    """Characters of `value` as JSON, or any number above `limit` if there are more. Cost: O(limit)."""
    match value:
        case str():
            return len(value) + 2 if len(value) > limit else len(_dumped(value))
        case list():
            return _total((_size(item, limit) + 1 for item in cast("list[Any]", value)), limit)
        case dict():
            fields = cast("dict[str, Any]", value).items()
            return _total((_size(key, limit) + _size(item, limit) + 2 for key, item in fields), limit)
        case _:
            return len(_dumped(value))


def _total(sizes: Iterable[int], limit: int) -> int:
    """Characters of a container whose items, each with its comma, have these sizes."""
    total = 1
    for size in sizes:
        total += size
        if total > limit + 1:
            return total
    return max(total, 2)


def _fitted(value: Any, room: int) -> Any:
    if _size(value, room) <= room:
        return value
    match value:
        case list() if room >= _NOTE:
            return _list(cast("list[Any]", value), room)
        case dict() if room >= _NOTE:
            return _object(cast("dict[str, Any]", value), room)
        case list() | dict():
            return _ELLIPSIS
        case _:
            return _text(value if isinstance(value, str) else str(value), room)


def _text(text: str, room: int) -> str:
    """The start and the end of `text` in `room` characters of JSON; escapes count."""
    low, high = 0, min(room, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(_dumped(_cut(text, middle))) <= room else (low, middle - 1)
    return _cut(text, low)


def _cut(text: str, max_chars: int) -> str:
    return cut_text(text, max_chars) if max_chars > _NOTE else text[: max(max_chars - 1, 0)] + _ELLIPSIS


def _list(items: list[Any], room: int) -> list[Any]:
    first, last = _ends(items, room, _item_cost)
    ends = [*items[:first], *items[len(items) - last :]]
    fitted = _levelled(ends, room - _NOTE - len(ends))
    cut = len(items) - len(ends)
    return [*fitted[:first], f"[... {cut:,} items cut ...]", *fitted[first:]] if cut else fitted


def _object(value: dict[str, Any], room: int) -> dict[str, Any]:
    fields = list(value.items())
    first, last = _ends(fields, room, _field_cost)
    ends = [*fields[:first], *fields[len(fields) - last :]]
    keys = sum(_size(key, room) + 2 for key, _ in ends)
    items = _levelled([item for _, item in ends], room - _NOTE - keys)
    fitted = [(key, item) for (key, _), item in zip(ends, items, strict=True)]
    cut = len(fields) - len(ends)
    note = [(_free_key(value), f"[... {cut:,} keys cut ...]")] if cut else []
    return dict([*fitted[:first], *note, *fitted[first:]])


def _free_key(value: dict[str, Any]) -> str:
    key = "[...]"
    while key in value:
        key += "."
    return key


def _item_cost(item: Any, share: int) -> int:
    return min(_size(item, share), share) + 1


def _field_cost(field: tuple[str, Any], share: int) -> int:
    return _size(field[0], 8 * share) + 1 + _item_cost(field[1], share)


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


def _levelled(items: Sequence[Any], room: int) -> list[Any]:
    """The items in `room` characters together; the largest are cut, to one size."""
    cap = level([_size(item, room) for item in items], max(room, 0))
    return [_fitted(item, max(cap, 3)) for item in items]


def _with_all_keys(value: dict[str, Any], max_chars: int) -> dict[str, Any]:
    keys = 2 + sum(_size(key, max_chars) + 2 for key in value)
    return dict(zip(value, _levelled(list(value.values()), max_chars - keys), strict=True))
