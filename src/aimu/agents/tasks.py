"""What a run puts into the conversation: its instructions in front, its task at the end, neither of them twice.

A run that failed half-way leaves its task and what was done for it in the conversation; run again, it goes on.
"""

from collections.abc import Sequence

from aimu.context.summarizing import is_own_summary
from aimu.context.texts import MessageDict, fields_of

__all__ = ["instructed", "is_instruction", "with_task"]


def with_task(messages: Sequence[MessageDict], task: str) -> list[MessageDict]:
    """The conversation with `task` as its last question, asked once."""
    asked = () if _is_open(messages, task) else ({"role": "user", "content": task},)
    return [*messages, *asked]


def _is_open(messages: Sequence[MessageDict], task: str) -> bool:
    """Whether the user's last message is `task`, and has no answer: calls and their results are none yet."""
    for message in map(fields_of, reversed(messages)):
        if message.get("role") == "user":
            return message.get("content") == task
        if message.get("role") == "assistant" and not message.get("tool_calls"):
            return False
    return False


def instructed(messages: Sequence[MessageDict], system: str | None, *, is_new: bool) -> list[MessageDict]:
    """The conversation under `system`: put in front where there are no instructions, in their place if it is new."""
    head = {"role": "system", "content": system}
    place = next((index for index, message in enumerate(messages) if is_instruction(message)), None)
    if system is None or (place is not None and not is_new):
        return list(messages)
    if place is None:
        return [head, *messages]
    kept = messages[place] if fields_of(messages[place]).get("content") == system else head
    return [*messages[:place], kept, *messages[place + 1 :]]


def is_instruction(message: MessageDict) -> bool:
    """Whether it tells the model what to do; a summary is a system message too, and does not."""
    return fields_of(message).get("role") in ("system", "developer") and not is_own_summary(message)
