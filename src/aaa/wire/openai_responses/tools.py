"""Tools of OpenAI's Responses format.

    {"type": "function", "name", "description", "parameters", "strict"}  ◀──▶  ToolSpec
    a custom one, or one the provider runs    ◀──▶  ToolSpec, as the chat format has it: all of it in the extra

A function is strict here unless it says otherwise and lenient in the chat format, so one that does not say is written
as `"strict": false` (OpenAI's migration guide, 2025).
"""

from collections.abc import Mapping
from typing import Any, cast

from msgspec.structs import replace

from aaa.errors import WireError
from aaa.messages import ToolSpec
from aaa.wire.lossless import Fields, compact, errors_at, mapping
from aaa.wire.openai_chat import tool_from_dict, tool_to_dict
from aaa.wire.openai_responses.notes import laid_over, noted, notes_of, with_notes

__all__ = ["tool_from_item", "tool_to_item"]


def tool_from_item(item: Mapping[str, Any], *, index: int | None = None) -> ToolSpec:
    """Read a tool; one that the provider runs has its type for a name.

    Raises:
        WireError: no object, no name, or parameters that are no object.
    """
    with errors_at(index, "tool"):
        fields = mapping(item, "a tool")
        match fields.get("type", "function"):
            case "function":
                return _function_from(fields)
            case "custom":
                return tool_from_dict({"type": "custom", "custom": _nested(fields)})
            case _:
                spec = tool_from_dict(fields)
                return replace(spec, extra=with_notes(spec.extra, {"hosted": True}))


def tool_to_item(spec: ToolSpec) -> Fields:
    """Write a tool."""
    given = tool_to_dict(spec)
    match given.get("type", "function"):
        case "function":
            inner = given.get("function")
            strict = mapping(inner, "a function").get("strict") if inner else given.get("strict")
            return laid_over(_function_to(spec, is_strict=strict is True), notes_of(spec.extra).get("tool"))
        case "custom" if isinstance(given.get("custom"), Mapping):
            return {"type": "custom", **_flat(given["custom"])}
        case _:
            return given


def _function_from(fields: Mapping[str, Any]) -> ToolSpec:
    name, parameters = fields.get("name"), mapping(fields.get("parameters") or {}, "the parameters of a tool")
    if not isinstance(name, str) or not name:
        raise WireError("a tool needs a name (a non-empty string)")
    spec = ToolSpec(name, str(fields.get("description") or ""), compact(parameters, allow_nan=False))
    return replace(spec, extra=with_notes("", noted("tool", fields, written=_function_to(spec, is_strict=False))))


def _function_to(spec: ToolSpec, *, is_strict: bool) -> Fields:
    description = {"description": spec.description} if spec.description else {}
    return {"type": "function", "name": spec.name, **description, "parameters": spec.parameters, "strict": is_strict}


def _nested(fields: Mapping[str, Any]) -> Fields:
    """What stands in the chat format's `custom`, which has the grammar of a format in an object of its own."""
    custom = {key: value for key, value in fields.items() if key != "type"}
    if (form := _grammar_of(custom)) is not None:
        custom["format"] = {"type": "grammar", "grammar": {key: form[key] for key in form if key != "type"}}
    return custom


def _flat(custom: Mapping[str, Any]) -> Fields:
    """`_nested`, undone."""
    form = _grammar_of(custom)
    if form is not None and isinstance(form.get("grammar"), Mapping):
        return {**custom, "format": {"type": "grammar", **form["grammar"]}}
    return {**custom}


def _grammar_of(custom: Mapping[str, Any]) -> Mapping[str, Any] | None:
    form: Any = custom.get("format")
    fields = cast("Mapping[str, Any]", form) if isinstance(form, Mapping) else None
    return fields if fields is not None and fields.get("type") == "grammar" else None
