"""Whose message may be the last, for providers that do not go on from half an answer.

    user  assistant "so far"    ──▶    user  assistant "so far"  user "Continue."

Sources: "This model does not support assistant message prefill. The conversation must end with a user message."
(Anthropic); "Expected last role User or Tool (or Assistant with prefix…) for serving but got assistant" (Mistral); "The
last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on" (DeepSeek).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message
from aaa.wire.lossless import Fields, compact
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.stand_ins import CONTINUE

__all__ = ["Ending"]


@dataclass(frozen=True)
class Ending(Rule):
    """The last message is not the assistant's. A provider that `takes_prefix` takes one with `"prefix": true`, there
    alone."""

    name: ClassVar[str] = "ending"
    takes_prefix: bool = False

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Prefixes before the end, and an end that is not the user's."""
        early = [index for index, message in enumerate(messages[:-1]) if self._is_prefix(message)]
        found = [Violation(self.name, "prefix_before_end", index) for index in early]
        problem = self._problem(messages[-1]) if messages else None
        return found + ([Violation(self.name, problem, len(messages) - 1)] if problem else [])

    def mend(self, draft: Draft) -> None:
        """Take the mark from prefixes before the end, and let the user speak last."""
        for index, (source, message) in enumerate(draft.entries[:-1]):
            if self._is_prefix(message):
                draft.note(self.name, "changed", source, "prefix_before_end")
                draft.entries[index] = Entry(source, _without_prefix(message))
        problem = self._problem(draft.entries[-1].message) if draft.entries else None
        if problem:
            source = draft.entries[-1].source
            draft.note(self.name, "added", source, problem)
            draft.entries.append(Entry(source, Message("user", CONTINUE, kind="marker")))

    def _problem(self, message: Message) -> str | None:
        is_half = message.role == "assistant" and not self._is_prefix(message)
        return "ended_by_assistant" if is_half else None

    def _is_prefix(self, message: Message) -> bool:
        if not self.takes_prefix or message.role != "assistant" or '"prefix"' not in message.extra:
            return False
        return json.loads(message.extra).get("prefix") is True


def _without_prefix(message: Message) -> Message:
    fields: Fields = {key: value for key, value in json.loads(message.extra).items() if key != "prefix"}
    return replace(message, extra=compact(fields, sort_keys=True) if fields else "")
