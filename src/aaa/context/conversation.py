"""What a caller hands in, messages or plain dicts, and what he gets back: the same kind, his own objects.

given    dict dict dict dict          Message Message …
read     Message …                    themselves
prompt   dict ····· dict (new) dict   objects that were not changed are the caller's own
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from aaa.context.edits import Item
from aaa.context.transcript import Transcript
from aaa.messages import Message, ToolSpec, with_extra_of
from aaa.wire.openai_chat import message_from_dict, message_to_dict, tool_from_dict

__all__ = ["Conversation", "Given"]

Given = Message | Mapping[str, Any]


class Conversation:
    """Messages and tools of one call, as given and as read.

    Raises:
        WireError: a dict that is not a message or a tool, with its index.
    """

    def __init__(self, given: Sequence[Given], tools: Sequence[ToolSpec | Mapping[str, Any]] = ()) -> None:
        self.given = given
        self.messages = _read(given)
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
                return self.given[item.source]
            message = with_extra_of(message, self.messages[item.source])
        return self._kind_of(message)

    def _kind_of(self, message: Message) -> Any:
        return message if self.messages is self.given else message_to_dict(message)


def _read(given: Sequence[Given]) -> Sequence[Message]:
    if isinstance(given, Transcript) or set(map(type, given)) <= {Message}:
        return cast("Sequence[Message]", given)
    return [
        message if isinstance(message, Message) else message_from_dict(message, index=index)
        for index, message in enumerate(given)
    ]
