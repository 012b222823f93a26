"""Dropping the oldest messages until the rest fits."""

import logging
from bisect import bisect_left
from collections.abc import Callable, Sequence

from aimu.context.counters import Counter
from aimu.context.layout import layout_of
from aimu.context.sizes import sizes_of
from aimu.context.texts import MessageDict

__all__ = ["trim_messages"]

_log = logging.getLogger("aimu.context")


def trim_messages(
    messages: Sequence[MessageDict],
    max_tokens: int,
    *,
    keep_system: bool = True,
    keep_last: int = 2,
    counter: Counter | None = None,
) -> list[MessageDict]:
    """As few of the oldest messages dropped as make the rest fit `max_tokens`; see `count_tokens` for the measure.

    A call and its results are dropped together or kept together, whatever stands between them. What must be kept may
    be too large by itself: it is returned then, and a warning is logged with both numbers.

    Args:
        messages: dicts in OpenAI's chat format.
        max_tokens: what the result may have.
        keep_system: keep every system message; if anything is dropped, they come first, in their order.
        keep_last: how many messages at the end are kept at least, and the groups they are in; calls and results count.
        counter: as of `count_tokens`. One that counts whole texts is asked O(log messages) times.

    Raises:
        ValueError: keep_last below 0.
        WireError: a message that cannot be read or counted, with its index.

    Shape: a new list of the caller's own dicts; but for system messages, a subsequence of `messages`.
    """
    layout = layout_of(messages, keep_last=keep_last, keep_system=keep_system)
    size = sizes_of(messages, layout, counter)
    gone = _fewest(len(layout.groups), lambda count: size(count) <= max_tokens)
    if gone == len(layout.groups):
        _warn_if_above(size(gone), max_tokens)
    return [messages[index] for index in layout.without(gone)]


def _fewest(groups: int, fits: Callable[[int], bool]) -> int:
    """The number of groups to drop, found by halving; all of them if no number is known to fit."""
    if not groups or fits(0):
        return 0
    return 1 + bisect_left(range(1, groups), True, key=fits)


def _warn_if_above(tokens: int, max_tokens: int) -> None:
    if tokens > max_tokens:
        _log.warning(
            "trimmed as far as allowed, and still too large: what must be kept has %d tokens, the limit is %d; "
            "raise max_tokens, or keep less (keep_last, keep_system)",
            tokens,
            max_tokens,
        )
