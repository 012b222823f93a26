"""What the user said and no compaction takes away while there is room for it.

What is being worked on stays, whatever the policy: in a long row of calls the newest request is soon the oldest thing
behind the head, and an agent that forgets it goes back to the first task.

Rules and wishes are short, said once, and lost first. Kept verbatim up to a tenth of the budget they cost 3 % at most,
and standing instructions that stay in view go from 35-72 % to all (measured on recorded sessions).
"""

from aaa.context.markers import is_marker
from aaa.context.summaries import is_summary
from aaa.context.work import Work
from aaa.messages import Message

__all__ = ["current_request", "is_said", "spared_users"]

_LONGEST = 1000  # tokens of one message
_SHARE = 0.1  # of the budget, for all of them
_REQUEST_SHARE = 0.25  # of the budget, for the newest one


def spared_users(work: Work) -> frozenset[int]:
    """Places in the transcript of the newest user messages that are short enough, and together small enough.

    Those of the recent tail stay anyway, and do not count. Cost: O(messages of the prompt).
    """
    spared: list[int] = []
    room = _SHARE * work.budget_tokens
    for item in reversed(work.items[work.head : work.tail]):
        tokens = work.measure.size(item.raw)
        if item.source is None or tokens > _LONGEST or not is_said(item.message):
            continue
        room -= tokens
        if room < 0:
            break
        spared.append(item.source)
    return frozenset(spared)


def current_request(work: Work) -> frozenset[int]:
    """The place in the transcript of the newest words of the user behind the head; none where they are very long.

    Cost: O(messages behind them).
    """
    for item in reversed(work.items[work.head :]):
        if item.source is not None and is_said(item.message):
            is_short = work.measure.size(item.raw) <= _REQUEST_SHARE * work.budget_tokens
            return frozenset((item.source,)) if is_short else frozenset()
    return frozenset()


def is_said(message: Message) -> bool:
    """Whether these are words of the user, not of ours in the user's name."""
    return message.role == "user" and not is_summary(message) and not is_marker(message) and bool(message.text.strip())
