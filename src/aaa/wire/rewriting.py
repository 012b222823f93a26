"""Giving calls and results another id, name or arguments.

`extra` may hold the field once more, as it was read (see `aaa.wire.lossless`); it would be laid over the new one.
"""

import json
from typing import Any, cast

from msgspec.structs import replace

from aaa.messages import Message, Part, ToolCall
from aaa.wire.lossless import Fields, compact

__all__ = ["with_arguments", "with_call_id", "with_call_name", "with_parts", "with_result_id", "with_result_name"]


def with_call_id(call: ToolCall, call_id: str) -> ToolCall:
    """The call under another id."""
    return replace(call, id=call_id, extra=_without(call.extra, "id"))


def with_call_name(call: ToolCall, name: str) -> ToolCall:
    """The call of a tool by another name."""
    return replace(call, name=name, extra=_with_inner(call.extra, name=name))


def with_arguments(call: ToolCall, arguments_json: str) -> ToolCall:
    """The call with other arguments."""
    return replace(call, arguments_json=arguments_json, extra=_with_inner(call.extra, arguments=arguments_json))


def with_result_id(message: Message, call_id: str) -> Message:
    """The result as that of a call of another id."""
    return replace(message, tool_call_id=call_id, extra=_without(message.extra, "tool_call_id"))


def with_result_name(message: Message, name: str | None) -> Message:
    """The result as that of a tool by another name."""
    return replace(message, name=name, extra=_without(message.extra, "name"))


def with_parts(message: Message, parts: tuple[Part, ...]) -> Message | None:
    """The message with these parts only; None if that leaves nothing, not even a call."""
    if not parts and not message.tool_calls:
        return None
    return replace(message, content=parts or None, extra=_without(message.extra, "content"))


def _without(extra: str, key: str) -> str:
    if f'"{key}"' not in extra:
        return extra
    fields: Fields = json.loads(extra)
    fields.pop(key, None)
    return compact(fields, sort_keys=True) if fields else ""


def _with_inner(extra: str, **values: str) -> str:
    if '"function"' not in extra and '"custom"' not in extra:
        return extra
    fields: Fields = json.loads(extra)
    for key in ("function", "custom"):
        inner: Any = fields.get(key)
        if isinstance(inner, dict):
            fields[key] = _updated(cast("Fields", inner), values)
    return compact(fields, sort_keys=True)


def _updated(inner: Fields, values: dict[str, str]) -> Fields:
    aliases = {"arguments": "input" if "input" in inner else "arguments"}
    return inner | {aliases.get(key, key): value for key, value in values.items()}
