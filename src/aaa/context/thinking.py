"""Leaving out what a model thought in earlier turns."""

from collections.abc import Sequence

from aaa.messages import Message, OpaquePart, Part, without_parts

__all__ = ["without_old_thinking"]

_THOUGHTS = frozenset(("thinking", "redacted_thinking", "reasoning"))


def without_old_thinking(messages: Sequence[Message], *, keep_last: int = 1) -> list[Message]:
    """The messages without the thinking of all but the last `keep_last` messages of the assistant, hidden kinds too.

    What belongs to a tool loop that is still under way stays: providers want it back as it was.

    Shape: a subsequence, since a message that only thought goes as a whole.
    """
    own = [index for index, message in enumerate(messages) if message.role == "assistant"]
    turn = max((index for index, message in enumerate(messages) if message.role == "user"), default=-1)
    newest = own[-keep_last] if 0 < keep_last <= len(own) else (len(messages) if not keep_last else 0)
    loop = [index for index in own if index > turn]
    stop = min([newest, *loop[:1]])
    return [*without_parts(messages[:stop], _is_thought), *messages[stop:]]


def _is_thought(part: Part) -> bool:
    return isinstance(part, OpaquePart) and part.type in _THOUGHTS
