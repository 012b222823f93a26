"""Ids of tool calls: the provider's, made unique within a run, so that a result has one call."""

from collections.abc import Iterable

from msgspec.structs import replace

from aaa.messages import Message

__all__ = ["CallIds"]


class CallIds:
    """The ids that a run knows."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def note(self, messages: Iterable[Message]) -> None:
        """The ids in these messages are taken."""
        for message in messages:
            for call in message.tool_calls:
                self._taken.add(call.id)

    def unique(self, reply: Message) -> Message:
        """The reply with ids that were free, and are taken now; one that was not gets `~n` behind it."""
        if not reply.tool_calls:
            return reply
        return replace(reply, tool_calls=tuple(replace(call, id=self._free(call.id)) for call in reply.tool_calls))

    def _free(self, call_id: str) -> str:
        free, number = call_id, 1
        while free in self._taken:
            number += 1
            free = f"{call_id}~{number}"
        self._taken.add(free)
        return free
