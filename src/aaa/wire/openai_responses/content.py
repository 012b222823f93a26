"""The content of items of OpenAI's Responses format: text, images, files, sound, refusals.

    input_text, output_text   ◀──▶  TextPart
    every other               ◀──▶  OpaquePart(format="openai-responses")
    media of other formats     ──▶  input_image, input_file, input_audio

Which text type is written depends on who speaks; a text of the other type says so in its notes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, cast

from aaa.messages import OpaquePart, Part, TextPart
from aaa.wire.lossless import Fields, mapping, string_of
from aaa.wire.media import Media, data_url, portable
from aaa.wire.openai_chat.media import filename_of, sound_of, typed
from aaa.wire.openai_chat.notes import warn_once
from aaa.wire.openai_responses.notes import FORMAT, fields_of, json_of, laid_over, noted, notes_of, with_notes

__all__ = ["CONTENT_TYPES", "content_from", "content_to", "fields_of_part", "is_item"]

_TEXT_TYPES = ("input_text", "output_text", "text")
CONTENT_TYPES = frozenset(
    (
        *_TEXT_TYPES,
        *("summary_text", "reasoning_text", "refusal", "computer_screenshot"),
        *("input_image", "input_file", "input_audio", "output_audio"),
    )
)


def content_from(value: Any, role: str) -> str | tuple[Part, ...] | None:
    """Content as a string, as parts, or None if it is neither a string nor a list.

    Raises:
        WireError: an entry of the list is no object.
    """
    if isinstance(value, list | tuple):
        return tuple(_part_from(mapping(part, "a content part"), role) for part in cast("Sequence[Any]", value))
    return value if isinstance(value, str) else None


def content_to(content: str | tuple[Part, ...] | None, role: str) -> str | list[Fields]:
    """What is written for the content of a message that is no model's own; "" if it says nothing."""
    if content is None or isinstance(content, str):
        return content or ""
    return [fields for part in content if (fields := fields_of_part(part, role)) is not None] or ""


def fields_of_part(part: Part, role: str) -> Fields | None:
    """The content part that is written for `part`; None if it is an item by itself, or says nothing here."""
    if isinstance(part, TextPart):
        return laid_over({"type": _text_type(role), "text": part.text}, notes_of(part.extra).get("part"))
    if part.format != FORMAT:
        return _from_foreign(part, role)
    if is_item(part):
        return None
    return fields_of(part.json)


def is_item(part: Part) -> TypeGuard[OpaquePart]:
    """Whether a part is an item of its own, and not a piece of a message's content."""
    if isinstance(part, TextPart) or part.format != FORMAT:
        return False
    place = notes_of(part.json).get("place")
    return place == "item" if place else part.type not in CONTENT_TYPES


def _text_type(role: str) -> str:
    return "output_text" if role == "assistant" else "input_text"


def _part_from(fields: Mapping[str, Any], role: str) -> Part:
    kind, text = string_of(fields.get("type")) or "", fields.get("text")
    if kind in _TEXT_TYPES and isinstance(text, str):
        return TextPart(text, with_notes("", noted("part", fields, written={"type": _text_type(role), "text": text})))
    if kind in CONTENT_TYPES:
        return OpaquePart(kind, json_of(fields), FORMAT)
    warn_once("a content part of the unknown type %s is kept, and sent back as it came", kind)
    return OpaquePart(kind, json_of(fields, {"place": "content"}), FORMAT)


def _from_foreign(part: OpaquePart, role: str) -> Fields | None:
    said = portable(part)
    if said is None or isinstance(said, str):
        return {"type": _text_type(role), "text": said} if said else None
    if role == "assistant":  # a model's own message is text and refusals
        return None
    fields = _from_media(said, is_openai=not part.format)
    if fields is None:
        warn_once("%s has no place in OpenAI's Responses format; left out", said.mime_type or said.kind)
    return fields


def _from_media(media: Media, *, is_openai: bool) -> Fields | None:
    url = data_url(typed(media))
    match media.kind:
        case "image" if url:
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        case "document" if media.data is not None:
            return {"type": "input_file", "filename": filename_of(media), "file_data": url}
        case "document" if url:
            return {"type": "input_file", "file_url": url}
        case "document" if media.file_id and is_openai:
            return {"type": "input_file", "file_id": media.file_id}
        case "audio" if (sound := sound_of(media)) is not None:
            return {"type": "input_audio", "input_audio": sound}
        case _:
            return None
