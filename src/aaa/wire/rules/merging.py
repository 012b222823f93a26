"""Several messages of one role as one.

Texts are joined with a blank line; where there is more than text, the parts stand one after the other. Calls follow
what was said. What a format keeps about the layout of one of them says nothing about them all, and goes.
"""

import json
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from aaa.messages import Message, Part, TextPart
from aaa.wire.lossless import Fields, compact

__all__ = ["merged"]

_JOINED = "reasoning_content"


def merged(messages: Sequence[Message]) -> Message:
    """One message that says what these say, in their order. Cost: O(their size)."""
    first = messages[0]
    is_of_one = {name: len({getattr(message, name) for message in messages}) == 1 for name in ("name", "kind")}
    return replace(
        first,
        content=_content(messages),
        tool_calls=tuple(call for message in messages for call in message.tool_calls),
        name=first.name if is_of_one["name"] else None,
        kind=first.kind if is_of_one["kind"] else None,
        pinned=any(message.pinned for message in messages),
        extra=_extra(message.extra for message in messages),
    )


def _content(messages: Sequence[Message]) -> str | tuple[Part, ...] | None:
    contents = [message.content for message in messages if message.content]
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) == len(contents):
        return "\n\n".join(texts) if contents else messages[0].content
    return tuple(part for content in contents for part in _parts(content))


def _parts(content: str | tuple[Part, ...]) -> tuple[Part, ...]:
    return (TextPart(content),) if isinstance(content, str) else content


def _extra(extras: Iterable[str]) -> str:
    fields: Fields = {}
    for extra in filter(None, extras):
        given: Fields = json.loads(extra)
        both = [value for value in (fields.get(_JOINED), given.get(_JOINED)) if isinstance(value, str) and value]
        fields |= {key: value for key, value in given.items() if key != "content" and not key.startswith("aaa:")}
        if len(both) > 1:
            fields[_JOINED] = "\n\n".join(both)
    return compact(fields, sort_keys=True) if fields else ""
