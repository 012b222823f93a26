"""What a format noted of how something stood when it was read, and how a rule makes it forget that.

Without the hint the format writes it as the provider wants it.
"""

from msgspec.structs import replace

from aaa.messages import Message
from aaa.wire.lossless import native, with_native
from aaa.wire.rules.draft import Draft, Entry

__all__ = ["forget", "place_of"]


def place_of(message: Message) -> object:
    """Whether a message began a content of Gemini's ("own") or stood behind others in one ("joined"), where noted."""
    return native(message.extra, "gemini").get("place")


def forget(draft: Draft, index: int, rule: str, problem: str, format: str, hint: str) -> None:
    """Take a hint of `format` from a message, and note the change."""
    source, message = draft.entries[index]
    hints = {key: value for key, value in native(message.extra, format).items() if key != hint}
    draft.note(rule, "changed", source, problem)
    draft.entries[index] = Entry(source, replace(message, extra=with_native(message.extra, format, hints)))
