"""Which messages stand together in one of Gemini's contents.

    assistant messages in a row             one content of the model
    the results of a turn                   one content behind it, in the order of its calls, wherever they came
    everything else in a row                one content of the user, apart from the results before it

So the API wants it: as many responses as calls, in the content that follows. Where a conversation we read was laid out
otherwise, notes on its messages say where a content began, and what stands there stays there.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from aaa.messages import Message
from aaa.wire.gemini.notes import FORMAT, noted
from aaa.wire.lossless import native
from aaa.wire.made_ids import Answered, call_answered_by

__all__ = ["grouped", "with_layout"]

Groups = list[list[int]]


def grouped(messages: Sequence[Message], calls: Mapping[int, Answered]) -> Groups:
    """The contents, each as the indices of its messages; `calls` is from `call_answered_by`."""
    behind = _results_of_turns(messages, calls)
    moved = {index for results in behind.values() for index in results}
    groups: Groups = []
    for index in range(len(messages)):
        if index not in moved:
            for each in (index, *behind.get(index, ())):
                _place(messages, groups, each)
    return groups


def with_layout(messages: Sequence[Message], groups: Groups) -> list[Message]:
    """The messages, with notes where `grouped` would lay them out otherwise than `groups`."""
    usual = grouped(messages, call_answered_by(messages))
    pairs = set(zip([(), *map(tuple, usual)], map(tuple, usual), strict=False))
    found = list(messages)
    for before, group in zip([(), *map(tuple, groups)], map(tuple, groups), strict=False):
        if (before, group) not in pairs:
            for index in group:
                found[index] = noted(found[index], place="own" if index == group[0] else "joined")
    return found


def _results_of_turns(messages: Sequence[Message], calls: Mapping[int, Answered]) -> dict[int, list[int]]:
    """The results that follow each turn, in the order of its calls, without those that stay where they stood."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for result, answered in sorted(calls.items(), key=lambda item: (item[1].turn, item[1].place, item[0])):
        if _noted_place(messages[result]) is None:
            found[answered.turn].append(result)
    return found


def _place(messages: Sequence[Message], groups: Groups, index: int) -> None:
    last = messages[groups[-1][-1]] if groups else None
    message, place = messages[index], _noted_place(messages[index])
    joins = last is not None and (
        _side(message) == _side(last) if place == "joined" else place is None and _kind(message) == _kind(last)
    )
    if joins:
        groups[-1].append(index)
    else:
        groups.append([index])


def _noted_place(message: Message) -> str | None:
    return native(message.extra, FORMAT).get("place")


def _side(message: Message) -> str:
    return "model" if message.role == "assistant" else "user"


def _kind(message: Message) -> str:
    return message.role if message.role in ("assistant", "tool") else "user"
