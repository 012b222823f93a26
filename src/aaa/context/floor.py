"""What is left when the strategies are done and the prompt still does not fit; no model call.

    1  fewer recent groups   results outside the newest groups are cleared, then groups dropped, oldest first
    2  results cut           what is left of the results is cut to one length, start and end kept
    3  ContextFloorError     with the sizes

Groups are dropped only where that can be enough, so that no user's word goes for the sake of one huge result.
"""

from collections.abc import Iterator

from aaa.context.edits import pinned_in
from aaa.context.invariants import is_lawful
from aaa.context.markers import marker
from aaa.context.shorten import shortened
from aaa.context.strategies.clear import clear_results
from aaa.context.strategies.drop import drop_groups
from aaa.context.work import Work
from aaa.messages import Message, with_text

__all__ = ["reach_floor"]

_PLACEHOLDER = "[tool result removed to save context]"
_SHORTEST_RESULT = 200  # characters a result is never cut below


def reach_floor(work: Work, limit_tokens: int) -> list[str]:
    """Make the prompt fit `limit_tokens` whatever it takes, one rung after the other; says which were taken.

    The prompt may still be too large afterwards: head, pinned messages and the newest group stay.
    """
    rungs: list[str] = []
    work.strategy = "floor"
    before = work.items
    for rung in _rungs(work, limit_tokens):
        if not is_lawful(work):
            work.restore(before)
            continue
        before = work.items
        rungs.append(rung)
        if work.tokens <= limit_tokens:
            break
    return rungs


def _rungs(work: Work, limit: int) -> Iterator[str]:
    if work.tokens <= limit:
        return
    keeps = range(max(work.keep_recent, 1), 0, -1)
    for keep in keeps:
        if _clear_before(work, work.tail_of(keep)):
            yield f"fewer_recent({keep}, cleared)"
    if not _dropping_is_enough(work, limit) and _cut_results(work, limit):
        yield "cut_results"
    for keep in keeps:
        if drop_groups(work, work.tail_of(keep), limit):
            yield f"fewer_recent({keep}, dropped)"
    if drop_groups(work, work.tail_of(1), limit, spare_summaries=False):
        yield "summary_dropped"
    if _cut_results(work, limit):
        yield "cut_results"


def _clear_before(work: Work, stop: int) -> int:
    results = [index for index in range(work.head, stop) if work.messages[index].role == "tool"]
    return clear_results(work, results, _PLACEHOLDER)


def _dropping_is_enough(work: Work, limit: int) -> bool:
    start = work.tail_of(1)
    pinned = pinned_in(work.messages, work.head, start)
    left = [*work.messages[: work.head], *(work.messages[index] for index in pinned), *work.messages[start:]]
    return work.size_of([*left, marker(1000)]) <= limit


def _cut_results(work: Work, limit: int) -> bool:
    """Cut the longest results to the longest common length that fits; the shortest allowed if none does."""
    lengths = {
        index: len(message.text)
        for index, message in enumerate(work.messages)
        if message.role == "tool" and not work.is_protected(index) and len(message.text) > _SHORTEST_RESULT
    }
    if not lengths:
        return False
    low, high = _SHORTEST_RESULT, max(lengths.values())
    while low < high:  # the largest length in [low, high) that fits, found by halving
        middle = (low + high + 1) // 2
        if work.size_of(_with_results_cut(work, lengths, middle)) <= limit:
            low = middle
        else:
            high = middle - 1
    work.messages = _with_results_cut(work, lengths, low)
    return True


def _with_results_cut(work: Work, lengths: dict[int, int], max_chars: int) -> list[Message]:
    messages = work.messages[:]
    for index, length in lengths.items():
        message = messages[index]
        if length > max_chars and message.content is not None:
            messages[index] = with_text(message, shortened(message.content, max_chars))
    return messages
