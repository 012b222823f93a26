"""Gemini's function responses, which are our tool messages.

A response is an object. `{"output": text}` is the text, and how a text is written; `{"result": text}` likewise, with a
note. Any other object is its JSON text, and becomes an object again as long as it still is one. Media beside it (Gemini
3) are the parts after the text.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from aaa.messages import Message, OpaquePart, Part, TextPart
from aaa.wire.gemini.names import camel, snake
from aaa.wire.gemini.notes import FORMAT, own_note
from aaa.wire.gemini.parts import part_from, part_to
from aaa.wire.lossless import Fields, compact, native
from aaa.wire.made_ids import Answered, id_of_result

__all__ = ["result_from", "result_to"]


def result_from(fields: Fields, names: Sequence[str]) -> tuple[Message, str | None] | None:
    """Read a part that holds a function response: the message, still without its call, and the id in it.

    None if the part holds none, or none that we can read.
    """
    if not isinstance(fields.get("functionResponse"), Mapping):
        return None
    inner, inner_names = camel(fields["functionResponse"])
    response: Any = inner.get("response")
    media: Any = inner.get("parts") or ()
    if not isinstance(inner.get("name"), str) or not isinstance(response, Mapping | None) or not _are_parts(media):
        return None
    text, kind = _text_of(inner)
    parts, spelled = _media_from(media, 0 if text is None else 1)
    given = inner.get("id")
    call_id = given if isinstance(given, str) and given else None
    written = {"name", *(("response",) if kind != "null" else ()), *(("parts",) if media else ()), *_id_key(call_id)}
    note = {
        "part": {key: value for key, value in fields.items() if key != "functionResponse"},
        "response": {key: value for key, value in inner.items() if key not in written},
        "as": kind,
        "names": [*names, *inner_names],
        "snake": spelled,
    }
    content = text if not media else (*(() if text is None else (TextPart(text),)), *parts)
    return Message("tool", content, name=inner["name"], extra=own_note(note)), call_id


def result_to(message: Message, answered: Answered | None) -> Fields:
    """Write a result as a part; `answered` is its call, None if that is not there."""
    note = native(message.extra, FORMAT)
    texts, media = _said(message, note.get("snake", {}))
    inner: Fields = {"name": message.name if message.name is not None else answered.call.name if answered else ""}
    if (call_id := note["id"] if "id" in note else id_of_result(message, answered, FORMAT)) is not None:
        inner["id"] = call_id
    if texts or note.get("as") not in ("absent", "null"):
        inner["response"] = _response("\n".join(texts), note.get("as"))
    if media:
        inner["parts"] = media
    names = note.get("names", ())
    inner = note.get("response", {}) | inner
    return snake(note.get("part", {}) | {"functionResponse": snake(inner, names)}, names)


def _text_of(inner: Fields) -> tuple[str | None, str | None]:
    if "response" not in inner:
        return None, "absent"
    response = inner["response"]
    match response:
        case None:
            return None, "null"
        case {"output": str(text), **rest} if not rest:
            return text, None
        case {"result": str(text), **rest} if not rest:
            return text, "result"
        case _:
            return compact(response), "json"


def _response(text: str, kind: str | None) -> Fields:
    if kind == "json":
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return cast("Fields", value)
    return {"result" if kind == "result" else "output": text}


def _media_from(media: Sequence[Mapping[str, Any]], start: int) -> tuple[list[Part], dict[str, list[str]]]:
    parts: list[Part] = []
    spelled: dict[str, list[str]] = {}
    for place, given in enumerate(media, start):
        fields, names = camel(given)
        part, names = part_from(fields, names, given)
        parts.append(part if isinstance(part, OpaquePart) else OpaquePart("text", compact(given), FORMAT))
        if names:
            spelled[str(place)] = names
    return parts, spelled


def _said(message: Message, spelled: Mapping[str, list[str]]) -> tuple[list[str], list[Fields]]:
    """The texts of a result, and everything else in it as parts."""
    if not isinstance(message.content, tuple):
        return ([] if message.content is None else [message.content]), []
    texts: list[str] = []
    media: list[Fields] = []
    for place, part in enumerate(message.content):
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif written := part_to(part, spelled.get(str(place), ())):
            is_text = part.format != FORMAT and "text" in written
            texts.append(written["text"]) if is_text else media.append(written)
    return texts, media


def _are_parts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(part, Mapping) for part in cast("list[Any]", value))


def _id_key(call_id: str | None) -> tuple[str, ...]:
    return () if call_id is None else ("id",)
