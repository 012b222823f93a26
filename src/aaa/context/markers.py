"""The line that tells how many messages were left out, so that nothing is lost silently."""

import re

from aaa.messages import Message

__all__ = ["is_marker", "marked", "marker"]

_TEXT = re.compile(r"\[(\d+) earlier messages? left out to save context\]")


def marker(total: int) -> Message:
    """The line for `total` messages."""
    return Message("user", f"[{total} earlier message{'s' * (total > 1)} left out to save context]", kind="marker")


def is_marker(message: Message) -> bool:
    """Whether the message is such a line, also when it came back as a plain dict."""
    return message.role == "user" and _TEXT.fullmatch(message.text) is not None


def marked(message: Message) -> int:
    """How many messages the line tells of; 1 for any other message, which stands for itself."""
    found = _TEXT.fullmatch(message.text) if message.role == "user" else None
    return int(found[1]) if found else 1
