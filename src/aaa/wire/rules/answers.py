"""Which result answers which call, one call at a time.

`aaa.messages.pair` says which message's call a result belongs to. One message may call several tools under one id, or
under none, so here each of its results gets one of its calls: of its id, of its name if it has one, the first that is
still open. A result that is a stand-in of ours counts only where no real one is: it may have been stored, and the real
one may have come since.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from aaa.messages import Message, pair
from aaa.wire.rules.stand_ins import MISSING_RESULT

__all__ = ["Answers", "answers"]

Place = tuple[int, int]


class Answers(msgspec.Struct, frozen=True):
    """Calls and results of a conversation, by index.

    `results` maps (message, place of the call in it) to the result; `owners` every result, repeated ones included, to
    the message whose call it belongs to.
    """

    results: dict[Place, int]
    owners: dict[int, int]
    repeated: frozenset[int]
    orphans: frozenset[int]


def answers(messages: Sequence[Message]) -> Answers:
    """Pair results with calls. Cost: O(messages)."""
    stand_ins = [index for index, message in enumerate(messages) if _is_stand_in(message)]
    owners = _owners(messages, frozenset(stand_ins))
    results = _assigned(messages, owners)
    for index, owner in _owners_of_stand_ins(messages, stand_ins):
        place = _open_place(messages, results, index, owner)
        if place is not None:
            results[place] = index
        if place is not None or _has_call(messages[owner], messages[index]):
            owners[index] = owner
    used = frozenset(results.values())
    tools = [index for index, message in enumerate(messages) if message.role == "tool"]
    repeated = frozenset(index for index in owners if index not in used)
    return Answers(results, owners, repeated, frozenset(index for index in tools if index not in owners))


def _is_stand_in(message: Message) -> bool:
    return message.role == "tool" and message.content == MISSING_RESULT


def _owners(messages: Sequence[Message], left_out: frozenset[int]) -> dict[int, int]:
    if not left_out:
        return dict(pair(messages).call_of)
    kept = [index for index in range(len(messages)) if index not in left_out]
    found = pair([messages[index] for index in kept]).call_of
    return {kept[result]: kept[call] for result, call in found.items()}


def _assigned(messages: Sequence[Message], owners: dict[int, int]) -> dict[Place, int]:
    by_owner: defaultdict[int, list[int]] = defaultdict(list)
    for result, owner in sorted(owners.items()):
        by_owner[owner].append(result)
    results: dict[Place, int] = {}
    for owner, found in by_owner.items():
        _assign(messages, owner, found, results)
    return results


def _assign(messages: Sequence[Message], owner: int, found: Iterable[int], results: dict[Place, int]) -> None:
    calls = messages[owner].tool_calls
    still_open: defaultdict[str, list[int]] = defaultdict(list)
    for place, call in enumerate(calls):
        still_open[call.id].append(place)
    for result in found:
        places = still_open[messages[result].tool_call_id or ""]
        if places:
            name = messages[result].name
            chosen = next((place for place in places if calls[place].name == name), places[0])
            places.remove(chosen)
            results[owner, chosen] = result


def _owners_of_stand_ins(messages: Sequence[Message], stand_ins: Sequence[int]) -> Iterable[Place]:
    """For each stand-in the last message of the assistant before it, if there is one."""
    if not stand_ins:
        return
    wanted, last = set(stand_ins), None
    for index, message in enumerate(messages):
        if message.role == "assistant":
            last = index
        elif index in wanted and last is not None:
            yield index, last


def _open_place(messages: Sequence[Message], results: dict[Place, int], index: int, owner: int) -> Place | None:
    call_id = messages[index].tool_call_id or ""
    calls = messages[owner].tool_calls
    places = ((owner, place) for place, call in enumerate(calls) if call.id == call_id)
    return next((place for place in places if place not in results), None)


def _has_call(owner: Message, result: Message) -> bool:
    return any(call.id == (result.tool_call_id or "") for call in owner.tool_calls)
