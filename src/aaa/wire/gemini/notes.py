"""What Gemini's format notes beside messages, parts, calls and tools, to write exactly what it read."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aaa.messages import Message
from aaa.wire.lossless import native, with_native

__all__ = ["FORMAT", "noted", "own_note"]

FORMAT = "gemini"


def own_note(fields: Mapping[str, Any]) -> str:
    """`extra` that holds what this format needs to write its own again; fields that say nothing are left out."""
    return with_native("", FORMAT, {key: value for key, value in fields.items() if value not in (None, False, [], {})})


def noted(message: Message, **note: Any) -> Message:
    """The message with more noted beside it; None is a value here."""
    return replace(message, extra=with_native(message.extra, FORMAT, native(message.extra, FORMAT) | note))
