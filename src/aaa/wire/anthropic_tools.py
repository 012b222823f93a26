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
from aaa.wire.anthropic_hints import hints_of, laid_over, unwritten, with_hints
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
        schema = mapping(fields.get("input_schema") or {}, "the input_schema of a tool")
        description = fields.get("description") or ""
        spec = ToolSpec(name, str(description), compact(schema, allow_nan=False))
        return replace(spec, extra=with_hints("", unwritten(fields, _fields(spec))))


def tools_from_specs(specs: Sequence[ToolSpec]) -> list[Fields]:
    """The `tools` of a body; what another provider runs is left out."""
    return [laid_over(_fields(spec), hints_of(spec.extra)) for spec in specs if not _is_run_elsewhere(spec)]


def _fields(spec: ToolSpec) -> Fields:
    """A schema must say that it is one of an object ("input_schema.type: Field required")."""
    schema = spec.parameters
    fields: Fields = {"name": spec.name, "input_schema": schema if "type" in schema else {"type": "object"} | schema}
    if spec.description:
        fields["description"] = spec.description
    return fields


def _is_run_elsewhere(spec: ToolSpec) -> bool:
    """Whether it was read from OpenAI's chat format as something else than a function."""
    return bool(spec.extra) and json.loads(spec.extra).get("type", "function") not in ("function", "custom")
