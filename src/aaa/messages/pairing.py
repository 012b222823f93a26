"""Which tool result answers which call.

A result belongs to the nearest earlier call of its id that is still open. Real conversations reuse ids, lose calls
and results, and put other messages between them, so a map over the whole history would pair the wrong ones. A second
result to a call just answered, with only results between, belongs to that call too: it must not outlive it.
"""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from aaa.messages.message import Message

__all__ = ["Pairing", "pair"]


class Pairing(msgspec.Struct, frozen=True):
    """Calls and results of a sequence of messages.

    `call_of` maps the index of a result to the index of the message that holds its call. `unanswered` lists calls
    without a result as (message index, call id); `orphans` results without a call, by index. All in order.
    """

    call_of: dict[int, int]
    unanswered: tuple[tuple[int, str], ...]
    orphans: tuple[int, ...]


def pair(messages: Sequence[Message], start: int = 0) -> Pairing:
    """Pair results with calls in `messages[start:]`; indices are those of `messages`. Cost: O(messages)."""
    open_calls: defaultdict[str, list[int]] = defaultdict(list)
    last_call: dict[str, int] = {}
    call_of: dict[int, int] = {}
    orphans: list[int] = []
    before_run = start - 1  # the message before the current run of results
    for index in range(start, len(messages)):
        message = messages[index]
        for call in message.tool_calls:
            open_calls[call.id].append(index)
            last_call[call.id] = index
        if message.role != "tool":
            before_run = index
            continue
        call_id = message.tool_call_id or ""
        if open_calls.get(call_id):
            call_of[index] = open_calls[call_id].pop()
        elif last_call.get(call_id, -1) >= max(before_run, start):
            call_of[index] = last_call[call_id]
        else:
            orphans.append(index)
    left = [(index, call_id) for call_id, indices in open_calls.items() for index in indices]
    return Pairing(call_of=call_of, unanswered=tuple(sorted(left)), orphans=tuple(orphans))
