"""What a caller hands in, messages or plain dicts, and what he gets back: the same kind, his own objects.

given    dict dict dict dict          Message Message …
read     Message …                    themselves
prompt   dict ····· dict (new) dict   objects that were not changed are the caller's own
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from aaa.context.edits import Item
from aaa.context.transcript import Transcript
from aaa.messages import Message, ToolSpec, with_extra_of
from aaa.wire.openai_chat import message_from_dict, message_to_dict, tool_from_dict

__all__ = ["Conversation", "Given"]

_PINNED = "pinned"

Given = Message | Mapping[str, Any]


class Conversation:
    """Messages and tools of one call, as given and as read.

    `own` is what is given back: the caller's own sequence, but that dicts have lost the key "pinned", which is ours.

    Raises:
        WireError: a dict that is not a message or a tool, with its index.
    """

    def __init__(self, given: Sequence[Given], tools: Sequence[ToolSpec | Mapping[str, Any]] = ()) -> None:
        self.given = given
        self.messages = _read(given)
        self.own = given if self.messages is given else _without_pins(given)
        self.tools = tuple(
            tool if isinstance(tool, ToolSpec) else tool_from_dict(tool, index=index)
            for index, tool in enumerate(tools)
        )

    def prompt(
        self, items: Sequence[Item], transcript: Transcript, repaired: Sequence[Message] | None = None
    ) -> list[Any]:
        """The prompt as the caller's own kind of objects; what stands for one of his has the extra keys of that one.

        `repaired` is what became of the items' messages, where something did.
        """
        own = [self._own(item, transcript) for item in items]
        if repaired is None:
            return own
        known = {id(item.message): mine for item, mine in zip(items, own, strict=True)}
        return [known[id(m)] if id(m) in known else self._kind_of(m) for m in repaired]

    def _own(self, item: Item, transcript: Transcript) -> Any:
        message = item.message
        if item.source is not None:
            if message is transcript[item.source]:
                return self.own[item.source]
            message = with_extra_of(message, self.messages[item.source])
        return self._kind_of(message)

    def _kind_of(self, message: Message) -> Any:
        return message if self.messages is self.given else message_to_dict(message)


def _read(given: Sequence[Given]) -> Sequence[Message]:
    if isinstance(given, Transcript) or set(map(type, given)) <= {Message}:
        return cast("Sequence[Message]", given)
    return [_message(message, index) for index, message in enumerate(given)]


def _message(given: Given, index: int) -> Message:
    if isinstance(given, Message):
        return given
    if not _says_pinned(given):
        return message_from_dict(given, index=index)
    message = message_from_dict(_without_pin(given), index=index)
    return replace(message, pinned=True) if given[_PINNED] else message


def _says_pinned(given: Given) -> bool:
    return isinstance(given, Mapping) and isinstance(given.get(_PINNED), bool)


def _without_pin(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key != _PINNED}


def _without_pins(given: Sequence[Given]) -> Sequence[Given]:
    """`given` itself, unless a dict in it says whether it is pinned: no provider knows that key."""
    if not any(map(_says_pinned, given)):
        return given
    return [
        _without_pin(message) if isinstance(message, Mapping) and _says_pinned(message) else message
        for message in given
    ]
