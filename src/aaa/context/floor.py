"""What is left when the strategies are done and the prompt still does not fit; no model call.

    1  fewer recent groups   results outside the newest groups are cleared, then groups dropped, oldest first
    2  results cut           what is left of the results is cut to one length, start and end kept, JSON still JSON
    3  arguments cut         those of calls likewise, leaf by leaf
    4  media cut             images and files of results become notes, the oldest first
    5  users dropped         what `sticky=True` spared of the user's words, with a marker
    6  ContextFloorError     with the sizes

Groups are dropped only where that can be enough, so that no user's word goes for the sake of one huge result.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from aaa.context.counters import Measure
from aaa.context.cutting import cut_arguments, cut_media, cut_results
from aaa.context.edits import Item
from aaa.context.invariants import is_lawful
from aaa.context.ledger import is_written_marker
from aaa.context.markers import marker
from aaa.context.strategies.clear import clear_results
from aaa.context.strategies.drop import drop_groups
from aaa.context.work import Work
from aaa.errors import ContextFloorError

__all__ = ["floor_error", "reach_floor"]

_PLACEHOLDER = "[tool result removed to save context]"


def reach_floor(work: Work, limit_tokens: int, aim_tokens: int) -> list[str]:
    """Make the prompt fit `limit_tokens` whatever it takes, one rung after the other; says which were taken.

    `aim_tokens` is what is cut aims at, so that there is room for the next call.

    The prompt may still be too large afterwards: head, pinned messages and the newest group stay.
    """
    rungs: list[str] = []
    work.strategy = "floor"
    before = work.items
    for rung in _rungs(work, limit_tokens, min(aim_tokens, limit_tokens)):
        if not is_lawful(work):
            work.restore(before)
            continue
        before = work.items
        rungs.append(rung)
        if work.tokens <= limit_tokens:
            break
    return rungs


def _rungs(work: Work, limit: int, aim: int) -> Iterator[str]:
    if work.tokens <= limit:
        return
    keeps = range(max(work.keep_recent, 1), 0, -1)
    for keep in keeps:
        if _clear_before(work, work.tail_of(keep)):
            yield f"fewer_recent({keep}, cleared)"
    yield from _cuts(work, lambda: not _dropping_is_enough(work, limit), limit, aim)
    for keep in keeps:
        if drop_groups(work, work.tail_of(keep), limit):
            yield f"fewer_recent({keep}, dropped)"
    if drop_groups(work, work.tail_of(1), limit, spare_summaries=False):
        yield "summary_dropped"
    yield from _cuts(work, lambda: True, limit, aim)
    if work.spared and drop_groups(work, work.tail_of(1), limit, spare_summaries=False, spare_users=False):
        yield "users_dropped"
    if _leave_out_marker(work):
        yield "marker_left_out"


def _leave_out_marker(work: Work) -> bool:
    """Leave out the line that tells of what was dropped, unless the user said some of it; the edits still tell."""
    told = [edit for edit in work.drops.values() if edit.marked]
    if not told or any(work.transcript[edit.index].role == "user" for edit in told):
        return False
    work.drops.update((edit.index, replace(edit, marked=False)) for edit in told)
    work.messages = [item.message for item in work.items if not is_written_marker(item)]
    return True


def _cuts(work: Work, is_needed: Callable[[], bool], limit: int, aim: int) -> Iterator[str]:
    for cut in (cut_results, cut_arguments, cut_media):
        if is_needed() and cut(work, limit, aim):
            yield cut.__name__


def _clear_before(work: Work, stop: int) -> int:
    results = [index for index in range(work.head, stop) if work.messages[index].role == "tool"]
    return clear_results(work, results, _PLACEHOLDER)


def _dropping_is_enough(work: Work, limit: int) -> bool:
    start = work.tail_of(1)
    kept = work.kept_in(work.head, start)
    left = [*work.messages[: work.head], *(work.messages[index] for index in kept), *work.messages[start:]]
    return work.size_of([*left, marker(1000)]) <= limit


def floor_error(
    items: Sequence[Item], measure: Measure, *, head_raw: int, needed: int, budget: int, reserve: int
) -> ContextFloorError:
    """The error of a prompt of `items`, which needs more than its budget. Units: tokens; `head_raw` uncalibrated."""
    tools, head = measure.size(measure.tools_raw), measure.size(head_raw)
    largest = sorted((item for item in items if item.source is not None), key=lambda item: -item.raw)[:3]
    tail = max(needed - head - tools, 0)
    return ContextFloorError(
        window_tokens=budget + reserve,
        reserve_tokens=reserve,
        head_tokens=head if tail else needed - tools,
        tools_tokens=tools,
        tail_tokens=tail,
        largest=[(item.source or 0, item.message.role, measure.size(item.raw)) for item in largest],
    )
