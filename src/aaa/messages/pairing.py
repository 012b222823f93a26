"""Which tool result answers which call.

A result belongs to the nearest earlier call of its id that is still open. Real conversations reuse ids, lose calls
and results, and put other messages between them, so a map over the whole history would pair the wrong ones. A second
result to a call just answered, with only results between, belongs to that call too: it must not outlive it.
"""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from aaa.messages.message import Message

__all__ = ["Pairer", "Pairing", "pair"]


class Pairing(msgspec.Struct, frozen=True):
    """Calls and results of a sequence of messages.

    `call_of` maps the index of a result to the index of the message that holds its call. `unanswered` lists calls
    without a result as (message index, call id); `orphans` results without a call, by index. All in order.
    """

    call_of: dict[int, int]
    unanswered: tuple[tuple[int, str], ...]
    orphans: tuple[int, ...]


class Pairer:
    """Pairs a conversation message by message, from index `start` on."""

    def __init__(self, start: int = 0) -> None:
        self._open: defaultdict[str, list[int]] = defaultdict(list)
        self._last: dict[str, int] = {}
        self._start = self._index = start
        self._before_run = start - 1  # the message before the current run of results

    def add(self, message: Message) -> int | None:
        """Take the next message in; for a result, the index of its call's message if it has one."""
        index, self._index = self._index, self._index + 1
        for call in message.tool_calls:
            self._open[call.id].append(index)
            self._last[call.id] = index
        if message.role != "tool":
            self._before_run = index
            return None
        call_id = message.tool_call_id or ""
        if self._open.get(call_id):
            return self._open[call_id].pop()
        repeated = self._last.get(call_id, -1)
        return repeated if repeated >= max(self._before_run, self._start) else None

    def unanswered(self) -> list[tuple[int, str]]:
        """Calls that are still open, as (message index, call id), in order."""
        return sorted((index, call_id) for call_id, indices in self._open.items() for index in indices)


def pair(messages: Sequence[Message], start: int = 0) -> Pairing:
    """Pair results with calls in `messages[start:]`; indices are those of `messages`. Cost: O(messages)."""
    pairer = Pairer(start)
    call_of: dict[int, int] = {}
    orphans: list[int] = []
    for index in range(start, len(messages)):
        call = pairer.add(messages[index])
        if call is not None:
            call_of[index] = call
        elif messages[index].role == "tool":
            orphans.append(index)
    return Pairing(call_of=call_of, unanswered=tuple(pairer.unanswered()), orphans=tuple(orphans))
