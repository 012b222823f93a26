"""Head and groups: what must stay, and what must stay together.

    system  user │ assistant(call) tool tool │ assistant │ user │ assistant(call) user tool │
    ── head ──── │ ───── one group ───────── │ ─ one ─── │ ─ 1 ─│ ── one: the result came late ──

A group is a half-open range: an assistant message with tool calls together with all its results and whatever stands
between them, or any other message alone. Ranges of calls that are answered in turns are merged.
"""

from collections.abc import Sequence

from aaa.messages import Message, pair

__all__ = ["awaits_results", "groups", "head_length", "is_pinned", "pending_call"]


def groups(msgs: Sequence[Message], start: int = 0) -> list[tuple[int, int]]:
    """Half-open ranges of the indivisible groups from `start`, in order, without gaps.

    Shape: `groups(m, s)[0][0] == s`, each range starts where the one before ends, the last ends at `len(m)`.
    Cost: O(messages).
    """
    last_result: dict[int, int] = {}
    for result, call in pair(msgs, start).call_of.items():
        last_result[call] = max(result, last_result.get(call, call))
    ranges: list[tuple[int, int]] = []
    index = start
    while index < len(msgs):
        begin, end = index, index + 1
        while index < end:
            end = max(end, last_result.get(index, index) + 1)
            index += 1
        ranges.append((begin, end))
    return ranges


def head_length(messages: Sequence[Message]) -> int:
    """How many messages the head has: leading system messages, and the message after them if it is the user's."""
    length = 0
    while length < len(messages) and messages[length].is_system:
        length += 1
    if length < len(messages) and messages[length].role == "user":
        length += 1
    return length


def pending_call(messages: Sequence[Message]) -> int | None:
    """Index of the message whose calls are under way: the newest that has calls, while one of them has no result.

    What an earlier message called and never got is not under way any more. Cost: O(messages behind the newest calls).
    """
    results: set[str] = set()
    for index in reversed(range(len(messages))):
        message = messages[index]
        if message.role == "tool":
            results.add(message.tool_call_id or "")
        elif message.tool_calls:
            return None if all(call.id in results for call in message.tool_calls) else index
    return None


def awaits_results(messages: Sequence[Message]) -> bool:
    """Whether a call is under way: its result, or a user's yes, is still to come.

    An assistant that has spoken since waits for it no more.
    """
    call = pending_call(messages)
    return call is not None and all(message.role != "assistant" for message in messages[call + 1 :])


def is_pinned(message: Message) -> bool:
    """Whether a message after the head must stay as it is: it says so, or the system says it."""
    return message.pinned or message.is_system
