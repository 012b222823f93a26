"""The types of an OpenAPI schema, which Gemini's clients write in capitals: "OBJECT" for "object"."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from aaa.wire.lossless import Fields

__all__ = ["lowered", "raised"]

_TYPES = ("object", "string", "number", "integer", "boolean", "array", "null")
_NAMED = ("properties", "$defs", "definitions", "defs")  # objects of schemas by the user's names
_INSIDE = ("items", "additionalProperties", "not", "anyOf", "oneOf", "allOf", "prefixItems")


def lowered(schema: Mapping[str, Any]) -> Fields:
    """The schema with its types in small letters."""
    return _with_types(schema, str.lower)


def raised(schema: Mapping[str, Any]) -> Fields:
    """The schema with its types in capitals."""
    return _with_types(schema, str.upper)


def _with_types(schema: Any, change: Callable[[str], str]) -> Any:
    if isinstance(schema, list):
        return [_with_types(item, change) for item in cast("list[Any]", schema)]
    if not isinstance(schema, Mapping):
        return schema
    return {key: _value(key, value, change) for key, value in cast("Mapping[str, Any]", schema).items()}


def _value(key: str, value: Any, change: Callable[[str], str]) -> Any:
    if key == "type" and isinstance(value, str) and value.lower() in _TYPES:
        return change(value)
    if key in _NAMED and isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        return {name: _with_types(item, change) for name, item in named.items()}
    return _with_types(value, change) if key in _INSIDE else value
