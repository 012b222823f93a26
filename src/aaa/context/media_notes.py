"""Short notes in the place of images, sound and files."""

from msgspec.structs import replace

from aaa.messages import Message, OpaquePart, Part, TextPart
from aaa.wire.media import Media, media_of

__all__ = ["with_notes"]


def with_notes(message: Message, *, also_linked: bool = False) -> Message:
    """The message with a note for each of its media; itself if it has none."""
    if not isinstance(message.content, tuple):
        return message
    parts = tuple(_noted(part, also_linked) for part in message.content)
    return message if parts == message.content else replace(message, content=parts)


def _noted(part: Part, also_linked: bool) -> Part:
    media = media_of(part) if isinstance(part, OpaquePart) else None
    if media is None or (media.data is None and not also_linked):
        return part
    return TextPart(_note(media))


def _note(media: Media) -> str:
    of = f" {media.name}" if media.name else ""
    size = "a link" if media.data is None else f"{len(media.data):,} characters"
    return f"[{media.kind}{of} left out: {size} of {media.mime_type or 'data'}]"
