"""Large results and large arguments cut to the longest common length that fits, and images of results left out.

Room is shared: the largest are cut to one length, what is shorter stays whole. JSON stays JSON, and the arguments of a
call stay an object with the same keys. What is cut is cut below the trigger if it can be, so that the next call need
not cut again.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, cast

from msgspec.structs import replace

from aaa.context.abridged import JsonAbridger, parsed
from aaa.context.media_notes import with_notes
from aaa.context.shorten import cut_text, shortened
from aaa.context.work import Work
from aaa.messages import Message, ToolCall, with_text
from aaa.wire.rewriting import with_arguments

__all__ = ["SHORTEST", "cut_arguments", "cut_media", "cut_results", "with_shorter_arguments"]

SHORTEST = 200  # characters that a result, or the arguments of a call, are never cut below

_Cut = Callable[[Message, int], Message]


def cut_results(work: Work, limit_tokens: int, aim_tokens: int) -> bool:
    """Cut the longest results; says whether there were any to cut. Results in pinned messages stay."""
    abridger_of = cache(_of_text)  # a text is read once, for all the lengths that are tried

    def cut(message: Message, max_chars: int) -> Message:
        assert message.content is not None, "it is longer than that"
        content = shortened(message.content, max_chars, cut=lambda text, cap, _: _shorter(text, cap, abridger_of(text)))
        return message if content is message.content else with_text(message, content)

    lengths = {i: len(m.text) for i, m in enumerate(work.messages) if m.role == "tool"}
    return _cut_level(work, (aim_tokens, limit_tokens), lengths, cut)


def cut_arguments(work: Work, limit_tokens: int, aim_tokens: int) -> bool:
    """Cut the longest arguments of calls, leaf by leaf; says whether there were any to cut."""
    abridger_of = cache(_of_arguments)

    def cut(message: Message, max_chars: int) -> Message:
        return replace(
            message, tool_calls=tuple(_with_less(call, max_chars, abridger_of) for call in message.tool_calls)
        )

    lengths = {
        index: max(len(call.arguments_json) for call in message.tool_calls)
        for index, message in enumerate(work.messages)
        if message.tool_calls
    }
    return _cut_level(work, (aim_tokens, limit_tokens), lengths, cut)


def cut_media(work: Work, limit_tokens: int, _aim_tokens: int) -> bool:
    """Put notes for the images and files of results, the oldest first, as many as it takes; says whether for any."""
    is_cut = False
    for index, message in enumerate(work.messages):
        if work.tokens <= limit_tokens:
            break
        noted = with_notes(message, also_linked=True) if message.role == "tool" else message
        if noted is not message and not work.is_protected(index) and work.count(noted) < work.items[index].raw:
            work.messages[index] = noted
            is_cut = True
    return is_cut


def with_shorter_arguments(message: Message, max_chars: int) -> Message:
    """The message with the arguments of its calls cut to `max_chars`, leaf by leaf; itself if they are short enough."""
    calls = tuple(_with_less(call, max_chars, _of_arguments) for call in message.tool_calls)
    return message if calls == message.tool_calls else replace(message, tool_calls=calls)


def _cut_level(work: Work, goals: tuple[int, int], lengths: dict[int, int], cut: _Cut) -> bool:
    """Cut what is longer than the longest common length that reaches the first of `goals` that can be reached.

    To the shortest allowed if none can. Cost: O(what is kept), however long the messages are.
    """
    lengths = {i: length for i, length in lengths.items() if length > SHORTEST and not work.is_protected(i)}
    if not lengths:
        return False
    low, high = SHORTEST, max(lengths.values())
    best = _with_cuts(work, lengths, low, cut)
    limit = goals[0] if work.size_of(best) <= goals[0] else goals[1]
    step = SHORTEST
    while low < high:
        middle = min(low + step, high) if step else (low + high + 1) // 2
        tried = _with_cuts(work, lengths, middle, cut)
        if work.size_of(tried) <= limit:
            low, best, step = middle, tried, step * 2
        else:
            high, step = middle - 1, 0  # from here on by halving
    if work.size_of(best) >= work.tokens:
        return False
    work.messages = best
    return True


def _with_cuts(work: Work, lengths: dict[int, int], max_chars: int, cut: _Cut) -> list[Message]:
    messages = work.messages[:]
    for index, length in lengths.items():
        if length > max_chars:
            messages[index] = cut(messages[index], max_chars)
    return messages


def _of_text(text: str) -> JsonAbridger | None:
    value = parsed(text)
    return None if value is None else JsonAbridger(value)


def _of_arguments(text: str) -> JsonAbridger:
    value = parsed(text)
    is_object = isinstance(value, dict)
    return JsonAbridger(cast("dict[str, Any]", value) if is_object else {"[arguments that are no object]": text})


def _shorter(text: str, max_chars: int, abridger: JsonAbridger | None) -> str:
    json = abridger.abridged(max_chars) if abridger else None
    return cut_text(text, max_chars) if json is None else json


def _with_less(call: ToolCall, max_chars: int, abridger_of: Callable[[str], JsonAbridger]) -> ToolCall:
    text = call.arguments_json
    if len(text) <= max_chars:
        return call
    if '"custom"' in call.extra:  # a custom tool's input is text, not JSON
        return with_arguments(call, cut_text(text, max_chars))
    json = abridger_of(text).with_all_keys(max_chars)
    return call if json is None or len(json) >= len(text) else with_arguments(call, json)
