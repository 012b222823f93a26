"""Gemini's contents as messages.

    {"role": "model", "parts": [text, call, call]}     one assistant message
    {"role": "user", "parts": [response, response]}    a tool message each
    {"role": "user", "parts": [text, image]}           one user message
    {"parts": [text]} as `systemInstruction`           one system message

What is noted beside them is in `aaa.wire.gemini.writing`, which follows it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from aaa.errors import WireError
from aaa.messages import Message, Part, TextPart, ToolCall
from aaa.wire.gemini.names import camel
from aaa.wire.gemini.notes import FORMAT, noted, own_note
from aaa.wire.gemini.parts import call_from, is_call, part_from
from aaa.wire.gemini.results import result_from
from aaa.wire.gemini.turns import with_layout
from aaa.wire.lossless import Fields, errors_at, mapping
from aaa.wire.made_ids import CallIds, call_answered_by, id_of_result

__all__ = ["contents_from", "reply_from", "system_from"]


class _Given(NamedTuple):
    """A part in the spelling we know, the names that were not in it, and the part as it came."""

    fields: Fields
    names: list[str]
    original: Mapping[str, Any]


class _Read(NamedTuple):
    """A message, and the id it came with if it is a result."""

    message: Message
    given_id: str | None = None


def contents_from(contents: Any) -> list[Message]:
    """Read the contents of a body.

    Raises:
        WireError: naming the index of the content that is none.
    """
    if not isinstance(contents, list | tuple):
        raise WireError(f"contents must be a list, not {type(contents).__name__}")
    read: list[_Read] = []
    groups: list[list[int]] = []
    ids = CallIds()
    for index, content in enumerate(cast("list[Any]", contents)):
        with errors_at(index, "content"):
            found = _messages_from(mapping(content, "a content"), ids)
        groups.append(list(range(len(read), len(read) + len(found))))
        read += found
    return with_layout(_with_ids(read), groups)


def reply_from(content: Any, stem: str) -> Message:
    """Read the content of a reply; `stem` tells its calls from those of other replies."""
    parts, _ = _parts_of(mapping(content or {}, "the content of a candidate"))
    message = _model_message(parts, CallIds(stem))
    return message if message.tool_calls or message.content is not None else replace(message, content="")


def system_from(content: Any) -> Message:
    """Read a `systemInstruction`."""
    fields = mapping(content, "systemInstruction")
    parts, shape = _parts_of(fields)
    return _with_content(_message("system", [part_from(*part) for part in parts]), fields, {"role": "user"}, shape)


def _messages_from(content: Mapping[str, Any], ids: CallIds) -> list[_Read]:
    parts, shape = _parts_of(content)
    if content.get("role") == "model":
        message = _model_message(parts, ids)
        return [_Read(_with_content(message, content, {"role": "model"}, shape))]
    ids.end_turn()
    first, *others = _user_messages(parts, ids)
    message = _with_content(first.message, content, {"role": "user"}, shape)
    return [first._replace(message=message), *others]


def _model_message(parts: Sequence[_Given], ids: CallIds) -> Message:
    read: list[tuple[Part, list[str]]] = []
    calls: list[ToolCall] = []
    places: list[int] = []
    for place, part in enumerate(parts):
        if is_call(part.fields):
            calls.append(call_from(part.fields, part.names, ids))
            places.append(place)
        else:
            read.append(part_from(*part))
    message = _message("assistant", read, calls)
    is_usual = places == list(range(len(read), len(parts)))
    return message if is_usual else noted(message, calls=places)


def _user_messages(parts: Sequence[_Given], ids: CallIds) -> list[_Read]:
    """Results, and what else stands between them."""
    found: list[_Read] = []
    said: list[tuple[Part, list[str]]] = []
    for part in parts:
        result = result_from(part.fields, part.names)
        if result is None:
            said.append(part_from(*part))
            continue
        if said:
            found.append(_Read(_message("user", said)))
            said = []
        message, given_id = result
        found.append(_Read(replace(message, tool_call_id=ids.answered(message.name, given_id)), given_id))
    if said or not found:
        found.append(_Read(_message("user", said)))
    return found


def _message(role: str, read: Sequence[tuple[Part, list[str]]], calls: Sequence[ToolCall] = ()) -> Message:
    """A message of these parts; one plain text is the content itself."""
    content = tuple(part for part, _ in read) or None
    if content and len(content) == 1 and isinstance(content[0], TextPart) and not content[0].extra:
        content = content[0].text
    spelled = {str(place): names for place, (_, names) in enumerate(read) if names}
    return Message(role, content, tuple(calls), extra=own_note({"snake": spelled}))


def _parts_of(content: Mapping[str, Any]) -> tuple[list[_Given], str | None]:
    """The parts of a content, and what stood there if that was no list with something in it."""
    value: Any = content.get("parts")
    shape = None
    if isinstance(value, Mapping):  # the API takes one part for a list of one
        value, shape = [cast("Mapping[str, Any]", value)], "alone"
    elif not value:
        shape = "absent" if "parts" not in content else "null" if value is None else "empty"
    if not isinstance(value, list | tuple | None):
        raise WireError(f"parts must be a list, not {type(value).__name__}")
    given = [mapping(part, "a part") for part in cast("list[Any]", value or [])]
    return [_Given(*camel(part), part) for part in given], shape


def _with_content(message: Message, content: Mapping[str, Any], usual: Fields, shape: str | None) -> Message:
    """The message, with a note of what its content is besides its parts, where that is not as usual."""
    rest = {key: value for key, value in content.items() if key != "parts"}
    note = ({"shape": shape} if shape else {}) | ({"content": rest} if rest != usual else {})
    return noted(message, **note) if note else message


def _with_ids(read: Sequence[_Read]) -> list[Message]:
    """The messages, with a note where a result came with another id than its call makes us send."""
    messages = [message for message, _ in read]
    calls = call_answered_by(messages)
    for index, (message, given_id) in enumerate(read):
        if message.role == "tool" and given_id != id_of_result(message, calls.get(index), FORMAT):
            messages[index] = noted(message, id=given_id)
    return messages
