"""Calls of OpenAI's Responses format that a client answers by an item of their own: shell, patches, a computer.

    shell_call 1, shell_call_output 1, shell_call 2   user   shell_call_output 0
                                       ╳ no output            ╳ no call

They are opaque parts of the assistant's messages, calls and outputs alike. What stands alone is left out: an output
would have to be made up in each type's own shape, a computer's as a picture. Reasoning that led to what is left out,
and to nothing else, goes with it.

Sources: "No tool output found for function call …", "No tool call found for function call output with call_id …"
(OpenAI); "Shell runs are represented by paired output items" (OpenAI's guide to the shell tool, 2026); "Item 'rs_…' of
type 'reasoning' was provided without its required following item".
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, ClassVar

from aaa.messages import Message, OpaquePart
from aaa.wire.openai_responses.kinds import CLIENT_CALLS
from aaa.wire.openai_responses.order import in_order, is_of_type, parts_of, without
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.references import points_elsewhere
from aaa.wire.rules.rule import Rule, cuts_of

__all__ = ["ClientCalls"]

Place = tuple[int, int]

_OUTPUTS = tuple(f"{kind}_output" for kind in CLIENT_CALLS)


@dataclass(frozen=True)
class ClientCalls(Rule):
    """Each call has one output somewhere behind it, each output its call before it.

    A request that `may_continue` what the provider keeps has outputs whose calls are there.
    """

    name: ClassVar[str] = "client_calls"
    may_continue: bool = False

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages with a call or an output that stands alone."""
        return [Violation(self.name, problem, index) for (index, _), problem in sorted(self._alone(messages).items())]

    def safe_cuts(self, messages: Sequence[Message]) -> set[int]:
        """Every place that no call and one of its outputs stand on both sides of."""
        steps = [0] * (len(messages) + 1)
        for (output, _), (call, _) in _Pairs.of(messages).owners.items():
            steps[call + 1] += 1
            steps[output + 1] -= 1
        open_pairs = list(accumulate(steps))
        return {index for index in cuts_of(messages) if not open_pairs[index]}

    def mend(self, draft: Draft) -> None:
        """Leave out what stands alone."""
        alone: defaultdict[int, dict[int, str]] = defaultdict(dict)
        for (index, number), problem in sorted(self._alone(draft.messages).items()):
            alone[index][number] = problem
        made: list[Entry] = []
        for index, (source, message) in enumerate(draft.entries):
            kept = without(message, _with_reasoning(message, set(alone[index]))) if index in alone else message
            for problem in alone[index].values() if index in alone else ():
                draft.note(self.name, "changed" if kept else "dropped", source, problem)
            if kept:
                made.append(Entry(source, kept))
        draft.entries = made

    def _alone(self, messages: Sequence[Message]) -> dict[Place, str]:
        pairs = _Pairs.of(messages)
        is_all = not self.may_continue and not (pairs.orphans and any(map(points_elsewhere, messages)))
        orphans = dict.fromkeys(pairs.orphans if is_all else (), "orphan_output")
        return orphans | dict.fromkeys(pairs.repeated, "repeated_output") | dict.fromkeys(pairs.lost, "missing_output")


@dataclass
class _Pairs:
    """Calls and outputs by their places; `owners` maps every output that has one to its call."""

    owners: dict[Place, Place] = field(default_factory=dict[Place, Place])
    lost: set[Place] = field(default_factory=set[Place])
    repeated: set[Place] = field(default_factory=set[Place])
    orphans: set[Place] = field(default_factory=set[Place])

    @classmethod
    def of(cls, messages: Sequence[Message]) -> "_Pairs":
        found, calls = cls(), dict[tuple[str, str], Place]()
        for place, part in _items(messages):
            fields = json.loads(part.json)
            if part.type in CLIENT_CALLS:
                calls |= {(f"{part.type}_output", key): place for key in _names(fields)}
                found.lost.add(place)
                continue
            call = next((calls[part.type, key] for key in _names(fields)[:1] if (part.type, key) in calls), None)
            if call is None:
                found.orphans.add(place)
                continue
            found.owners[place] = call
            if call not in found.lost:
                found.repeated.add(place)
            found.lost.discard(call)
        return found


def _items(messages: Sequence[Message]) -> Iterator[tuple[Place, OpaquePart]]:
    for index, message in enumerate(messages):
        for number, part in enumerate(parts_of(message) if message.role == "assistant" else ()):
            if isinstance(part, OpaquePart) and is_of_type(part, *CLIENT_CALLS, *_OUTPUTS):
                yield (index, number), part


def _names(fields: dict[str, Any]) -> list[str]:
    """What a call goes by, its `call_id` first; outputs of the local shell have been sent with an `id` alone."""
    return [name for name in (fields.get("call_id"), fields.get("id")) if isinstance(name, str)]


def _with_reasoning(message: Message, left_out: set[int]) -> set[int]:
    """`left_out`, and the reasoning that is followed by nothing but these before the next reasoning, or the end."""
    parts, follows, found = parts_of(message), list[bool](), set(left_out)
    for place in reversed(in_order(message)):
        if isinstance(place, int) and is_of_type(parts[place], "reasoning"):
            if follows and all(follows):
                found.add(place)
            follows.clear()
        else:
            follows.append(place in left_out)
    return found
