"""How blocks stood when they were read, where a provider refuses to take them back like that.

    Anthropic   [text, call, text, call]                ──▶  [text, text, call, call]
    Gemini      user [response, "a note"]               ──▶  user [response]   user ["a note"]

An interrupted reply that was gone on with, or a note that a program put beside a result, is laid out so. Formats write
what they read as it was; without the hint they write it as the provider wants it.

Sources: "`tool_use` ids were found without `tool_result` blocks immediately after" (text behind a call reads as the end
of the calls); "the number of function response parts is equal to the number of function call parts of the function call
turn" (Gemini, where a turn of responses holds something else; 2.5 takes it, as recorded).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message
from aaa.wire.lossless import native, with_native
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule

__all__ = ["CallsLast", "ResponsesApart"]


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
            _forget(draft, index, self.name, "words_behind_call", "anthropic", "order")


@dataclass(frozen=True)
class ResponsesApart(Rule):
    """A turn of responses holds responses alone."""

    name: ClassVar[str] = "responses_apart"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """What stands in a turn with the responses before it."""
        return [Violation(self.name, "words_among_responses", index) for index in self._joined(messages)]

    def mend(self, draft: Draft) -> None:
        """Let it stand in a turn of its own."""
        for index in self._joined(draft.messages):
            _forget(draft, index, self.name, "words_among_responses", "gemini", "place")

    def _joined(self, messages: Sequence[Message]) -> list[int]:
        found: list[int] = []
        follows = False
        for index, message in enumerate(messages):
            is_joined = follows and message.role != "tool" and _place_of(message) == "joined"
            found += [index] if is_joined else []
            follows = message.role == "tool"
        return found


def _where(messages: Sequence[Message], has_problem: Callable[[Message], bool]) -> list[int]:
    return [index for index, message in enumerate(messages) if has_problem(message)]


def _has_words_behind(message: Message) -> bool:
    return bool(message.tool_calls) and "cp" in str(native(message.extra, "anthropic").get("order", ""))


def _place_of(message: Message) -> object:
    return native(message.extra, "gemini").get("place")


def _forget(draft: Draft, index: int, rule: str, problem: str, format: str, hint: str) -> None:
    source, message = draft.entries[index]
    hints = {key: value for key, value in native(message.extra, format).items() if key != hint}
    draft.note(rule, "changed", source, problem)
    draft.entries[index] = Entry(source, replace(message, extra=with_native(message.extra, format, hints)))
