"""Messages as Gemini's contents.

What a content was besides its parts is noted on its first message (`content`, `shape`), where its calls stood among the
parts (`calls`), and which names were spelled with underscores (`snake`). A note never holds what a message says, so an
edit of that is what is sent.
"""

from collections.abc import Mapping, Sequence

from aaa.messages import Message
from aaa.wire.gemini.notes import FORMAT
from aaa.wire.gemini.parts import call_to, part_to
from aaa.wire.gemini.results import result_to
from aaa.wire.gemini.turns import grouped
from aaa.wire.lossless import Fields, native
from aaa.wire.made_ids import call_answered_by

__all__ = ["contents_to", "system_to"]


def contents_to(messages: Sequence[Message]) -> list[Fields]:
    """Write messages as contents. Those that say nothing are left out; a system message that is not at the front
    stands in its place as the user's, since the API has none there."""
    said = [(message, [] if message.role == "tool" else _parts_to(message)) for message in messages]
    kept = [(message, parts) for message, parts in said if parts or message.role == "tool" or _was_empty(message)]
    written = [message for message, _ in kept]
    calls = call_answered_by(written)
    parts = [
        [result_to(message, calls.get(index))] if message.role == "tool" else parts
        for index, (message, parts) in enumerate(kept)
    ]
    return [
        _content_to(written[group[0]], [part for index in group for part in parts[index]], _usual(written[group[0]]))
        for group in grouped(written, calls)
    ]


def system_to(messages: Sequence[Message]) -> Fields | None:
    """Write the leading system messages as one `systemInstruction`; None if they say nothing. Its role is "user" in
    what google-genai sends, and means nothing."""
    parts = [part for message in messages for part in _parts_to(message)]
    return _content_to(messages[0], parts, _usual(messages[0])) if parts or any(map(_was_empty, messages)) else None


def _parts_to(message: Message) -> list[Fields]:
    """What a message says, its calls where they stood: behind everything else, unless noted."""
    note = native(message.extra, FORMAT)
    written = _said(message, note.get("snake", {}))
    calls = [call_to(call) for call in message.tool_calls]
    places: list[int] = note.get("calls", ())
    if len(places) != len(calls) or not all(place < len(written) + len(calls) for place in places):
        return written + calls
    for place, call in zip(places, calls, strict=True):
        written.insert(place, call)
    return written


def _said(message: Message, spelled: Mapping[str, Sequence[str]]) -> list[Fields]:
    match message.content:
        case None | "":
            return []
        case str(text):
            return [{"text": text}]
        case content:
            parts = (part_to(part, spelled.get(str(place), ())) for place, part in enumerate(content))
            return [part for part in parts if part is not None]


def _content_to(first: Message, parts: list[Fields], usual: Fields) -> Fields:
    note = native(first.extra, FORMAT)
    content: Fields = note.get("content", usual)
    match note.get("shape"):
        case "alone" if len(parts) == 1:
            return content | {"parts": parts[0]}
        case "null" if not parts:
            return content | {"parts": None}
        case "absent" if not parts:
            return content
        case _:
            return content | {"parts": parts}


def _was_empty(message: Message) -> bool:
    """Whether the message was read from a content without parts, and is written as one again."""
    return native(message.extra, FORMAT).get("shape") in ("absent", "null", "empty")


def _usual(message: Message) -> Fields:
    return {"role": "model" if message.role == "assistant" else "user"}
