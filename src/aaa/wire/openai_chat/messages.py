"""OpenAI's Chat Completions format, which most servers speak.

    dict ── message_from_dict ──▶ Message ── message_to_dict ──▶ the same dict

Lossless both ways: what a `Message` has no field for, and what it would write differently (an explicit null, arguments
given as an object), is kept in `extra` and laid over the result. Parts of other formats are written as what they show
(`aaa.wire.openai_chat.media`), or left out. Requests and replies: `aaa.wire.openai_chat.bodies`. Source: the OpenAI
API reference, "Create chat completion", and recorded bodies of compatible servers.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from msgspec.structs import replace

from aaa.errors import WireError
from aaa.messages import Message, OpaquePart, Part, TextPart, ToolCall, ToolSpec
from aaa.wire.lossless import Fields, compact, difference, errors_at, mapping, overlay, string_of
from aaa.wire.openai_chat.media import part_of_media

__all__ = [
    "call_from_dict",
    "message_from_dict",
    "message_to_dict",
    "messages_from_dicts",
    "tool_from_dict",
    "tool_to_dict",
]


def messages_from_dicts(dicts: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Read a list of messages.

    Raises:
        WireError: naming the index of the message that is not one.
    """
    return [message_from_dict(fields, index=index) for index, fields in enumerate(dicts)]


def message_from_dict(fields: Mapping[str, Any], *, index: int | None = None) -> Message:
    """Read one message; `index` is only for the error.

    Raises:
        WireError: no object, no role, content or calls of a wrong type, or a value that is not JSON.
    """
    with errors_at(index, "message"):
        fields = mapping(fields, "a message")
        role = fields.get("role")
        if not isinstance(role, str) or not role:
            raise WireError("a message needs a role (a non-empty string)")
        message = Message(
            role,
            _content_from(fields.get("content")),
            _calls_from(fields.get("tool_calls")),
            string_of(fields.get("tool_call_id")),
            string_of(fields.get("name")),
        )
        extra = difference(fields, message_to_dict(message))
        return replace(message, extra=extra) if extra else message


def message_to_dict(message: Message) -> Fields:
    """Write one message as the provider's dict; absent fields are left out."""
    fields: Fields = {"role": message.role}
    content = _content_to(message)
    if content is not None:
        fields["content"] = content
    if message.tool_calls:
        fields["tool_calls"] = [_call_to_dict(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    if message.name is not None:
        fields["name"] = message.name
    return overlay(fields, message.extra)


def call_from_dict(fields: Mapping[str, Any]) -> ToolCall:
    """Read one entry of `tool_calls`.

    Raises:
        WireError: no object, or a function that is none.
    """
    return _call_from(fields)


def tool_from_dict(fields: Mapping[str, Any], *, index: int | None = None) -> ToolSpec:
    """Read a tool specification, wrapped in `{"type": "function", "function": …}` or bare.

    A tool that the provider runs has no function: its type is its name, and all of it is kept.

    Raises:
        WireError: no object, no name, or parameters that are no object.
    """
    with errors_at(index, "tool"):
        fields = mapping(fields, "a tool")
        inner = mapping(fields.get("function") or fields.get("custom") or fields, "the function of a tool")
        name = inner.get("name") or (fields.get("type") if fields.get("type") != "function" else None)
        if not isinstance(name, str) or not name:
            raise WireError("a tool needs a name (a non-empty string)")
        parameters = mapping(inner.get("parameters") or {}, "the parameters of a tool")
        spec = ToolSpec(name, str(inner.get("description") or ""), compact(parameters, allow_nan=False))
        return replace(spec, extra=difference(fields, tool_to_dict(spec)))


def tool_to_dict(spec: ToolSpec) -> Fields:
    """Write a tool specification as the provider's dict, in the shape it was read in."""
    function: Fields = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return overlay({"type": "function", "function": function}, spec.extra)


def _content_from(value: Any) -> str | tuple[Part, ...] | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return tuple(_part_from(part) for part in cast("list[Any]", value))
    raise WireError(f"content must be a string, a list of parts or null, not {type(value).__name__}")


def _part_from(part: Any) -> Part:
    part = mapping(part, "a content part")
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return TextPart(part["text"], difference(part, {"type": "text", "text": part["text"]}))
    if part.get("type") == "text" and part.get("text", "") is None:
        return TextPart("", difference(part, {"type": "text", "text": ""}))
    return OpaquePart(str(part.get("type", "")), compact(part))


def _content_to(message: Message) -> str | list[Fields] | None:
    if message.content is None or isinstance(message.content, str):
        return message.content
    written = [fields for part in message.content if (fields := _part_to_dict(part, message.role)) is not None]
    if written or not message.content:
        return written
    return None if message.tool_calls else ""  # a list of no parts is refused, and so is no content without calls


def _part_to_dict(part: Part, role: str) -> Fields | None:
    if isinstance(part, TextPart):
        fields = overlay({"type": "text", "text": part.text}, part.extra)
        return fields | {"text": part.text} if part.text else fields  # a null counts only while there is no text
    return part_of_media(part, role) if part.format else json.loads(part.json)


def _calls_from(value: Any) -> tuple[ToolCall, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise WireError(f"tool_calls must be a list or null, not {type(value).__name__}")
    return tuple(_call_from(call) for call in cast("list[Any]", value))


def _call_from(fields: Any) -> ToolCall:
    fields = mapping(fields, "a tool call")
    inner = mapping(fields.get("function") or fields.get("custom") or {}, "the function of a tool call")
    arguments: Any = inner.get("arguments", inner.get("input", ""))
    text = arguments if isinstance(arguments, str) else compact(arguments)
    call = ToolCall(string_of(fields.get("id")) or "", string_of(inner.get("name")) or "", text)
    return replace(call, extra=difference(fields, _call_to_dict(call)))


def _call_to_dict(call: ToolCall) -> Fields:
    function = {"name": call.name, "arguments": call.arguments_json}
    return overlay({"id": call.id, "type": "function", "function": function}, call.extra)
