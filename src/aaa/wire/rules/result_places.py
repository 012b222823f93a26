"""Where results must stand, and which do not.

    assistant(a)  tool(a)                                     right behind their call
    assistant(a)  assistant(b)  user  tool(a)  tool(b)        in the turn behind it, where the format makes turns

Neighbours of the assistant are one turn if the later ones are but calls, and every result comes before the next turn.
Else they were sent one by one, each with what stood in for its results, and stay so: a reply that says or thinks
something was made after such a stand-in.
"""

from collections.abc import Iterable, Sequence

from aaa.messages import Message
from aaa.wire.lossless import native
from aaa.wire.rules.answers import Answers

__all__ = ["displaced", "unanswered"]

Place = tuple[int, int]


def displaced(messages: Sequence[Message], found: Answers, *, in_turn: bool) -> dict[int, int]:
    """The results that do not stand where they must, with the message of their call, in order."""
    pairs = sorted((result, call) for (call, _), result in found.results.items())
    behind = _next([message.role != "tool" for message in messages])
    if not in_turn:
        return {result: call for result, call in pairs if result >= behind[call + 1]}
    starts = _starts_of_rows(messages)
    ends = _next([start == index for index, start in enumerate(starts)])
    words = _next(
        [
            message.role != "tool" and start in (-1, index)
            for index, (message, start) in enumerate(zip(messages, starts, strict=True))
        ]
    )
    fixed = {result for result, _ in pairs if _stays(messages[result])}
    late = {result for result, call in pairs if result >= (words if result in fixed else ends)[call + 1]}
    apart = {starts[call] for call, _ in unanswered(messages, found)} | {starts[c] for r, c in pairs if r in late}
    own = _next([message.role == "assistant" for message in messages])
    return {
        result: call for result, call in pairs if result in late or (starts[call] in apart and result >= own[call + 1])
    }


def unanswered(messages: Sequence[Message], found: Answers) -> list[Place]:
    """The calls that have no result, as (message, place of the call in it), in order."""
    calls = ((index, place) for index, message in enumerate(messages) for place in range(len(message.tool_calls)))
    return [call for call in calls if call not in found.results]


def _starts_of_rows(messages: Iterable[Message]) -> list[int]:
    """For each message of the assistant, the first of the row it is in; -1 for others."""
    starts: list[int] = []
    for index, message in enumerate(messages):
        before = starts[-1] if starts else -1
        goes_on = before >= 0 and message.tool_calls and not message.content
        starts.append(-1 if message.role != "assistant" else before if goes_on else index)
    return starts


def _next(is_end: Sequence[bool]) -> list[int]:
    """For each index, and the one behind the last, the next at or behind it that is an end."""
    ends = [len(is_end)]
    for index in reversed(range(len(is_end))):
        ends.append(index if is_end[index] else ends[-1])
    return ends[::-1]


def _stays(result: Message) -> bool:
    """Whether Anthropic's format writes the result where it was read, behind text or in a message of its own, and not
    first in the turn behind its call."""
    hints = native(result.extra, "anthropic")
    return "stays" in hints or "starts" in hints
