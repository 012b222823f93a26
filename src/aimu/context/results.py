"""Making tool results smaller, without a policy: every old one, or every long one."""

from collections.abc import Sequence

from aaa.context import ClearToolResults, HeuristicCounter, Transcript, TruncateToolResults, Work
from aaa.context.conversation import Conversation
from aaa.context.counters import Measure
from aaa.context.edits import render
from aaa.context.strategies import SyncStrategy
from aimu.context.reading import owned, readable
from aimu.context.texts import MessageDict

__all__ = ["clear_tool_results", "truncate_tool_results"]


def clear_tool_results(
    messages: Sequence[MessageDict],
    *,
    keep_last: int = 4,
    placeholder: str = "[tool result removed to save context]",
) -> list[MessageDict]:
    """The content of all but the last `keep_last` tool results replaced by `placeholder`.

    The calls stay, so a model knows what it did and can do it again. A result that is no larger than the placeholder
    stays too.

    Raises:
        ValueError: keep_last below 0, or a placeholder without text, which providers refuse.
        WireError: a message that cannot be read, with its index.

    Shape: a new list as long as `messages`; the caller's own dict wherever nothing was changed.
    """
    return _reduced(messages, ClearToolResults(keep_last, placeholder))


def truncate_tool_results(
    messages: Sequence[MessageDict], *, max_chars: int = 8000, head: float = 0.7
) -> list[MessageDict]:
    """Tool results longer than `max_chars` characters cut to their start and end, a note of the cut included.

    `head` is the start's share of what is kept.

    Raises:
        ValueError: max_chars below 1, or head not between 0 and 1.
        WireError: a message that cannot be read, with its index.

    Shape: a new list as long as `messages`; the caller's own dict wherever nothing was changed.
    """
    return _reduced(messages, TruncateToolResults(max_chars, head))


def _reduced(messages: Sequence[MessageDict], strategy: SyncStrategy) -> list[MessageDict]:
    """What `strategy` makes of the whole conversation, with no recent tail to spare."""
    plain = readable(messages)
    conversation, measure = Conversation(plain), Measure(HeuristicCounter())
    transcript = Transcript(conversation.messages, count=measure.message)
    items = render(transcript, ())
    work = Work(transcript, items, measure=measure, target_tokens=0, budget_tokens=0, keep_recent=0)
    strategy.reduce(work)
    return owned(conversation.prompt(work.items, transcript), messages, plain)
