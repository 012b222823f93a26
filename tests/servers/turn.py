"""One request and what became of it: a `Turn` that is answered, or an error, `Refused`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.servers.counting import CHARS_PER_TOKEN, tokens
from tests.servers.replies import Call, Reply
from tests.servers.transport import dumped

__all__ = ["Refused", "Turn", "arguments_of", "first_half", "pieces_of", "within"]


class Refused(Exception):
    """An error answer. `fields` are what the provider's error has besides the message."""

    def __init__(
        self, status: int, message: str, /, *, headers: Mapping[str, str] | None = None, **fields: Any
    ) -> None:
        self.status = status
        self.message = message
        self.headers = dict(headers or {})
        self.fields = fields
        super().__init__(f"{status}: {message}")


@dataclass
class Turn:
    """A request that was taken and its reply, with what both cost in tokens."""

    body: dict[str, Any]
    model: str
    pieces: list[str]  # the prompt, in the order in which it is cached
    reply: Reply = field(default_factory=Reply)
    prompt_tokens: int = field(init=False)
    cached_tokens: int = 0
    written_tokens: int = 0
    notes: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.prompt_tokens = tokens("".join(self.pieces))

    @property
    def thinking_tokens(self) -> int:
        return tokens(self.reply.thinking or "")

    @property
    def output_tokens(self) -> int:
        """Everything the model wrote, thinking included, and one token that ends it where nothing cut it."""
        reply = self.reply
        called = [dumped([call.name, dict(call.arguments)]).decode() for call in reply.calls]
        return tokens("".join([reply.text, reply.refusal or "", *called])) + self.thinking_tokens + (not reply.is_cut)


def within(reply: Reply, most_tokens: int | None) -> Reply:
    """A reply cut at a limit: its text only, since where a call is cut is for the script to say."""
    if most_tokens is None or tokens(reply.text) <= most_tokens:
        return reply
    return Reply(reply.text[: most_tokens * CHARS_PER_TOKEN], thinking=reply.thinking, is_cut=True)


def pieces_of(text: str, size: int = 7) -> Iterator[str]:
    """A text as the deltas of a stream."""
    return (text[at : at + size] for at in range(0, len(text), size))


def first_half(frames: Sequence[bytes]) -> Sequence[bytes]:
    return frames[: max(1, len(frames) // 2)]


def arguments_of(call: Call, is_cut: bool) -> str:
    """The arguments of a call as the model wrote them; a cut reply ends in the middle of its last."""
    written = json.dumps(dict(call.arguments), ensure_ascii=False)
    return written[: len(written) // 2] if is_cut else written
