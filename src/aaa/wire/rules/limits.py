"""Sizes and counts above which a request is refused. They are reported only: what to leave out is the user's to say.

Sizes are estimated from below: texts in UTF-8, files by the length of their base64, no quoting and no field names.

Sources: "Too much media: 0 document pages + {n} images > 100", 32 MB (Anthropic); 20 MB (Bedrock); "Request payload
size exceeds the limit: 20971520 bytes" (Gemini); "Invalid 'tools': array too long. Expected an array with maximum
length 128" (OpenAI); 10485760 characters of output (Responses).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message, OpaquePart, Part, ToolSpec
from aaa.wire.media import media_of
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule

__all__ = ["Limit", "call_count", "media_count", "request_bytes", "result_length", "tool_count"]


@dataclass(frozen=True)
class Limit(Rule):
    """Something `counted` is at most `largest`: in each message, or in all of them and the tools together."""

    name: ClassVar[str] = "limit"
    problem: str
    unit: str
    largest: int
    counted: Callable[[Message], int]
    is_of_each: bool = False
    besides: int = 0

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """What is too much, with the numbers."""
        if self.is_of_each:
            return [
                self._violation(n, index) for index, n in enumerate(map(self.counted, messages)) if n > self.largest
            ]
        number = self.besides + sum(map(self.counted, messages))
        return [self._violation(number, None)] if number > self.largest else []

    def mend(self, draft: Draft) -> None:
        """Change nothing."""

    def _violation(self, number: int, index: int | None) -> Violation:
        detail = f"{number:,} {self.unit}; at most {self.largest:,}"
        return Violation(self.name, self.problem, index, detail, is_repairable=False)


def request_bytes(largest: int, tools: Sequence[ToolSpec] = ()) -> Limit:
    """The size of the whole request."""
    specs = sum(_size(tool.name) + _size(tool.description) + _size(tool.parameters_json) for tool in tools)
    return Limit("too_many_bytes", "bytes (estimated)", largest, _bytes_of, besides=specs)


def media_count(largest: int) -> Limit:
    """Images and documents of the whole request."""
    return Limit("too_much_media", "images and documents", largest, _media_in)


def tool_count(largest: int, tools: Sequence[ToolSpec]) -> Limit:
    """The tools of a request."""
    return Limit("too_many_tools", "tools", largest, _nothing_in, besides=len(tools))


def call_count(largest: int) -> Limit:
    """The calls of one message."""
    return Limit("too_many_calls", "calls", largest, _calls_in, is_of_each=True)


def result_length(largest: int) -> Limit:
    """The text of one result."""
    return Limit("result_too_long", "characters", largest, _result_length, is_of_each=True)


def _nothing_in(_: Message) -> int:
    return 0


def _calls_in(message: Message) -> int:
    return len(message.tool_calls)


def _bytes_of(message: Message) -> int:
    content = message.content
    said = _size(content) if isinstance(content, str) else sum(map(_part_size, content or ()))
    return said + sum(_size(call.name) + _size(call.arguments_json) for call in message.tool_calls)


def _part_size(part: Part) -> int:
    return _size(part.json if isinstance(part, OpaquePart) else part.text)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _media_in(message: Message) -> int:
    parts = message.content if isinstance(message.content, tuple) else ()
    found = (media_of(part) for part in parts if isinstance(part, OpaquePart))
    return sum(media is not None and media.kind in ("image", "document") for media in found)


def _result_length(message: Message) -> int:
    return sum(map(len, message.texts)) if message.role == "tool" else 0
