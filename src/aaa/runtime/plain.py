"""Values as a log holds them: JSON, nothing else, so that a live value and a replayed one are the same.

Tuples become lists, keys strings, lone surrogates are escaped (UTF-8 has no bytes for them), structs and models their
fields. What JSON cannot hold is refused, not changed: NaN and infinity too.
"""

import math
from collections.abc import Mapping
from typing import Any, cast

import msgspec

__all__ = ["plain"]


def plain(value: object) -> Any:
    """`value` as JSON data; scalars that are JSON already come back as they are.

    Raises:
        TypeError, ValueError: a part of it is not JSON.
    """
    match value:
        case None | bool() | int():
            return value
        case str():
            return _escaped(value)
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} is not JSON")
            return value
        case list() | tuple():
            return [plain(item) for item in cast("list[object]", value)]
        case Mapping():
            return {_key(key): plain(item) for key, item in cast("Mapping[object, object]", value).items()}
        case _:
            return plain(_fields(value))


def _escaped(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def _key(key: object) -> str:
    if isinstance(key, str):
        return _escaped(key)
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    raise TypeError(f"a key of type {type(key).__name__} is not JSON")


def _fields(value: object) -> object:
    """The data of a struct, dataclass, enum, date or model."""
    if hasattr(value, "model_dump"):
        return cast("Any", value).model_dump(mode="json")
    fields = msgspec.to_builtins(value)
    if type(fields) is type(value):
        raise TypeError(f"{type(value).__name__} is not JSON")
    return fields
