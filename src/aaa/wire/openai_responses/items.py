"""Items of OpenAI's Responses format, and our messages: the `input` of a request, the `output` of a reply.

    items ── messages_from_items ──▶ messages ── items_from_messages ──▶ the same items

Consecutive items of the model are one assistant message; so are those of a whole reply (`reply_from_items`). A request
that begins in the middle of a conversation which the provider keeps (`previous_response_id`, `item_reference`) has
results without a call; they are written as they came. Source: OpenAI's API reference and SDK types 3.57, November 2026.
"""

from collections.abc import Iterable, Mapping, Set
from typing import Any

from aaa.messages import Message, OpaquePart
from aaa.wire.lossless import Fields, errors_at, mapping, string_of
from aaa.wire.openai_responses.calls import custom_ids_in, result_fields
from aaa.wire.openai_responses.content import CONTENT_TYPES, content_from, content_to
from aaa.wire.openai_responses.kinds import kind_of, side_of
from aaa.wire.openai_responses.notes import FORMAT, json_of, noted, with_notes
from aaa.wire.openai_responses.reply import ReplyItems
from aaa.wire.openai_responses.writing import items_from_messages

__all__ = ["items_from_messages", "messages_from_items", "reply_from_items"]


def messages_from_items(items: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Read items: of an input, or of the output of a compaction, which holds messages of the user.

    Raises:
        WireError: naming the index of the item that is none.
    """
    reader = _Reader()
    for index, item in enumerate(items):
        with errors_at(index, "input item"):
            reader.add(mapping(item, "an item"))
    return reader.finished()


def reply_from_items(items: Iterable[Mapping[str, Any]]) -> Message:
    """The one message of a reply whose output these items are; what is not the model's own in it stays whole.

    Raises:
        WireError: naming the index of the item that is none.
    """
    reply = ReplyItems()
    for index, item in enumerate(items):
        with errors_at(index, "output item"):
            fields = mapping(item, "an item")
            reply.add(fields)
    return reply.message()


class _Reader:
    """Collects messages; the items of a reply that is not at its end stand apart."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._reply: ReplyItems | None = None
        self._custom_ids: set[str] = set()

    def add(self, item: Mapping[str, Any]) -> None:
        side = side_of(item)
        if self._reply is not None and (side != "reply" or self._reply.ends_before(item)):
            self.finished()
        match side:
            case "reply":
                self._reply = self._reply or ReplyItems()
                self._reply.add(item)
            case "result":
                self._messages.append(_result_from(item, self._custom_ids))
            case "message":
                self._messages.append(_message_from(item))
            case "client":
                self._messages.append(_client_from(item))

    def finished(self) -> list[Message]:
        """All messages, a reply at their end included."""
        if self._reply is not None:
            self._messages.append(self._reply.message())
            self._custom_ids |= custom_ids_in(self._messages[-1])
            self._reply = None
        return self._messages


def _message_from(item: Mapping[str, Any]) -> Message:
    role = str(item["role"])
    content = content_from(item.get("content"), role)
    written: Fields = {"role": role, "content": content_to(content, role)}
    return Message(role, content, extra=with_notes("", noted("item", item, written=written)))


def _result_from(item: Mapping[str, Any], custom_ids: Set[str]) -> Message:
    """The message of a result; its type is noted where it is not what its call, if there is one, asks for."""
    content, call_id = content_from(item.get("output"), "tool"), string_of(item.get("call_id"))
    is_custom = call_id in custom_ids and item.get("type") == "function_call_output"
    written = result_fields(call_id, content_to(content, "tool"), is_custom=is_custom)
    return Message("tool", content, tool_call_id=call_id, extra=with_notes("", noted("item", item, written=written)))


def _client_from(item: Mapping[str, Any]) -> Message:
    kind, role = kind_of(item), item.get("role")
    place = {"place": "item"} if kind in CONTENT_TYPES else {}
    part = OpaquePart(kind, json_of(item, place), FORMAT)
    return Message(role if role in ("system", "developer") else "user", (part,))
