"""Recorded model calls, taken from the log by comparison.

    asked     u a t a t        one list, which grows
    recorded  u │a t│a t       the deltas of its requests
              0  1   2         marks: at this length the log has this digest

What an algorithm asks again is compared with the text in the log. That costs less than a digest, and digests of what
came from the log stand there. They are chained and compared with those of the requests, all together, when a digest is
needed: before the first call that is new.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aaa.context.transcript import Digested
from aaa.messages import Message
from aaa.runtime.unread import UnreadMessages

__all__ = ["Replayed", "Replaying"]


class Replayed:
    """One conversation as far as it is replayed; its first `start` messages are those of requests placed before."""

    __slots__ = ("digests", "marks", "messages", "name", "start")

    def __init__(self, name: str, messages: list[Message]) -> None:
        self.name = name
        self.messages = messages
        self.start = len(messages)
        self.digests: list[str] = []
        self.marks: list[tuple[str, int, str]] = []

    @property
    def digested(self) -> Digested:
        """The messages from `start` on; their digests are missing in logs of earlier releases."""
        new = self.messages[self.start :]
        return Digested(new, self.digests) if len(new) == len(self.digests) else Digested([], [])


class Replaying:
    """The conversations of a run that are replayed, by the key of the last request of each."""

    def __init__(self) -> None:
        self._by_last: dict[str, Replayed] = {}

    def take(
        self, key: str, messages: Sequence[Message], conv: Mapping[str, Any]
    ) -> tuple[Replayed, list[Message]] | None:
        """The conversation and what is new in it; None if only digests can tell that it is the recorded one.

        Cost: O(what is new), and a pointer comparison.
        """
        prev = conv.get("prev")
        replayed = Replayed(key, []) if prev is None else self._by_last.get(prev)
        if replayed is None:
            return None
        given = messages if isinstance(messages, list) else list(messages)
        length = len(replayed.messages)
        new = given[length:]
        replayed.messages += new
        if replayed.messages != given or not _are_recorded(new, conv["delta"]):
            del replayed.messages[length:]
            return None
        replayed.digests += conv.get("digests", ())
        replayed.marks.append((key, len(given), conv["digest"]))
        if prev is not None:
            del self._by_last[prev]
        self._by_last[key] = replayed
        return replayed, new

    def follow(self, key: str, name: str, messages: Sequence[Message]) -> None:
        """Go on from a recorded request that was placed by its digest."""
        self._by_last[key] = Replayed(name, list(messages))

    def settle(self) -> list[Replayed]:
        """What has been replayed, once: afterwards there is nothing to go on from."""
        settled, self._by_last = list(self._by_last.values()), {}
        return [replayed for replayed in settled if replayed.marks]


def _are_recorded(messages: Sequence[Message], delta: Sequence[Mapping[str, Any]]) -> bool:
    if type(delta) is UnreadMessages and delta.is_text_of(messages):
        return True
    return len(messages) == len(delta) and all(map(_is_recorded, messages, delta))


def _is_recorded(message: Message, data: Mapping[str, Any]) -> bool:
    fields = msgspec.to_builtins(message)
    if message.tool_calls:
        fields["tool_calls"] = list(fields["tool_calls"])  # as JSON has it
    if isinstance(message.content, tuple):
        fields["content"] = list(fields["content"])
    return fields == data
