"""Items of OpenAI's Responses format, and our messages: the `input` of a request, the `output` of a reply.

    items ── messages_from_items ──▶ messages ── items_from_messages ──▶ the same items

Consecutive items of the model are one assistant message; so are those of a whole reply (`reply_from_items`). A request
that begins in the middle of a conversation which the provider keeps (`previous_response_id`, `item_reference`) has
results without a call; they are written as they came. Source: OpenAI's API reference and SDK types 3.57, November 2026.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from aaa.messages import Message, OpaquePart
from aaa.wire.lossless import Fields, errors_at, mapping, string_of
from aaa.wire.openai_responses_content import CONTENT_TYPES, content_from, content_to
from aaa.wire.openai_responses_kinds import kind_of, side_of
from aaa.wire.openai_responses_notes import FORMAT, json_of, noted, with_notes
from aaa.wire.openai_responses_reply import ReplyItems
from aaa.wire.openai_responses_writing import items_from_messages

__all__ = ["items_from_messages", "messages_from_items", "reply_from_items"]


def messages_from_items(items: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Read items: of an input, or of the output of a compaction, which holds messages of the user.

    Raises:
        WireError: naming the index of the item that is none.
    """
    messages: list[Message] = []
    reply: ReplyItems | None = None
    for index, item in enumerate(items):
        with errors_at(index, "input item"):
            fields = mapping(item, "an item")
            side = side_of(fields)
            if reply is not None and (side != "reply" or reply.ends_before(fields)):
                messages.append(reply.message())
                reply = None
            if side == "reply":
                reply = reply or ReplyItems()
                reply.add(fields)
            else:
                messages.append(_READERS[side](fields))
    return [*messages, reply.message()] if reply else messages


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


def _message_from(item: Mapping[str, Any]) -> Message:
    role = str(item["role"])
    content = content_from(item.get("content"), role)
    written: Fields = {"role": role, "content": content_to(content, role)}
    return Message(role, content, extra=with_notes("", noted("item", item, written)))


def _result_from(item: Mapping[str, Any]) -> Message:
    content, call_id = content_from(item.get("output"), "tool"), string_of(item.get("call_id"))
    written: Fields = {"type": "function_call_output", "call_id": call_id or "", "output": content_to(content, "tool")}
    return Message("tool", content, tool_call_id=call_id, extra=with_notes("", noted("item", item, written)))


def _client_from(item: Mapping[str, Any]) -> Message:
    kind, role = kind_of(item), item.get("role")
    place = {"place": "item"} if kind in CONTENT_TYPES else {}
    part = OpaquePart(kind, json_of(item, place), FORMAT)
    return Message(role if role in ("system", "developer") else "user", (part,))


_READERS = {"message": _message_from, "result": _result_from, "client": _client_from}
