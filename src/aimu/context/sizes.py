"""How large a conversation is when its oldest groups have gone.

estimate, additive counters   weights w0 w1 w2 …   from running sums: O(1) a question
any other                     whole conversations  O(conversation) a question, since a sum of parts is no count
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeVar

from aaa.context import TokenCounter
from aaa.context.counters import AdditiveCounter, Measure
from aimu.context.counters import Counter, is_token_counter, text_counter
from aimu.context.layout import Layout
from aimu.context.reading import read
from aimu.context.texts import MessageDict, estimate_of, joined, message_texts

__all__ = ["sizes_of"]

T = TypeVar("T")


def sizes_of(messages: Sequence[MessageDict], layout: Layout, counter: Counter | None) -> Callable[[int], int]:
    """A function of how many of the oldest groups have gone. Cost: O(size of the messages), once.

    Raises:
        TypeError: a counter that is none.
        WireError: naming the index of the message that cannot be counted.
    """
    if is_token_counter(counter):
        return _by_messages(messages, layout, counter)
    texts = message_texts(messages)
    if counter is None:
        return _summed([len(text) + 1 for text in texts], layout, lambda chars: estimate_of(max(chars - 1, 0)))
    count = text_counter(counter)
    return _whole(texts, layout, lambda chosen: count(joined(chosen)))


def _by_messages(messages: Sequence[MessageDict], layout: Layout, counter: TokenCounter) -> Callable[[int], int]:
    known, measure = read(messages), Measure(counter)
    if isinstance(measure.base, AdditiveCounter):  # by its own count: what media a policy adds, `count_tokens` does not
        return _summed(list(map(measure.base.count_message, known)), layout, measure.size)
    return _whole(known, layout, lambda chosen: counter.count(chosen, ()))


def _summed(weights: Sequence[int], layout: Layout, size: Callable[[int], int]) -> Callable[[int], int]:
    total = sum(weights)
    gone = list(accumulate((sum(weights[i] for i in group) for group in layout.groups), initial=0))
    return lambda count: size(total - gone[count])


def _whole(items: Sequence[T], layout: Layout, size: Callable[[list[T]], int]) -> Callable[[int], int]:
    return lambda count: size([items[index] for index in layout.without(count)])
