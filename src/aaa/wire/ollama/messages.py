"""Ollama's messages as ours, and back.

    {"role", "content", "thinking", "images", "tool_calls"}    one message; its parts: thinking, text, each image
    {"role": "tool", "content", "tool_name", "tool_call_id"}   a result

Older servers give calls no id, and results name only the tool: what a result is sent with is found by its call.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from aaa.errors import WireError
from aaa.messages import Message, OpaquePart, Part, TextPart
from aaa.wire.lossless import Fields, compact, errors_at, mapping, native, with_native
from aaa.wire.made_ids import Answered, CallIds, call_answered_by, id_of_result
from aaa.wire.media import Media, portable
from aaa.wire.ollama.calls import FORMAT, call_from, call_to

__all__ = ["messages_from", "messages_to", "reply_from"]

_SAID = ("content", "thinking", "images", "tool_calls")  # what an edit may change: a note on these yields to it


def messages_from(messages: Any) -> list[Message]:
    """Read the messages of a body.

    Raises:
        WireError: naming the index of the message that is none.
    """
    given: list[Mapping[str, Any]] = []
    read: list[Message] = []
    ids = CallIds()
    for index, message in enumerate(_list_of(messages, "messages")):
        with errors_at(index, "message"):
            given.append(mapping(message, "a message"))
            read.append(_message_from(given[-1], ids))
    calls = call_answered_by(read)
    return [_noted(message, given[index], calls.get(index)) for index, message in enumerate(read)]


def messages_to(messages: Sequence[Message]) -> list[Fields]:
    """Write messages."""
    calls = call_answered_by(messages)
    return [_message_to(message, calls.get(index)) for index, message in enumerate(messages)]


def reply_from(message: Any, stem: str) -> Message:
    """Read the message of a reply; `stem` tells its calls from those of other replies."""
    fields = {"role": "assistant", "content": ""} | dict(mapping(message, "the message of a reply"))
    return _noted(_message_from(fields, CallIds(stem)), fields, None)


def _message_from(given: Mapping[str, Any], ids: CallIds) -> Message:
    role, content = given.get("role"), given.get("content")
    if not isinstance(role, str) or not role:
        raise WireError("a message needs a role (a non-empty string)")
    if not isinstance(content, str | None):
        raise WireError(f"content must be a string, not {type(content).__name__}")
    said = _parts_from(given, content)
    if role == "assistant":
        calls = _list_of(given.get("tool_calls") or [], "tool_calls")
        return Message(role, said, tuple(call_from(mapping(call, "a tool call"), ids) for call in calls))
    ids.end_turn()
    if role != "tool":
        return Message(role, said)
    name, call_id = _text_in(given, "tool_name"), _text_in(given, "tool_call_id")
    return Message(role, said, tool_call_id=ids.answered(name, call_id), name=name)


def _parts_from(given: Mapping[str, Any], content: str | None) -> str | tuple[Part, ...] | None:
    thinking, images = _text_in(given, "thinking"), _list_of(given.get("images") or [], "images")
    if not all(isinstance(image, str) for image in images):
        raise WireError("images must be strings in base64")
    if not thinking and not images:
        return content
    thought = (OpaquePart("thinking", compact({"thinking": thinking}), FORMAT),) if thinking else ()
    shown = tuple(OpaquePart("image", compact({"image": image}), FORMAT) for image in images)
    return (*thought, *((TextPart(content),) if content is not None else ()), *shown)


def _message_to(message: Message, answered: Answered | None) -> Fields:
    fields = _fields_of(message, answered)
    note = native(message.extra, FORMAT)
    for key in note.get("absent", ()):
        fields.pop(key, None)
    over: Fields = note.get("over", {})
    return fields | {key: value for key, value in over.items() if key not in _SAID or key not in fields}


def _fields_of(message: Message, answered: Answered | None) -> Fields:
    """A message as it is written if nothing is noted. Templates know no developer role."""
    texts, thoughts, images = _said(message)
    fields: Fields = {"role": "system" if message.role == "developer" else message.role}
    if texts:
        fields["content"] = ("" if message.role == "assistant" else "\n").join(texts)
    if thoughts:
        fields["thinking"] = "".join(thoughts)
    if images:
        fields["images"] = images
    if message.tool_calls:
        fields["tool_calls"] = [call_to(call) for call in message.tool_calls]
    return fields | _answer_to(message, answered) if message.role == "tool" else fields


def _answer_to(message: Message, answered: Answered | None) -> Fields:
    name = message.name if message.name is not None else answered.call.name if answered else None
    call_id = id_of_result(message, answered, FORMAT)
    return ({"tool_name": name} if name else {}) | ({"tool_call_id": call_id} if call_id else {})


def _said(message: Message) -> tuple[list[str], list[str], list[str]]:
    """The texts, thoughts and images of a message. Images of others go with their data only; addresses cannot."""
    if not isinstance(message.content, tuple):
        return ([] if message.content is None else [message.content]), [], []
    texts: list[str] = []
    thoughts: list[str] = []
    images: list[str] = []
    for part in message.content:
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif part.format == FORMAT and part.type == "thinking":
            thoughts.append(json.loads(part.json)["thinking"])
        else:
            match portable(part):
                case str(text):
                    texts.append(text)
                case Media(kind="image", data=str(data)):
                    images.append(data)
                case _:
                    pass
    return texts, thoughts, images


def _noted(message: Message, given: Mapping[str, Any], answered: Answered | None) -> Message:
    """The message, with a note of what it is written otherwise than it was given."""
    written = _fields_of(message, answered)
    over = {key: value for key, value in given.items() if key not in written or written[key] != value}
    absent = [key for key in written if key not in given]
    note = ({"over": over} if over else {}) | ({"absent": absent} if absent else {})
    return replace(message, extra=with_native("", FORMAT, note)) if note else message


def _text_in(given: Mapping[str, Any], key: str) -> str | None:
    value = given.get(key)
    return value if isinstance(value, str) and value else None


def _list_of(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise WireError(f"{what} must be a list, not {type(value).__name__}")
    return list(cast("Sequence[Any]", value))
