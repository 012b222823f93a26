"""In which order a message of the assistant says its parts and calls as items, and the message without some parts.

    parts (reasoning, text, reasoning)   calls (call at 2, call)
    ──▶  reasoning, text, call, reasoning, call

`at` of a call counts the parts before it, so it goes down when one of these goes.
"""

from collections.abc import Set

from msgspec.structs import replace

from aaa.messages import Message, OpaquePart, Part, ToolCall
from aaa.wire.openai_responses.notes import FORMAT, notes_of, with_notes
from aaa.wire.rewriting import with_parts

__all__ = ["in_order", "is_of_type", "parts_of", "position_of", "without"]


def parts_of(message: Message) -> tuple[Part, ...]:
    """The parts of a message; none if its content is a string."""
    return message.content if isinstance(message.content, tuple) else ()


def position_of(call: ToolCall, parts: int) -> int:
    """How many of the `parts` of its message stand before a call."""
    return min(notes_of(call.extra).get("at", parts), parts)


def in_order(message: Message) -> list[int | ToolCall]:
    """The parts, by their numbers, and the calls, as they are written."""
    parts = len(parts_of(message))
    calls = list(message.tool_calls)
    made: list[int | ToolCall] = []
    for number in range(parts):
        while calls and position_of(calls[0], parts) <= number:
            made.append(calls.pop(0))
        made.append(number)
    return made + calls


def without(message: Message, left_out: Set[int]) -> Message | None:
    """The message without the parts of these numbers, its calls in their places; None if that leaves nothing."""
    parts = parts_of(message)
    kept = tuple(part for number, part in enumerate(parts) if number not in left_out)
    calls = tuple(_moved(call, len(parts), left_out) for call in message.tool_calls)
    return with_parts(replace(message, tool_calls=calls), kept)


def _moved(call: ToolCall, parts: int, left_out: Set[int]) -> ToolCall:
    at = position_of(call, parts)
    fewer = sum(number < at for number in left_out)
    return replace(call, extra=with_notes(call.extra, {"at": at - fewer})) if fewer and at < parts else call


def is_of_type(part: Part, *types: str) -> bool:
    """Whether a part is an item of one of these types, kept whole."""
    return isinstance(part, OpaquePart) and part.format == FORMAT and part.type in types
