"""The `tools` of a Gemini body: functions of ours, in groups, and tools that the provider runs.

    {"functionDeclarations": [a, b], "googleSearch": {}}     ToolSpecs a, b and googleSearch, the last one kept whole

Schemas under `parametersJsonSchema` are JSON schemas, and how ours are written. Those under `parameters` are OpenAPI's,
whose types may be in capitals: we read them in small letters, which every other provider wants.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from aaa.errors import WireError
from aaa.messages import ToolSpec
from aaa.wire.gemini.names import camel, snake
from aaa.wire.gemini.notes import FORMAT, own_note
from aaa.wire.gemini.schemas import lowered, raised
from aaa.wire.lossless import Fields, compact, difference, errors_at, mapping, native, with_native

__all__ = ["tools_from", "tools_to"]

_DECLARED, _SCHEMA = "functionDeclarations", "parametersJsonSchema"


def tools_from(tools: Any) -> tuple[ToolSpec, ...]:
    """Read the tools of a body; the API takes one that stands alone for a list of one.

    Raises:
        WireError: naming the index of the tool that is none.
    """
    is_alone = isinstance(tools, Mapping)
    if not is_alone and not isinstance(tools, list | tuple):
        raise WireError(f"tools must be a list, not {type(tools).__name__}")
    specs: list[ToolSpec] = []
    for index, tool in enumerate([tools] if is_alone else cast("list[Any]", tools)):
        with errors_at(index, "tool"):
            specs += _specs_from(mapping(tool, "a tool"), {_key_of(spec) for spec in specs}, is_alone)
    return tuple(specs)


def tools_to(specs: Sequence[ToolSpec]) -> list[Fields] | Fields:
    """Write tools; what another provider runs is left out."""
    tools: list[Fields] = []
    for spec in specs:
        note = native(spec.extra, FORMAT)
        if "tool" in note:
            if tools and note.get("place") == "joined":
                tools[-1].update(note["tool"])
            else:
                tools.append(note["tool"])
        elif not _is_run_elsewhere(spec):
            _declare(tools, spec, note)
    is_alone = any(native(spec.extra, FORMAT).get("alone") for spec in specs)
    return tools[0] if is_alone and len(tools) == 1 else tools


def _specs_from(tool: Mapping[str, Any], known: set[str | None], is_alone: bool) -> list[ToolSpec]:
    """The specs of one tool; `known` are the keys under which functions were declared before."""
    fields, names = camel(tool)
    declared: Any = fields.get(_DECLARED)
    if not isinstance(declared, list | tuple) or not declared:
        return [_whole(dict(tool), {"alone": is_alone})]
    key = next(iter(snake({_DECLARED: None}, names)))
    specs = [
        _spec_from(
            mapping(declaration, "a function declaration"),
            {"alone": is_alone, "key": key, "place": "own" if place == 0 and key in known else None},
        )
        for place, declaration in enumerate(cast("list[Any]", declared))
    ]
    rest = {name: value for name, value in tool.items() if name != key}
    return [*specs, _whole(rest, {"alone": is_alone, "place": "joined"})] if rest else specs


def _spec_from(declaration: Mapping[str, Any], note: Fields) -> ToolSpec:
    fields, names = camel(declaration)
    name, description = fields.get("name"), fields.get("description")
    if not isinstance(name, str) or not name:
        raise WireError("a function declaration needs a name (a non-empty string)")
    schema_key = next((key for key in (_SCHEMA, "parameters") if isinstance(fields.get(key), Mapping)), _SCHEMA)
    given: Fields = dict(fields.get(schema_key) or {})
    schema = lowered(given) if schema_key == "parameters" else given
    is_raised = schema != given and raised(schema) == given
    known = {"name", *([schema_key] if given else ()), *(["description"] if isinstance(description, str) else ())}
    note |= {
        "declared": {key: value for key, value in fields.items() if key not in known},
        "schema": schema_key if given and schema_key != _SCHEMA else None,
        "raised": is_raised,
        "names": names,
        "described": description == "",
    }
    text = description if isinstance(description, str) else ""
    return ToolSpec(name, text, compact(schema if is_raised else given, allow_nan=False), own_note(note))


def _declare(tools: list[Fields], spec: ToolSpec, note: Fields) -> None:
    """Functions are declared together, unless noted."""
    key = _key_of(spec) or _DECLARED
    group = next((tool for tool in reversed(tools) if tool.get(key)), None)
    if group is None or note.get("place") == "own":
        group: Fields | None = {key: []}
        tools.append(group)
    group[key].append(_declaration(spec, note))


def _declaration(spec: ToolSpec, note: Fields) -> Fields:
    fields: Fields = {"name": spec.name}
    if spec.description or note.get("described"):
        fields["description"] = spec.description
    if schema := spec.parameters:
        fields[note.get("schema", _SCHEMA)] = raised(schema) if note.get("raised") else schema
    return snake(note.get("declared", {}) | fields, note.get("names", ()))


def _whole(tool: Fields, note: Fields) -> ToolSpec:
    """A tool that the provider runs; it is named as it is called there. Its type says to others what it is."""
    name = next(iter(tool), "tool") or "tool"
    other = difference({"type": name}, {"type": "function", "function": None})
    kept = {key: value for key, value in note.items() if value} | {"tool": tool}
    return ToolSpec(name, extra=with_native(other, FORMAT, kept))


def _key_of(spec: ToolSpec) -> str | None:
    """The key under which a function was declared; None if it was not read from this format."""
    return native(spec.extra, FORMAT).get("key")


def _is_run_elsewhere(spec: ToolSpec) -> bool:
    """Whether it was read from OpenAI's chat format as something else than a function."""
    return bool(spec.extra) and json.loads(spec.extra).get("type", "function") not in ("function", "custom")
