"""Ids of calls: of the alphabet and length a provider takes, and no two alike in one conversation.

    call_1   call_1   "a b"    ──▶    call_1      call_1~2        "a b"         OpenAI
                                      call_1      call_fda7f1…    call_f8ead3…  Anthropic
                                      aimOS3TrI   TVUGdUxbC       H6io2mfNG     Mistral

An id that is good stays. Which stand-in another gets depends on it and on what stands before it alone, so that it is
the same in every request and the prefix stays cached. A call and its result are renamed together.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message, ToolCall
from aaa.wire.report import Violation
from aaa.wire.rewriting import with_call_id, with_result_id
from aaa.wire.rules.answers import answers
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule

__all__ = ["CallIds", "nine_letters", "readable"]

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class CallIds(Rule):
    """Every id matches `pattern` as a whole; `stand_in` makes one that does from one that does not."""

    name: ClassVar[str] = "call_ids"
    pattern: re.Pattern[str]
    stand_in: Callable[[str], str]

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Ids that are empty, not of the alphabet or length, or used before."""
        taken: set[str] = set()
        found: list[Violation] = []
        for index, _, call in _calls(messages):
            if problem := self._problem(call.id, taken):
                found.append(Violation(self.name, problem, index))
            taken.add(call.id)
        return found

    def mend(self, draft: Draft) -> None:
        """Rename calls, and their results with them."""
        messages, renamer = draft.messages, _Renamer(self)
        ids = {(index, place): renamer.name(call.id) for index, place, call in _calls(messages)}
        changed = {at: ids[at] for at in ids if ids[at] != messages[at[0]].tool_calls[at[1]].id}
        if not changed:
            return
        results = answers(messages).results
        of_result = {results[at]: call_id for at, call_id in changed.items() if at in results}
        callers = {index for index, _ in changed}
        for index, (source, message) in enumerate(draft.entries):
            if index in callers:
                calls = [_under(call, changed.get((index, place))) for place, call in enumerate(message.tool_calls)]
                draft.note(self.name, "changed", source, "ids of calls")
                draft.entries[index] = Entry(source, replace(message, tool_calls=tuple(calls)))
            elif index in of_result:
                draft.note(self.name, "changed", source, "id of a result")
                draft.entries[index] = Entry(source, with_result_id(message, of_result[index]))

    def _problem(self, call_id: str, taken: set[str]) -> str | None:
        if not call_id:
            return "empty_id"
        if not self.pattern.fullmatch(call_id):
            return "invalid_id"
        return "reused_id" if call_id in taken else None


class _Renamer:
    """Names the calls of one conversation, in order."""

    def __init__(self, rule: CallIds) -> None:
        self._rule = rule
        self._taken: set[str] = set()
        self._times: dict[str, int] = {}

    def name(self, call_id: str) -> str:
        stem = call_id or "call"
        times = self._times.get(stem, 0)
        while True:
            times += 1
            wanted = stem if times == 1 else f"{stem}~{times}"
            name = wanted if self._rule.pattern.fullmatch(wanted) else self._rule.stand_in(wanted)
            if name not in self._taken:
                break
        self._times[stem] = times
        self._taken.add(name)
        return name


def readable(call_id: str) -> str:
    """A stand-in that looks like an id: letters, digits and an underscore, 29 characters."""
    return f"call_{_hash(call_id).hex()}"


def nine_letters(call_id: str) -> str:
    """A stand-in of nine letters and digits."""
    number = int.from_bytes(_hash(call_id))
    return "".join(_DIGITS[number // 62**place % 62] for place in range(9))


def _hash(call_id: str) -> bytes:
    return blake2b(call_id.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _calls(messages: Sequence[Message]) -> Iterator[tuple[int, int, ToolCall]]:
    for index, message in enumerate(messages):
        for place, call in enumerate(message.tool_calls):
            yield index, place, call


def _under(call: ToolCall, call_id: str | None) -> ToolCall:
    return call if call_id is None else with_call_id(call, call_id)
