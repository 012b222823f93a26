"""The `tools` of Anthropic's format: functions of ours, and tools that the provider runs or defines itself.

The latter ("web_search_20250305", "memory_20250818", a toolset) have a type, often no schema, at times not even a
name; all of it is kept.
"""

import json
from collections.abc import Sequence
from typing import Any, cast

from msgspec.structs import replace

from aaa.errors import WireError
from aaa.messages import ToolSpec
from aaa.wire.anthropic.hints import hints_of, laid_over, unwritten, with_hints
from aaa.wire.lossless import Fields, compact, errors_at, mapping

__all__ = ["tool_from_fields", "tools_from_body", "tools_from_specs"]


def tools_from_body(tools: Any) -> list[ToolSpec]:
    """Read the `tools` of a body.

    Raises:
        WireError: naming the index of the tool that is none.
    """
    if not isinstance(tools, list | tuple):
        raise WireError(f"tools must be a list, not {type(tools).__name__}")
    return [tool_from_fields(tool, index=index) for index, tool in enumerate(cast("Sequence[Any]", tools))]


def tool_from_fields(tool: Any, *, index: int | None = None) -> ToolSpec:
    """Read one tool; `index` is only for the error. A tool without a name has its type for one.

    Raises:
        WireError: no object, neither name nor type, or a schema that is no object.
    """
    with errors_at(index, "tool"):
        fields = mapping(tool, "a tool")
        name = fields.get("name", fields.get("type"))
        if not isinstance(name, str) or not name:
            raise WireError("a tool needs a name (a non-empty string)")
        schema = mapping(fields.get("input_schema", {}), "the input_schema of a tool")
        spec = ToolSpec(name, str(fields.get("description") or ""), compact(schema, allow_nan=False))
        hints: Fields = {} if "type" in schema else {"schema": "bare" if "input_schema" in fields else "none"}
        hints |= unwritten(fields, _fields(spec), "input_schema")
        return replace(spec, extra=with_hints("", hints))


def tools_from_specs(specs: Sequence[ToolSpec]) -> list[Fields]:
    """The `tools` of a body; what another provider runs is left out."""
    with_theirs = ((spec, hints_of(spec.extra)) for spec in specs if not _is_run_elsewhere(spec))
    return [laid_over(_fields(spec) | _schema(spec, hints), hints) for spec, hints in with_theirs]


def _fields(spec: ToolSpec) -> Fields:
    return {"name": spec.name} | ({"description": spec.description} if spec.description else {})


def _schema(spec: ToolSpec, hints: Fields) -> Fields:
    """A schema must say that it is one of an object ("input_schema.type: Field required"); the hint `schema` says
    that one did not ("bare"), or that there was none."""
    schema, as_read = spec.parameters, hints.get("schema")
    if as_read == "none" and not schema:
        return {}
    return {"input_schema": schema if "type" in schema or as_read == "bare" else {"type": "object"} | schema}


def _is_run_elsewhere(spec: ToolSpec) -> bool:
    """Whether it was read from OpenAI's chat format as something else than a function."""
    return bool(spec.extra) and json.loads(spec.extra).get("type", "function") not in ("function", "custom")
