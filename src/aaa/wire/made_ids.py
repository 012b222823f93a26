"""Calls in formats that take arguments as an object and let a call go without an id: Gemini's, and Ollama's.

Such a call gets an id that is the same whenever the conversation is read again, `<name>-<n>`; a note beside it says
that it is ours, so that it is not sent. A result without an id answers the first open call of its name in the latest
turn that has one, which is how these servers pair them.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from aaa.messages import Message, ToolCall, pair
from aaa.wire.lossless import native

__all__ = ["Answered", "CallIds", "call_answered_by", "id_of_result", "stem_of"]


class Answered(NamedTuple):
    """A call that has a result: the index of its message, its place among the calls there, and itself."""

    turn: int
    place: int
    call: ToolCall


class CallIds:
    """Names the calls of one conversation, in order, and finds the call that a result answers.

    `stem` goes into the ids of a reply that is read by itself, so that they differ from those of the replies before.
    """

    def __init__(self, stem: str = "") -> None:
        self._stem = stem
        self._taken: set[str] = set()
        self._made = 0
        self._turn = 0
        self._open = _OpenCalls()

    def end_turn(self) -> None:
        """The user has the word; calls that follow belong to another turn."""
        self._turn += 1

    def id_of(self, name: str, given: str | None) -> str:
        """The id of the next call: the one given, or a new one."""
        call_id = given or self._new(name)
        self._taken.add(call_id)
        keys = [("id", call_id), ("name", name), ("any", "")]
        if not given:
            keys += [("ours", name), ("ours", None)]
        self._open.add(self._turn, call_id, keys)
        return call_id

    def answered(self, name: str | None, given: str | None) -> str | None:
        """The id of the call that a result answers, which is open no more; `given` if there is no such call.

        Clients may give an id to a call that came without.
        """
        if given:
            return self._open.take(("id", given)) or self._open.take(("ours", name)) or given
        return self._open.take(("any", "") if name is None else ("name", name))

    def _new(self, name: str) -> str:
        while True:
            self._made += 1
            call_id = f"{name}-{self._stem}{self._made}"
            if call_id not in self._taken:
                return call_id


_Key = tuple[str, str | None]


class _OpenCalls:
    """Calls that wait for a result, by what a result may know of them. Cost: O(1) a call, over all."""

    def __init__(self) -> None:
        self._turns: defaultdict[_Key, list[tuple[int, deque[int]]]] = defaultdict(list)
        self._ids: list[str] = []
        self._answered: set[int] = set()

    def add(self, turn: int, call_id: str, keys: Iterable[_Key]) -> None:
        for key in keys:
            turns = self._turns[key]
            if not turns or turns[-1][0] != turn:
                turns.append((turn, deque()))
            turns[-1][1].append(len(self._ids))
        self._ids.append(call_id)

    def take(self, key: _Key) -> str | None:
        """The id of the first of the calls of the latest turn that has one."""
        turns = self._turns.get(key, [])
        while turns:
            calls = turns[-1][1]
            while calls:
                call = calls.popleft()
                if call not in self._answered:
                    self._answered.add(call)
                    return self._ids[call]
            turns.pop()
        return None


def id_of_result(message: Message, answered: Answered | None, format: str) -> str | None:
    """The id that a result is sent with: that of its call, if the call is sent with one."""
    if answered is None:
        return message.tool_call_id or None
    return answered.call.id or None if not native(answered.call.extra, format).get("made") else None


def stem_of(reply_id: object) -> str:
    """What tells the calls of this reply from those of others; "" if the reply has no id."""
    if not isinstance(reply_id, str) or not reply_id:
        return ""
    return blake2b(reply_id.encode("utf-8", "backslashreplace"), digest_size=4).hexdigest() + "-"


def call_answered_by(messages: Sequence[Message]) -> dict[int, Answered]:
    """The call of each result that has one, by the index of the result."""
    found: dict[int, Answered] = {}
    answers: defaultdict[tuple[int, str], int] = defaultdict(int)
    for result, turn in pair(messages).call_of.items():
        call_id = messages[result].tool_call_id or ""
        places = [place for place, call in enumerate(messages[turn].tool_calls) if call.id == call_id]
        place = places[min(answers[turn, call_id], len(places) - 1)]  # one id may stand for several calls
        found[result] = Answered(turn, place, messages[turn].tool_calls[place])
        answers[turn, call_id] += 1
    return found
