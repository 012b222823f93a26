"""Calls and results: each call answered once, in its place; no result without its call.

    assistant(a, b)  user  tool(a)  tool(a)  tool(z)
                      ╳      moved   repeated  orphan         b has no result

Every provider renders a result as the answer to its call, so this holds also for the servers that do not look. A
result that came late goes back to its call; what was signed between the two was signed over other words, which the
draft is told. One that names only its tool gets the id of the call it answers. A result without its call cannot be
shown to a model as what it is; it is turned away, with an entry in the report.

Sources: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
(OpenAI); "`tool_use` ids were found without `tool_result` blocks immediately after", "each tool_use must have a single
result" (Anthropic); "the number of function response parts is equal to the number of function call parts" (Gemini);
"Not the same number of function calls and responses" (Mistral).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

import msgspec

from aaa.messages import Message
from aaa.wire.report import Violation
from aaa.wire.rewriting import with_result_id
from aaa.wire.rules.answers import Answers, answers
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.named_results import ids_by_name
from aaa.wire.rules.references import points_elsewhere
from aaa.wire.rules.result_places import displaced, unanswered
from aaa.wire.rules.rule import Rule, cuts_of
from aaa.wire.rules.stand_ins import MISSING_RESULT

__all__ = ["Pairing"]


@dataclass(frozen=True)
class Pairing(Rule):
    """Results stand right behind their call; with `in_turn` anywhere in the user's turn that follows the assistant's,
    because the format makes one turn of neighbours and puts results first in it. The first of several is kept.

    A request that `may_continue` what the provider keeps (`previous_response_id`) has results whose calls are there.
    """

    name: ClassVar[str] = "pairing"
    in_turn: bool = False
    may_continue: bool = False

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Results that are lost, elsewhere, said twice, or without their call or its id."""
        ids = ids_by_name(messages)
        messages = _with_ids(messages, ids)
        found = self._answers(messages)
        problems = [(index, "result_without_id") for index in ids]
        problems += [(index, "missing_result") for index, _ in unanswered(messages, found)]
        problems += [(index, "displaced_result") for index in displaced(messages, found, in_turn=self.in_turn)]
        problems += [(index, "repeated_result") for index in found.repeated]
        problems += [(index, "orphan_result") for index in found.orphans]
        return [Violation(self.name, problem, index) for index, problem in sorted(problems)]

    def safe_cuts(self, messages: Sequence[Message]) -> set[int]:
        """Every place that no call and one of its results stand on both sides of."""
        steps = [0] * (len(messages) + 1)
        for result, call in answers(_with_ids(messages, ids_by_name(messages))).owners.items():
            steps[call + 1] += 1
            steps[result + 1] -= 1
        open_pairs = list(accumulate(steps))
        return {index for index in cuts_of(messages) if not open_pairs[index]}

    def mend(self, draft: Draft) -> None:
        """Tell what results belong to; turn away, move, and stand in for them."""
        for index, call_id in ids_by_name(draft.messages).items():
            source, message = draft.entries[index]
            draft.note(self.name, "changed", source, "result_without_id")
            draft.entries[index] = Entry(source, with_result_id(message, call_id))
        messages = draft.messages
        found = self._answers(messages)
        moves = _Moves(draft, messages)
        for result, call in displaced(messages, found, in_turn=self.in_turn).items():
            moves.late[call].append(result)
        for call, place in unanswered(messages, found):
            moves.lost[call].append(place)
        draft.entries = moves.made(found)

    def _answers(self, messages: Sequence[Message]) -> Answers:
        found = answers(messages)
        is_all = not self.may_continue and not (found.orphans and any(map(points_elsewhere, messages)))
        return found if is_all else msgspec.structs.replace(found, orphans=frozenset())


@dataclass
class _Moves:
    """What is to be done with a draft, by the message of the calls."""

    draft: Draft
    messages: Sequence[Message]
    late: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    lost: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def made(self, found: Answers) -> list[Entry]:
        moved = {result for results in self.late.values() for result in results}
        made: list[Entry] = []
        calling: int | None = None
        for index, (entry, message) in enumerate(zip(self.draft.entries, self.messages, strict=True)):
            if calling is not None and message.role != "tool":
                made += self._behind(calling)
                calling = None
            if index in found.orphans or index in found.repeated:
                problem = "orphan_result" if index in found.orphans else "repeated_result"
                self.draft.note(Pairing.name, "dropped", entry.source, problem)
            elif index not in moved:
                made.append(entry)
            calling = index if message.tool_calls else calling
        return made + (self._behind(calling) if calling is not None else [])

    def _behind(self, call: int) -> list[Entry]:
        """What follows the results that stand behind their call already."""
        source, entries = self.draft.entries[call].source, list[Entry]()
        for result in self.late[call]:
            entry = self.draft.entries[result]
            self.draft.note(Pairing.name, "moved", entry.source, "displaced_result")
            self.draft.stale.append((source + 1, entry.source))
            entries.append(entry)
        for place in self.lost[call]:
            self.draft.note(Pairing.name, "added", source, "missing_result")
            entries.append(Entry(source, _stand_in(self.messages[call], place)))
        return entries


def _with_ids(messages: Sequence[Message], ids: Mapping[int, str]) -> Sequence[Message]:
    if not ids:
        return messages
    return [with_result_id(message, ids[index]) if index in ids else message for index, message in enumerate(messages)]


def _stand_in(message: Message, place: int) -> Message:
    call = message.tool_calls[place]
    name = None if call.id else call.name  # without an id the name is what tells the calls apart
    return Message("tool", MISSING_RESULT, tool_call_id=call.id, name=name, kind="marker")
