"""A conversation while it is repaired: its messages, where each comes from, and what was changed.

    entries    (0, system) (1, user) (2, assistant) (2, tool)      the last was added for message 2
    repairs    pairing: added at 2
    stale      [(3, 9)]     what was signed in messages 3 to 8 was signed before something in front of it changed

Messages that nobody changes stay the same objects.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from aaa.messages import Message
from aaa.wire.report import Action, Repair

__all__ = ["Draft", "Entry"]


class Entry(NamedTuple):
    """A message, and the index of the one it is, stands for, or was added for."""

    source: int
    message: Message


class Draft:
    """What the rules of a provider work on, one after the other."""

    def __init__(self, messages: Sequence[Message], stale: Iterable[tuple[int, int]] = ()) -> None:
        self.entries = [Entry(index, message) for index, message in enumerate(messages)]
        self.repairs: list[Repair] = []
        self.stale = list(stale)
        self._length = len(messages)

    @property
    def messages(self) -> list[Message]:
        """The messages as they are now."""
        return [entry.message for entry in self.entries]

    def note(self, rule: str, action: Action, source: int, detail: str = "") -> None:
        """Report a change."""
        self.repairs.append(Repair(rule, action, source, detail))

    def fix(
        self, rule: str, problem_of: Callable[[Message], str | None], fixed: Callable[[Message], Message | None]
    ) -> None:
        """Put each message that has a problem by itself right; those of which nothing is left are dropped."""
        kept: list[Entry] = []
        for entry in self.entries:
            problem = problem_of(entry.message)
            message = fixed(entry.message) if problem else entry.message
            if problem:
                self.note(rule, "changed" if message else "dropped", entry.source, problem)
            if message:
                kept.append(Entry(entry.source, message))
        self.entries = kept

    def stale_sources(self) -> list[bool]:
        """For each message of the conversation before any repair, whether `stale` covers it."""
        steps = [0] * (self._length + 1)
        for start, end in self.stale:
            if (start := max(start, 0)) < (end := min(end, self._length)):
                steps[start] += 1
                steps[end] -= 1
        return [depth > 0 for depth in accumulate(steps)]
