"""How blocks stood when they were read, where a provider refuses to take them back like that.

    Anthropic   [text, call, text, call]                ──▶  [text, text, call, call]
    Gemini      user [response, "a note"]               ──▶  user [response]   user ["a note"]
    Gemini      user [response a]   user [response b]   ──▶  user [response a, response b]

An interrupted reply that was gone on with, a note that a program put beside a result, or results that were kept as they
came in, are laid out so. Formats write what they read as it was; without the hint they write it as the provider wants
it.

Sources: "`tool_use` ids were found without `tool_result` blocks immediately after" (text behind a call reads as the end
of the calls); "the number of function response parts is equal to the number of function call parts of the function call
turn" (Gemini, where a turn of responses holds something else; 2.5 takes it, as recorded).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from aaa.messages import Message
from aaa.wire.lossless import native
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.hints import forget, place_of
from aaa.wire.rules.rule import Rule

__all__ = ["CallsLast", "ResponsesApart", "ResponsesTogether"]


@dataclass(frozen=True)
class CallsLast(Rule):
    """In a message of the assistant nothing follows a call but calls."""

    name: ClassVar[str] = "calls_last"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages that say something behind a call."""
        return [Violation(self.name, "words_behind_call", index) for index in _where(messages, _has_words_behind)]

    def mend(self, draft: Draft) -> None:
        """Let the calls come last."""
        for index in _where(draft.messages, _has_words_behind):
            forget(draft, index, self.name, "words_behind_call", "anthropic", "order")


@dataclass(frozen=True)
class ResponsesApart(Rule):
    """A turn of responses holds responses alone."""

    name: ClassVar[str] = "responses_apart"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """What stands in a turn with the responses before it, and responses with what stands before them."""
        return [Violation(self.name, "words_among_responses", index) for index in self._joined(messages)]

    def mend(self, draft: Draft) -> None:
        """Let it stand in a turn of its own, and the responses behind their calls."""
        messages = draft.messages
        mixed = self._joined(messages)
        for row in _rows(messages):
            if not mixed.isdisjoint(row):
                noted = [index for index in row if place_of(messages[index]) is not None]
                _forget_all(draft, self._moved(messages, noted, mixed), self.name, "words_among_responses")

    def _joined(self, messages: Sequence[Message]) -> set[int]:
        return {
            index
            for index, (before, message) in enumerate(pairwise(messages), 1)
            if place_of(message) == "joined" and (before.role == "tool") != (message.role == "tool")
        }

    def _moved(self, messages: Sequence[Message], noted: Sequence[int], mixed: set[int]) -> list[int]:
        return [index for index in noted if index in mixed or messages[index].role == "tool"]


@dataclass(frozen=True)
class ResponsesTogether(Rule):
    """The responses to the calls of one turn are in the turn behind it, all of them."""

    name: ClassVar[str] = "responses_together"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Responses that were kept in another turn, or in several."""
        return [Violation(self.name, "responses_split", index) for row in self._split(messages) for index in row[:1]]

    def mend(self, draft: Draft) -> None:
        """Let them stand where the format puts them, behind their calls."""
        for row in self._split(draft.messages):
            _forget_all(draft, row, self.name, "responses_split")

    def _split(self, messages: Sequence[Message]) -> list[list[int]]:
        """The responses that are noted to stand where they do, of each row where that is not one turn, the first."""
        found: list[list[int]] = []
        for row in _rows(messages):
            noted = [index for index in row if messages[index].role == "tool" and place_of(messages[index])]
            later = [index for index in row[1:] if _begins_turn(messages, index)]
            if noted and later and noted[-1] >= later[0]:
                found.append(noted)
        return found


def _begins_turn(messages: Sequence[Message], index: int) -> bool:
    """Whether the format writes this message as the beginning of a turn, other than the message before it."""
    place, is_result = place_of(messages[index]), messages[index].role == "tool"
    return place == "own" or (place is None and is_result != (messages[index - 1].role == "tool"))


def _rows(messages: Sequence[Message]) -> list[list[int]]:
    """What stands behind each message of the assistant up to the next, as indices."""
    rows: list[list[int]] = []
    for index, message in enumerate(messages):
        if message.role == "assistant":
            rows.append([])
        elif rows:
            rows[-1].append(index)
    return rows


def _forget_all(draft: Draft, indices: Sequence[int], rule: str, problem: str) -> None:
    for index in indices:
        forget(draft, index, rule, problem, "gemini", "place")


def _where(messages: Sequence[Message], has_problem: Callable[[Message], bool]) -> list[int]:
    return [index for index, message in enumerate(messages) if has_problem(message)]


def _has_words_behind(message: Message) -> bool:
    return bool(message.tool_calls) and "cp" in str(native(message.extra, "anthropic").get("order", ""))
