"""Messages and texts that say nothing, for providers that refuse them.

| what says nothing | becomes |
|---|---|
| a text among other parts | left out |
| an assistant's message, an instruction | left out |
| a message of the user | a stand-in: the turn was taken |
| a result | a stand-in, or no text, as the provider wants |

Sources: "messages: text content blocks must be non-empty", since 2026 "must contain non-whitespace text" (Anthropic,
Bedrock); "content cannot be empty if `is_error` is true" (Anthropic); "it has an empty text parameter" (Vertex);
"Assistant message must have either content or tool_calls" (Mistral).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message, Part, TextPart, with_text
from aaa.wire.report import Violation, flagged
from aaa.wire.rewriting import with_parts
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.stand_ins import EMPTY_RESULT, EMPTY_USER
from aaa.wire.rules.visible import is_blank, is_said, says_more

__all__ = ["Empty"]

_ALL = frozenset(("system", "developer", "user", "assistant", "tool"))


@dataclass(frozen=True)
class Empty(Rule):
    """Messages of `roles` say something in `format` (None: in any); `result` is what a silent result says.

    Where a provider `takes_texts` that are empty beside others, those stay.
    """

    name: ClassVar[str] = "empty"
    format: str | None
    roles: frozenset[str] = _ALL
    takes_spaces: bool = False
    takes_texts: bool = False
    result: str = ""

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages that say nothing, or have a text that does."""
        return flagged(self.name, messages, self._problem)

    def mend(self, draft: Draft) -> None:
        """Leave out what says nothing, or put a stand-in there."""
        draft.fix(self.name, self._problem, self._fixed)

    def _problem(self, message: Message) -> str | None:
        if message.role not in self.roles:
            return None
        if self._has_empty_text(message):
            return "empty_text"
        if not self._is_silent(message):
            return None
        match message.role:
            case "assistant":
                return None if message.tool_calls or self._says_more(message) else "empty_message"
            case "tool":
                return "empty_result" if self._result(message) else None
            case _:
                return "empty_message"

    def _fixed(self, message: Message) -> Message | None:
        if not self._is_silent(message):
            return with_text(message, self._said(message))
        match message.role:
            case "assistant":
                return with_parts(message, ()) if not self._says_more(message) else with_text(message, "")
            case "tool":
                return with_text(message, self._result(message))
            case "user":
                return with_text(message, EMPTY_USER)
            case _:
                return None

    def _result(self, message: Message) -> str:
        """What a silent result says; one that tells of an error must say something to Anthropic."""
        is_error = self.format == "anthropic" and '"is_error":true' in message.extra
        return EMPTY_RESULT if is_error else self.result

    def _has_empty_text(self, message: Message) -> bool:
        match message.content:
            case None | "":
                return False
            case _ if self.takes_texts:
                return False
            case str(text):
                return self._is_blank(text)
            case parts:
                return any(map(self._is_empty, parts))

    def _is_silent(self, message: Message) -> bool:
        content = message.content
        if not isinstance(content, tuple):
            return not content or self._is_blank(content)
        role, format, spaces = message.role, self.format, self.takes_spaces
        return not any(is_said(part, role, format=format, takes_spaces=spaces) for part in content)

    def _said(self, message: Message) -> str | tuple[Part, ...]:
        content = message.content
        return (
            tuple(part for part in content if not self._is_empty(part)) if isinstance(content, tuple) else content or ""
        )

    def _is_empty(self, part: Part) -> bool:
        return isinstance(part, TextPart) and self._is_blank(part.text)

    def _is_blank(self, text: str) -> bool:
        return is_blank(text, takes_spaces=self.takes_spaces)

    def _says_more(self, message: Message) -> bool:
        return self.format == "" and says_more(message)
