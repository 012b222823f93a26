"""Images, sound and files of other formats as Gemini's parts."""

from aaa.messages import OpaquePart
from aaa.wire.lossless import Fields
from aaa.wire.media import Media, portable

__all__ = ["part_of_media"]

# What a file is by its first characters in base64, or by the end of its address, where its format does not say.
_SIGNS = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
_ENDINGS = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "mp4": "video/mp4",
    "mp3": "audio/mp3",
    "wav": "audio/wav",
}
_MOST_LIKELY = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "document": "application/pdf"}


def part_of_media(part: OpaquePart) -> Fields | None:
    """The part of another format as one of ours, if it means anything here."""
    match portable(part):
        case None | "":
            return None
        case str(text):
            return {"text": text}
        case Media(data=str(data)) as media:
            return {"inlineData": {"mimeType": _mime_type(media), "data": data}}
        case Media(url=str(url)) as media:
            return {"fileData": {"mimeType": _mime_type(media), "fileUri": url}}
        case _:  # a file kept by another provider
            return None


def _mime_type(media: Media) -> str:
    data, ending = media.data or "", (media.url or "").partition("?")[0].rpartition(".")[2].lower()
    signed = next((mime_type for sign, mime_type in _SIGNS.items() if data.startswith(sign)), None)
    return media.mime_type or signed or _ENDINGS.get(ending) or _MOST_LIKELY[media.kind]
