"""Where an instruction may stand that is not at the front.

    user  assistant  system "be brief"  user    ──▶    user  assistant  user "<system>…be brief…</system>"  user

It stays in its place and keeps its words, as the user's, in a frame that says whose they are. To move it to the front
would change the beginning of the prompt, and with it all that is cached and every signature bound to what precedes it.

Sources: "messages.67: role 'system' must precede an 'assistant' message or end the array", "role 'system' is not
supported on this model" (Anthropic); "After the (optional) system message(s), user and assistant roles should be
alternating" (Perplexity); "Unexpected role 'system' after role 'tool'" (Mistral).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from msgspec.structs import replace

from aaa.messages import Message, OpaquePart, TextPart, with_text
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule, leading_systems
from aaa.wire.rules.stand_ins import framed_as_system

__all__ = ["SystemPlace"]


@dataclass(frozen=True)
class SystemPlace(Rule):
    """Instructions stand at the front, or also `behind` the user, or right `before` the assistant and at the end."""

    name: ClassVar[str] = "system_place"
    also: Literal["nowhere", "behind_user", "before_assistant"] = "nowhere"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Instructions in other places."""
        return [Violation(self.name, "displaced_system", index) for index in self._displaced(messages)]

    def mend(self, draft: Draft) -> None:
        """Let the user say them."""
        for index in self._displaced(draft.messages):
            source, message = draft.entries[index]
            draft.note(self.name, "changed", source, "displaced_system")
            draft.entries[index] = Entry(source, _as_user(message))

    def _displaced(self, messages: Sequence[Message]) -> list[int]:
        later = range(leading_systems(messages), len(messages))
        return [index for index in later if messages[index].is_system and not self._may_stand(messages, index)]

    def _may_stand(self, messages: Sequence[Message], index: int) -> bool:
        match self.also:
            case "nowhere":
                return False
            case "behind_user":  # or behind another instruction, which stands behind the user or is made the user's
                return messages[index - 1].role == "user" or messages[index - 1].is_system
            case "before_assistant":
                return index + 1 == len(messages) or messages[index + 1].role == "assistant"


def _as_user(message: Message) -> Message:
    text = framed_as_system(message.text)
    others = _others(message)
    return replace(with_text(message, (TextPart(text), *others) if others else text), role="user")


def _others(message: Message) -> tuple[OpaquePart, ...]:
    parts = message.content if isinstance(message.content, tuple) else ()
    return tuple(part for part in parts if isinstance(part, OpaquePart))
