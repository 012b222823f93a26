"""Parts of other formats as parts of OpenAI's chat format.

    image     image_url, by address or with its bytes
    audio     input_audio, wav or mp3
    document  file, with its bytes or by an id of OpenAI's
    refusal   text

"Image URLs are only allowed for messages with role 'user'" (OpenAI, 2025), so a tool's result says in words that there
was something, and `shown_by` gives it for a message of the user after the results; other roles show nothing.
"""

import mimetypes

from msgspec.structs import replace

from aaa.messages import Message, OpaquePart
from aaa.wire.lossless import Fields
from aaa.wire.media import Media, data_url, portable
from aaa.wire.openai_chat.notes import warn_once

__all__ = ["filename_of", "part_of_media", "shown_by", "sound_of", "typed"]

_BEGINNINGS = {"/9j/": "image/jpeg", "iVBOR": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"}  # in base64
_SOUNDS = {"wav": "wav", "x-wav": "wav", "wave": "wav", "mp3": "mp3", "mpeg": "mp3", "x-mp3": "mp3"}


def part_of_media(part: OpaquePart, role: str) -> Fields | None:
    """What a part of another format is in a message of `role`; None if it says nothing here."""
    said = portable(part)
    if said is None or isinstance(said, str):
        return {"type": "text", "text": said} if said else None
    match role:
        case "user":
            return _from_media(part, said)
        case "tool":
            return {"type": "text", "text": f"[{said.kind}]"}
        case _:
            return None


def shown_by(message: Message) -> list[Fields]:
    """The media in a tool's result that another format could show there and this one cannot."""
    if message.role != "tool" or not isinstance(message.content, tuple):
        return []
    foreign = [part for part in message.content if isinstance(part, OpaquePart) and part.format]
    shown = [(part, media) for part in foreign if isinstance(media := portable(part), Media)]
    return [fields for part, media in shown if (fields := _from_media(part, media)) is not None]


def typed(media: Media) -> Media:
    """`media` with the type that the bytes of an image say it has: Ollama's have none."""
    if media.kind != "image" or media.data is None:
        return media
    kind = next((kind for start, kind in _BEGINNINGS.items() if media.data.startswith(start)), None)
    return replace(media, mime_type=kind or media.mime_type or "image/png")


def sound_of(media: Media) -> Fields | None:
    """The `input_audio` of a sound; None if it is in a coding that OpenAI does not take."""
    coding = _SOUNDS.get(media.mime_type.partition("/")[2].partition(";")[0])
    return {"data": media.data, "format": coding} if media.data is not None and coding else None


def filename_of(media: Media) -> str:
    """A document's name, which its bytes must have beside them; its extension tells what they are."""
    return media.name or "document" + (mimetypes.guess_extension(media.mime_type) or "")


def _from_media(part: OpaquePart, media: Media) -> Fields | None:
    fields = _fields_of(media, is_openai=part.format == "openai-responses")
    if fields is None:
        warn_once("%s has no place in OpenAI's chat format; left out", media.mime_type or media.kind)
    return fields


def _fields_of(media: Media, *, is_openai: bool) -> Fields | None:
    match media.kind:
        case "image":
            url = data_url(typed(media))
            return {"type": "image_url", "image_url": {"url": url}} if url else None
        case "audio":
            sound = sound_of(media)
            return {"type": "input_audio", "input_audio": sound} if sound else None
        case "document" if media.data is not None:
            return {"type": "file", "file": {"filename": filename_of(media), "file_data": data_url(media)}}
        case "document" if media.file_id and is_openai:
            return {"type": "file", "file": {"file_id": media.file_id}}
        case _:
            return None
