"""What of a message a format will say at all.

Its own parts it sends as they are; of others' it tells what means something elsewhere (`portable`), media only where
the role may show some.
"""

import json

from aaa.messages import Message, OpaquePart, Part
from aaa.wire.lossless import native
from aaa.wire.media import Media, portable

__all__ = ["is_blank", "is_said", "says_more"]

_BESIDE_CONTENT = ("refusal", "audio", "function_call")


def is_blank(text: str, *, takes_spaces: bool) -> bool:
    """Whether a text is none for the provider; one that `takes_spaces` accepts a text of nothing else."""
    return not text if takes_spaces else not text.strip()


def is_said(part: Part, role: str, *, format: str | None, takes_spaces: bool) -> bool:
    """Whether a part of a message is more than nothing in `format`; None stands for one that says every part."""
    if not isinstance(part, OpaquePart):
        is_noted = format == "gemini" and "part" in native(part.extra, "gemini")  # an empty text may carry a signature
        return is_noted or not is_blank(part.text, takes_spaces=takes_spaces)
    if format is None or part.format == format:
        return not _is_empty_item(part)
    match _portable(part):
        case Media(data=data, url=url):
            return bool(data or url) and (role in ("user", "tool") or format == "gemini")
        case said:
            return bool(said)


def says_more(message: Message) -> bool:
    """Whether a message of OpenAI's chat format says something beside its content: a refusal, sound, an old call."""
    if not any(f'"{key}"' in message.extra for key in _BESIDE_CONTENT):
        return False
    fields = json.loads(message.extra)
    return any(fields.get(key) for key in _BESIDE_CONTENT)


def _is_empty_item(part: OpaquePart) -> bool:
    """Whether a part is a message item of OpenAI's Responses format whose content is nothing."""
    is_message = part.format == "openai-responses" and part.type == "message"
    return is_message and not json.loads(part.json).get("content")


def _portable(part: OpaquePart) -> Media | str | None:
    try:
        return portable(part)
    except (ValueError, AttributeError):
        return None
