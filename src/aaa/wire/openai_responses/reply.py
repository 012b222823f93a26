"""Items that a model made, as one assistant message.

    reasoning, message [text, text], function_call, reasoning, function_call
    ──▶  parts (reasoning, text, text, reasoning), calls (call at 3, call)

Parts and calls keep their order each; `at` of a call tells how many parts stood before it, where that is not all of
them. The notes of an item's first part mark where the item begins.
"""

import json
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aaa.messages import Message, OpaquePart, Part, TextPart, ToolCall
from aaa.wire.lossless import string_of
from aaa.wire.openai_chat import call_from_dict
from aaa.wire.openai_responses.calls import call_fields
from aaa.wire.openai_responses.content import CONTENT_TYPES, content_from, is_item
from aaa.wire.openai_responses.kinds import CALLS, kind_of
from aaa.wire.openai_responses.notes import FORMAT, json_of, json_with_notes, noted, notes_of, with_notes

__all__ = ["ReplyItems"]


class ReplyItems:
    """Collects the items of one reply."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._calls: list[tuple[ToolCall, int]] = []
        self._last = ""
        self._is_reasoned = False

    def ends_before(self, item: Mapping[str, Any]) -> bool:
        """Whether `item` begins another reply: the client's answer to a call of a kind of its own came before it."""
        return self._last.endswith("_output") and not kind_of(item).endswith("_output")

    def add(self, item: Mapping[str, Any], *, is_message: bool = True) -> None:
        """Take in the next item; one that is no message of the model's own stays whole.

        Raises:
            WireError: a key begins like ours, or content has something in it that is no object.
        """
        kind = self._last = kind_of(item)
        self._is_reasoned |= kind == "reasoning" and isinstance(item.get("id"), str)
        if kind in CALLS:
            self._calls.append((_call_from(item, kind), len(self._parts)))
        elif kind == "message" and is_message and (parts := _message_parts(item)):
            self._parts += self._begun(parts, item)
        else:
            place = {"place": "item"} if kind in CONTENT_TYPES else {}
            self._parts.append(OpaquePart(kind, json_of(item, place), FORMAT))

    def message(self) -> Message:
        """The assistant message of all items."""
        calls = tuple(
            replace(call, extra=with_notes(call.extra, {"at": at} if at < len(self._parts) else {}))
            for call, at in self._calls
        )
        extra = with_notes("", {"reasoned": True} if self._is_reasoned else {})
        match self._parts:
            case []:
                return Message("assistant", None, calls, extra=extra)
            case [TextPart() as part] if (notes := _notes_of_lone_text(part)) is not None:
                return Message("assistant", part.text, calls, extra=with_notes(extra, notes))
            case parts:
                return Message("assistant", tuple(parts), calls, extra=extra)

    def _begun(self, parts: list[Part], item: Mapping[str, Any]) -> list[Part]:
        """The parts of a message item, the first with what is to be known of the item."""
        is_string = isinstance(item["content"], str)
        follows = bool(self._parts) and not is_item(self._parts[-1])
        notes: dict[str, Any] = {"item": ""} if follows else {}
        notes |= noted("item", {**item, "content": None}, written={"role": "assistant", "content": None})
        return [_with_part_notes(parts[0], notes | ({"string": True} if is_string else {})), *parts[1:]]


def _message_parts(item: Mapping[str, Any]) -> list[Part]:
    """The parts of a message item; none if it must be kept whole."""
    content = content_from(item.get("content"), "assistant") if item.get("role") == "assistant" else None
    return [TextPart(content)] if isinstance(content, str) else list(content or ())


def _with_part_notes(part: Part, notes: dict[str, Any]) -> Part:
    if isinstance(part, TextPart):
        return replace(part, extra=with_notes(part.extra, notes))
    return replace(part, json=json_with_notes(part.json, notes))


def _notes_of_lone_text(part: TextPart) -> dict[str, Any] | None:
    """The notes of a message that says only this; None if the text has annotations or the like."""
    notes = notes_of(part.extra)
    if any(json.loads(notes.get("part", "{}")).values()):
        return None
    if not part.text:
        notes.setdefault("item", "")  # an empty text is written where it was read
    return {key: notes[key] for key in notes if key != "string"} | ({} if "string" in notes else {"list": True})


def _call_from(item: Mapping[str, Any], kind: str) -> ToolCall:
    said = item.get(CALLS[kind], "")
    shape = "custom" if kind == "custom_tool_call" else "function"
    inner = {"name": string_of(item.get("name")) or "", CALLS[kind]: said}
    call = call_from_dict({"id": string_of(item.get("call_id")) or "", "type": shape, shape: inner})
    call = replace(call, extra="" if shape == "function" else call.extra)
    return replace(call, extra=with_notes(call.extra, noted("item", item, written=call_fields(call))))
