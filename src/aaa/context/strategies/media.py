"""Replace the oldest images and files by short notes, where a request has too many bytes."""

from collections.abc import Callable
from math import ceil

from aaa.context.media_notes import with_notes
from aaa.context.work import Work
from aaa.messages import Message, OpaquePart, Part

__all__ = ["DropMedia", "bytes_of", "drop_oldest_media"]

_ROUND_THE_BYTES = 1.02  # quoting, field names and what else a body has beside texts and files
_PER_MESSAGE = 100  # bytes


class DropMedia:
    """Images and files go, oldest first, until the request has at most `max_bytes`; a note says what was there.

    Providers count bytes apart from tokens: forty screenshots are few tokens and too many bytes. Never the head and
    pinned messages. Texts stay.
    """

    name = "drop_media"

    def __init__(self, max_bytes: int) -> None:
        if max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, got {max_bytes}")
        self.max_bytes = max_bytes

    async def apply(self, work: Work) -> None:
        """Drop as few of the oldest as reach the limit."""
        self.reduce(work)

    def reduce(self, work: Work) -> None:
        """As `apply`; awaits nothing."""
        dropped = drop_oldest_media(work, self.max_bytes)
        if dropped:
            work.applied.append(f"{self.name}({dropped})")


def drop_oldest_media(
    work: Work, most: int, *, counted: Callable[[Message], int] | None = None, step: int = 1, also_linked: bool = False
) -> int:
    """Replace the oldest media by notes until at most `most` is left; says in how many messages.

    `counted` says how much of it a message has, by default bytes. What goes is rounded up to a multiple of `step`, so
    that the next message does not change the beginning of the prompt again. Of media that are only linked there is
    nothing to leave out, unless `also_linked`.
    """
    counted = counted or bytes_of
    amounts = [counted(message) for message in work.messages]
    over, dropped = ceil((sum(amounts) - most) / step) * step, 0
    for index, message in enumerate(work.messages):
        if over <= 0:
            break
        noted = message if work.is_protected(index) else with_notes(message, also_linked=also_linked)
        if noted is not message:
            work.messages[index] = noted
            over -= amounts[index] - counted(noted)
            dropped += 1
    return dropped


def bytes_of(message: Message) -> int:
    """About as much as the message takes in a request."""
    content = message.content
    texts = [content] if isinstance(content, str) else [_text_of(part) for part in content or ()]
    texts += [text for call in message.tool_calls for text in (call.name, call.arguments_json)]
    return _PER_MESSAGE + int(_ROUND_THE_BYTES * sum(map(_size, texts)))


def _text_of(part: Part) -> str:
    return part.json if isinstance(part, OpaquePart) else part.text


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
