"""Our messages as items of OpenAI's Responses format.

A reply whose reasoning was taken out is written without the ids of its items, and without the calls in it that are
none of a tool's, their outputs included: "Item 'fc_…' of type 'function_call' was provided without its required
'reasoning' item" (OpenAI, 2025 and 2026) is told by the ids.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from aaa.messages import Message, OpaquePart, Part, TextPart
from aaa.wire.lossless import Fields
from aaa.wire.openai_responses.calls import call_fields, custom_ids_in, result_fields
from aaa.wire.openai_responses.content import content_to, fields_of_part, is_item
from aaa.wire.openai_responses.notes import FORMAT, fields_of, laid_over, notes_of, with_notes

__all__ = ["items_from_messages"]


def items_from_messages(messages: Iterable[Message]) -> list[Fields]:
    """Write messages as items; one of an assistant that says nothing is left out."""
    items: list[Fields] = []
    custom_ids: set[str] = set()
    left_out: set[str] = set()
    for message in messages:
        match message.role:
            case "assistant":
                items += _from_assistant(message, left_out)
                custom_ids |= custom_ids_in(message)
            case "tool":
                items.append(_from_result(message, is_custom=message.tool_call_id in custom_ids))
            case _:
                items += _from_other(message)
    return items


def _from_result(message: Message, *, is_custom: bool) -> Fields:
    fields = result_fields(message.tool_call_id, content_to(message.content, message.role), is_custom=is_custom)
    return _laid(fields, message, "output")


def _from_other(message: Message) -> list[Fields]:
    items = [fields_of(part.json) for part in _opaque_items(message)]
    content = content_to(message.content, message.role)
    if items and not content:
        return items
    return [_laid({"role": message.role, "content": content}, message, "content"), *items]


def _laid(fields: Fields, message: Message, said: str) -> Fields:
    """The item of one message; what it said in a way we do not know counts only if nothing else is said now."""
    return laid_over(fields, notes_of(message.extra).get("item"), but=said if message.content else None)


class _Call(NamedTuple):
    at: int
    fields: Fields


def _from_assistant(message: Message, left_out: set[str]) -> list[Fields]:
    parts = _parts_of(message)
    is_bound = bool(notes_of(message.extra).get("reasoned")) and not any(map(_is_reasoning, parts))
    writer = _ReplyWriter(left_out, keeps_ids=not is_bound)
    calls = _calls_of(message, len(parts))
    for number, part in enumerate(parts):
        while calls and calls[0].at <= number:
            writer.add_item(calls.pop(0).fields)
        writer.add_part(part)
    for call in calls:
        writer.add_item(call.fields)
    return writer.items


def _parts_of(message: Message) -> list[Part]:
    if message.content is None:
        return []
    if not isinstance(message.content, str):
        return list(message.content)
    notes = notes_of(message.extra)
    if not message.content and message.tool_calls and "item" not in notes:
        return []  # chat histories say "" beside calls
    shape = {"part": notes["part"]} if "part" in notes else {} if "list" in notes else {"string": True}
    item = {"item": notes["item"]} if "item" in notes else {}
    return [TextPart(message.content, with_notes("", shape | item))]


def _calls_of(message: Message, parts: int) -> list[_Call]:
    written: list[_Call] = []
    for call in message.tool_calls:
        notes = notes_of(call.extra)
        written.append(_Call(notes.get("at", parts), laid_over(call_fields(call), notes.get("item"))))
    return written


class _ReplyWriter:
    """Collects the items of one reply; pieces of content go into the message item that is open.

    `left_out` are the ids of the calls that were not written, this reply's added.
    """

    def __init__(self, left_out: set[str], *, keeps_ids: bool) -> None:
        self.items: list[Fields] = []
        self._left_out = left_out
        self._keeps_ids = keeps_ids
        self._open: list[Fields] | None = None

    def add_item(self, fields: Fields) -> None:
        if not self._keeps_ids:
            fields.pop("id", None)
        self.items.append(fields)
        self._open = None

    def add_part(self, part: Part) -> None:
        if is_item(part):
            fields = fields_of(part.json)
            if not self._is_left_out(part.type, fields):
                self.items.append(fields)
            self._open = None
            return
        fields = fields_of_part(part, "assistant")
        if fields is None:
            return
        notes = notes_of(part.extra if isinstance(part, TextPart) else part.json)
        if self._open is None or "item" in notes or "string" in notes:
            self._begin(fields, notes)
        else:
            self._open.append(fields)

    def _is_left_out(self, kind: str, fields: Fields) -> bool:
        call_id = str(fields.get("call_id"))
        if kind.endswith("_call") and not self._keeps_ids:
            self._left_out.add(call_id)
            return True
        return kind.endswith("_output") and "call_id" in fields and call_id in self._left_out

    def _begin(self, fields: Fields, notes: Mapping[str, Any]) -> None:
        is_string = "string" in notes
        content = fields["text"] if is_string else [fields]
        self.add_item(laid_over({"role": "assistant", "content": content}, notes.get("item")))
        self._open = None if is_string else content


def _is_reasoning(part: Part) -> bool:
    return isinstance(part, OpaquePart) and part.format == FORMAT and part.type == "reasoning"


def _opaque_items(message: Message) -> list[OpaquePart]:
    content = message.content if isinstance(message.content, tuple) else ()
    return [part for part in content if isinstance(part, OpaquePart) and is_item(part)]
