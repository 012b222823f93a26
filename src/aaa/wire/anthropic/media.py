"""Media of other formats as blocks of Anthropic's: images and documents; sound and films have no place there.

What Anthropic takes, November 2026: images as JPEG, PNG, GIF or WebP; documents as PDF or plain text; either by
address. A file id means something to the provider that gave it alone.
"""

import base64

from aaa.wire.anthropic.notes import note_once
from aaa.wire.lossless import Fields
from aaa.wire.media import Media

__all__ = ["block_from_media"]

_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_BEGINNINGS = {"/9j/": "image/jpeg", "iVBOR": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"}  # in base64


def block_from_media(media: Media) -> Fields | None:
    """The block that shows `media`; None, and a warning once for each type, if there is none."""
    source = _source(media)
    if source is None:
        note_once("%s has no place in Anthropic's format; left out", media.mime_type or media.kind)
        return None
    block: Fields = {"type": media.kind, "source": source}
    if media.kind == "document" and media.name:
        block["title"] = media.name
    return block


def _source(media: Media) -> Fields | None:
    if media.kind not in ("image", "document"):
        return None
    if media.data is None:
        return {"type": "url", "url": media.url} if media.url else None
    return _image(media.mime_type, media.data) if media.kind == "image" else _document(media.mime_type, media.data)


def _image(mime_type: str, data: str) -> Fields | None:
    # what it is counts, not what it is said to be: Anthropic refuses a mismatch, and Ollama's images have no type
    mime_type = next((kind for start, kind in _BEGINNINGS.items() if data.startswith(start)), mime_type)
    return {"type": "base64", "media_type": mime_type, "data": data} if mime_type in _IMAGE_TYPES else None


def _document(mime_type: str, data: str) -> Fields | None:
    if mime_type == "application/pdf":
        return {"type": "base64", "media_type": mime_type, "data": data}
    if not mime_type.startswith("text/"):
        return None
    try:
        text = base64.b64decode(data).decode()
    except ValueError:
        return None
    return {"type": "text", "media_type": "text/plain", "data": text} if text else None
