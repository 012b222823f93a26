"""OpenAI's Chat Completions format, which most servers speak.

    dict ── message_from_dict ──▶ Message ── message_to_dict ──▶ the same dict

Lossless both ways: what a `Message` has no field for, and what it would write differently (an explicit null, arguments
given as an object), is kept in `extra` and laid over the result. Source: the OpenAI API reference, "Create chat
completion", and recorded bodies of compatible servers.
"""

import json
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, cast

from msgspec.structs import replace

from aaa.errors import WireError
from aaa.messages import Message, OpaquePart, Part, TextPart, ToolCall, ToolSpec

__all__ = ["message_from_dict", "message_to_dict", "messages_from_dicts", "tool_from_dict", "tool_to_dict"]

Fields = dict[str, Any]
_ABSENT = "aaa:absent"  # in `extra`: the list of keys that we would write and the original does not have


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
    with _errors_at(index, "message"):
        fields = _mapping(fields, "a message")
        role = fields.get("role")
        if not isinstance(role, str) or not role:
            raise WireError("a message needs a role (a non-empty string)")
        message = Message(
            role,
            _content_from(fields.get("content")),
            _calls_from(fields.get("tool_calls")),
            _optional_string(fields.get("tool_call_id")),
            _optional_string(fields.get("name")),
        )
        extra = _difference(fields, message_to_dict(message))
        return replace(message, extra=extra) if extra else message


def message_to_dict(message: Message) -> Fields:
    """Write one message as the provider's dict; absent fields are left out."""
    fields: Fields = {"role": message.role}
    if isinstance(message.content, str):
        fields["content"] = message.content
    elif message.content is not None:
        fields["content"] = [_part_to_dict(part) for part in message.content]
    if message.tool_calls:
        fields["tool_calls"] = [_call_to_dict(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    if message.name is not None:
        fields["name"] = message.name
    return _overlay(fields, message.extra)


def tool_from_dict(fields: Mapping[str, Any], *, index: int | None = None) -> ToolSpec:
    """Read a tool specification, wrapped in `{"type": "function", "function": …}` or bare.

    A tool that the provider runs has no function: its type is its name, and all of it is kept.

    Raises:
        WireError: no object, no name, or parameters that are no object.
    """
    with _errors_at(index, "tool"):
        fields = _mapping(fields, "a tool")
        inner = _mapping(fields.get("function") or fields.get("custom") or fields, "the function of a tool")
        name = inner.get("name") or (fields.get("type") if fields.get("type") != "function" else None)
        if not isinstance(name, str) or not name:
            raise WireError("a tool needs a name (a non-empty string)")
        parameters = _mapping(inner.get("parameters") or {}, "the parameters of a tool")
        spec = ToolSpec(name, str(inner.get("description") or ""), _compact(parameters, allow_nan=False))
        return replace(spec, extra=_difference(fields, tool_to_dict(spec)))


def tool_to_dict(spec: ToolSpec) -> Fields:
    """Write a tool specification as the provider's dict, in the shape it was read in."""
    function: Fields = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return _overlay({"type": "function", "function": function}, spec.extra)


def _content_from(value: Any) -> str | tuple[Part, ...] | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return tuple(_part_from(part) for part in cast("list[Any]", value))
    raise WireError(f"content must be a string, a list of parts or null, not {type(value).__name__}")


def _part_from(part: Any) -> Part:
    part = _mapping(part, "a content part")
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return TextPart(part["text"], _difference(part, {"type": "text", "text": part["text"]}))
    return OpaquePart(str(part.get("type", "")), _compact(part))


def _part_to_dict(part: Part) -> Fields:
    if isinstance(part, OpaquePart):
        return json.loads(part.json)
    return _overlay({"type": "text", "text": part.text}, part.extra)


def _calls_from(value: Any) -> tuple[ToolCall, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise WireError(f"tool_calls must be a list or null, not {type(value).__name__}")
    return tuple(_call_from(call) for call in cast("list[Any]", value))


def _call_from(fields: Any) -> ToolCall:
    fields = _mapping(fields, "a tool call")
    inner = _mapping(fields.get("function") or fields.get("custom") or {}, "the function of a tool call")
    arguments: Any = inner.get("arguments", inner.get("input", ""))
    text = arguments if isinstance(arguments, str) else _compact(arguments)
    call = ToolCall(_optional_string(fields.get("id")) or "", _optional_string(inner.get("name")) or "", text)
    return replace(call, extra=_difference(fields, _call_to_dict(call)))


def _call_to_dict(call: ToolCall) -> Fields:
    function = {"name": call.name, "arguments": call.arguments_json}
    return _overlay({"id": call.id, "type": "function", "function": function}, call.extra)


def _difference(given: Mapping[str, Any], written: Fields) -> str:
    """What must be laid over `written` to get `given`, as JSON text; "" if nothing."""
    if _ABSENT in given:
        raise WireError(f"the key {_ABSENT!r} is reserved")
    over = {key: given[key] for key in sorted(given) if key not in written or written[key] != given[key]}
    if absent := [key for key in written if key not in given]:
        over[_ABSENT] = absent
    return _compact(over) if over else ""  # sorted: one text, whatever order the keys came in


def _overlay(fields: Fields, extra: str) -> Fields:
    if extra:
        over = json.loads(extra)
        for key in over.pop(_ABSENT, ()):
            fields.pop(key, None)
        fields.update(over)
    return fields


def _compact(value: Any, *, allow_nan: bool = True, sort_keys: bool = False) -> str:
    return json.dumps(
        value,
        separators=(",", ":"),
        ensure_ascii=False,
        default=_dump,
        allow_nan=allow_nan,
        sort_keys=sort_keys,
    )


def _dump(value: Any) -> Any:
    """SDK objects (pydantic models) inside plain dicts, as in a reply's `message.tool_calls`."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_unset=True)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _optional_string(value: Any) -> str | None:
    """Ids and names of a wrong type are read as their JSON text; `extra` keeps what they were."""
    return value if value is None or isinstance(value, str) else _compact(value, sort_keys=True)


@contextmanager
def _errors_at(index: int | None, item: str) -> Generator[None, None, None]:
    """Every failure to read becomes a `WireError` that says where."""
    try:
        yield
    except WireError as error:
        raise WireError(error.problem, index=index, item=item) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"a value is not JSON: {error}", index=index, item=item) from error


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    if hasattr(value, "model_dump"):
        return _dump(value)
    raise WireError(f"{what} must be an object, not {type(value).__name__}")
