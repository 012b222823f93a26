"""How many characters a value takes as JSON, without writing it."""

import json
from collections.abc import Iterable
from typing import Any, cast

__all__ = ["JsonSizes", "dumped"]

dumped = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode  # made once: `json.dumps` makes one a call


class JsonSizes:
    """Sizes of a value and of what is in it. Containers are remembered: many lengths are tried of one value.

    What is measured must stay as it is, and alive, for as long as its sizes are asked for.
    """

    def __init__(self) -> None:
        self._exact: dict[int, int] = {}
        self._at_least: dict[int, int] = {}

    def size(self, value: Any, limit: int) -> int:
        """Characters of `value`, or any number above `limit` if there are more. Cost: O(limit), once."""
        match value:
            case str():
                return len(value) + 2 if len(value) > limit else len(dumped(value))
            case list() | dict():
                return self._container(cast("list[Any] | dict[str, Any]", value), limit)
            case _:
                return len(dumped(value))

    def _container(self, value: list[Any] | dict[str, Any], limit: int) -> int:
        key = id(value)
        exact = self._exact.get(key)
        if exact is not None:
            return exact
        at_least = self._at_least.get(key, 0)
        if at_least > limit:
            return at_least
        total = _total(self._parts(value, limit), limit)
        (self._exact if total <= limit else self._at_least)[key] = total
        return total

    def _parts(self, value: list[Any] | dict[str, Any], limit: int) -> Iterable[int]:
        if isinstance(value, list):
            return (self.size(item, limit) + 1 for item in value)
        return (self.size(key, limit) + self.size(item, limit) + 2 for key, item in value.items())


def _total(sizes: Iterable[int], limit: int) -> int:
    """Characters of a container whose items, each with its comma, have these sizes."""
    total = 1
    for size in sizes:
        total += size
        if total > limit + 1:
            return total
    return max(total, 2)
