"""Message, its parts, and the tools a model may call.

What a provider attaches and wants back untouched (thinking with signatures, encrypted reasoning, images) is an
`OpaquePart`: JSON text as received. Keys that a format carries beyond these fields travel in `extra`, also as JSON
text, and are no part of a message's identity towards the provider (see `aaa.messages.digest`).
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec
from msgspec.structs import force_setattr, replace

from aaa.errors import ToolArgumentsError

__all__ = [
    "Message",
    "OpaquePart",
    "Part",
    "TextPart",
    "ToolCall",
    "ToolSpec",
    "with_extra_of",
    "with_text",
    "without_parts",
]


class TextPart(msgspec.Struct, frozen=True, cache_hash=True, omit_defaults=True, tag_field="part", tag="text"):
    """A piece of text inside a message that has parts."""

    text: str
    extra: str = ""


class OpaquePart(msgspec.Struct, frozen=True, cache_hash=True, omit_defaults=True, tag_field="part", tag="opaque"):
    """Anything but text, as the JSON text that came in; `type` is the provider's name for it.

    `format` is the wire format it is written in ("anthropic", "gemini", …), "" for OpenAI's chat format. Only that
    format sends it as it is.
    """

    type: str
    json: str
    format: str = ""


Part = TextPart | OpaquePart
Content = str | tuple[Part, ...] | None


class ToolCall(msgspec.Struct, frozen=True, cache_hash=True, omit_defaults=True):
    """A model's wish to run a tool. `arguments_json` is the text the model wrote, valid or not."""

    id: str
    name: str
    arguments_json: str = "{}"
    extra: str = ""

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments, parsed on demand.

        Raises:
            ToolArgumentsError: the text is not a JSON object.
        """
        try:
            value = json.loads(self.arguments_json or "{}")
        except (ValueError, RecursionError) as error:
            raise ToolArgumentsError(tool=self.name, call_id=self.id, problem=str(error)) from error
        if not isinstance(value, dict):
            problem = f"found {type(value).__name__}"
            raise ToolArgumentsError(tool=self.name, call_id=self.id, problem=problem)
        return cast("dict[str, Any]", value)


class ToolSpec(msgspec.Struct, frozen=True, cache_hash=True, omit_defaults=True):
    """A tool as a model is told of it; `parameters_json` is a JSON schema."""

    name: str
    description: str = ""
    parameters_json: str = "{}"
    extra: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments, parsed on demand."""
        return json.loads(self.parameters_json)


class Message(msgspec.Struct, frozen=True, cache_hash=True, omit_defaults=True):
    """One item of a conversation.

    `role` is "system", "developer", "user", "assistant" or "tool"; unknown roles pass through. `kind` marks messages
    that we made ("summary", "marker"); `pinned` ones are never cut, cleared, dropped or summarised.
    """

    role: str
    content: str | tuple[Part, ...] | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    pinned: bool = False
    kind: str | None = None
    extra: str = ""

    def __post_init__(self) -> None:
        content: object = self.content
        if isinstance(content, list):
            force_setattr(self, "content", tuple(cast("list[object]", content)))
        calls: object = self.tool_calls
        if isinstance(calls, list):
            force_setattr(self, "tool_calls", tuple(cast("list[object]", calls)))

    @property
    def text(self) -> str:
        """All text of the content, parts joined; other parts contribute nothing."""
        return "".join(self.texts)

    @property
    def texts(self) -> Iterable[str]:
        """The pieces of text in the content, in order."""
        match self.content:
            case None:
                return ()
            case str(text):
                return (text,)
            case parts:
                return tuple(part.text for part in parts if isinstance(part, TextPart))

    @property
    def is_system(self) -> bool:
        """Whether this is an instruction of the program: a system message, or OpenAI's newer name for one."""
        return self.role in ("system", "developer")


def with_text(message: Message, content: str | tuple[Part, ...]) -> Message:
    """The same message with other content; what `extra` said about the old content goes with it."""
    return replace(message, content=content, extra=_extra_without_content(message.extra))


def without_parts(messages: Iterable["Message"], is_unwanted: Callable[[Part], bool]) -> list["Message"]:
    """The messages without the parts that `is_unwanted` tells of; a message of which nothing is left goes with them.

    Shape: a subsequence; messages without such parts are the same objects.
    """
    left: list[Message] = []
    for message in messages:
        parts = message.content if isinstance(message.content, tuple) else ()
        kept = tuple(part for part in parts if not is_unwanted(part))
        if len(kept) == len(parts):
            left.append(message)
        elif kept or message.tool_calls or message.role == "tool":
            left.append(replace(message, content=kept or (None if message.tool_calls else "")))
    return left


def with_extra_of(message: Message, original: Message | None) -> Message:
    """`message`, which stands for `original`, with the extra keys that `original` has now; none for None."""
    extra = _extra_without_content(original.extra) if original else ""
    content = _parts_with_extra_of(message.content, original.content if original else None)
    if message.extra == extra and content is message.content:
        return message
    return replace(message, extra=extra, content=content)


def _parts_with_extra_of(content: Content, original: Content) -> Content:
    """The parts with the extra keys that the parts at their places have."""
    if not isinstance(content, tuple):
        return content
    others = original if isinstance(original, tuple) and len(original) == len(content) else (None,) * len(content)
    parts = tuple(_part_with_extra_of(part, other) for part, other in zip(content, others, strict=True))
    return content if parts == content else parts


def _part_with_extra_of(part: Part, other: Part | None) -> Part:
    extra = other.extra if isinstance(other, TextPart) else ""
    return replace(part, extra=extra) if isinstance(part, TextPart) and part.extra != extra else part


def _extra_without_content(extra: str) -> str:
    if '"content"' not in extra:
        return extra
    fields = json.loads(extra)
    fields.pop("content", None)
    return json.dumps(fields, separators=(",", ":"), sort_keys=True) if fields else ""
