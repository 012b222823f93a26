"""The caller's dicts as `Message`s, and the way back to his own objects.

given     {…}   {…, "timestamp": t}          the caller's, never changed
readable  same  {…, "provenance": 1}         what stays behind is replaced by where it is
prompt    same  new {…, "provenance": 1}     what a strategy made of it still carries that
owned     same  new {…, "timestamp": t}
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aaa.messages import Message
from aaa.wire.openai_chat import message_from_dict
from aimu.context.texts import INERT_KEYS, MessageDict, fields_of, sent_at, sequence_of

__all__ = ["owned", "read", "readable"]

_PLACE = "provenance"  # one of the inert keys: nobody who reads or counts a message looks at it


def read(messages: Sequence[Mapping[str, Any]], places: Iterable[int] | None = None) -> list[Message]:
    """The messages without what no provider sees; only those at `places`, if given.

    Raises:
        WireError: naming the index of the message that is not one.
    """
    chosen = range(len(messages)) if places is None else places
    return [message_from_dict(sent_at(messages[index], index), index=index) for index in chosen]


def readable(messages: Sequence[MessageDict]) -> list[MessageDict]:
    """The messages as they can be read: what no provider sees may be anything, JSON or not.

    Raises:
        WireError: naming the index of the message that is no object.
    """
    found = [(message, sent_at(message, index)) for index, message in enumerate(sequence_of(messages))]
    return [
        message if fields is message else {**fields, _PLACE: index} for index, (message, fields) in enumerate(found)
    ]


def owned(
    prompt: Iterable[MessageDict], given: Sequence[MessageDict], plain: Sequence[MessageDict]
) -> list[MessageDict]:
    """A prompt made of `plain`, which is `readable(given)`, in the caller's own objects.

    A message that stands for one of his has the keys of his that no provider sees.
    """
    own = {id(fields): message for fields, message in zip(plain, given, strict=True)}
    return [own[id(fields)] if id(fields) in own else _dressed(fields, given) for fields in prompt]


def _dressed(fields: MessageDict, given: Sequence[MessageDict]) -> MessageDict:
    if _PLACE not in fields:
        return fields
    original = fields_of(given[int(fields[_PLACE])])
    inert = {key: value for key, value in original.items() if key in INERT_KEYS}
    return {key: value for key, value in fields.items() if key != _PLACE} | inert
