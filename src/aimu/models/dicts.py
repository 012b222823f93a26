"""Between the dicts a user keeps and what a provider needs back.

A reply becomes a plain dict in OpenAI's chat format. Some of it has no place there (a thinking block with its
signature, encrypted reasoning), and its provider wants it back byte for byte: the whole reply then goes along under
`provenance`, which no provider is ever sent and no count includes, and is used as long as the dict still says the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aaa.messages import Message, OpaquePart
from aaa.wire.openai_chat import message_from_dict, message_to_dict
from aimu.context.texts import fields_of, sent_at

__all__ = ["message_of_reply", "messages_of", "reply_dict"]


def reply_dict(message: Message) -> dict[str, Any]:
    """A reply as the dict that is appended to a conversation."""
    fields = message_to_dict(_readable(message))
    if message_from_dict(fields) != message:
        fields["provenance"] = {"reply": msgspec.to_builtins(message)}
    return fields


def messages_of(dicts: Sequence[Mapping[str, Any]]) -> list[Message]:
    """The messages to send for these dicts.

    Raises:
        WireError: one of them is no message.
    """
    return [message_of_reply(fields, index) for index, fields in enumerate(dicts)]


def message_of_reply(fields: Mapping[str, Any], index: int | None = None) -> Message:
    """One message; a reply that is as it came is the reply itself."""
    plain = sent_at(fields, index)
    reply = _reply_in(fields_of(fields))
    if reply is not None and message_to_dict(_readable(reply)) == plain:
        return reply
    return message_from_dict(plain, index=index)


def _reply_in(fields: Mapping[str, Any]) -> Message | None:
    provenance = fields.get("provenance")
    if not isinstance(provenance, Mapping) or "reply" not in provenance:
        return None
    try:
        return msgspec.convert(provenance["reply"], Message)
    except msgspec.ValidationError:  # somebody else's
        return None


def _readable(message: Message) -> Message:
    """The reply with its text as one string, where nothing but text and foreign parts is in it."""
    content = message.content
    if not isinstance(content, tuple) or any(isinstance(part, OpaquePart) and not part.format for part in content):
        return message
    return msgspec.structs.replace(message, content=message.text or None)
