"""The name that a result carries, where the provider compares it with that of the call.

Source: Gemini pairs calls and responses by name; a response of another name is one too many and one too few.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message
from aaa.wire.report import Violation
from aaa.wire.rewriting import with_result_name
from aaa.wire.rules.answers import answers
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule

__all__ = ["ResultNames"]


@dataclass(frozen=True)
class ResultNames(Rule):
    """A result that has a name has that of its call."""

    name: ClassVar[str] = "result_names"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Results with the name of another tool."""
        return [Violation(self.name, "name_of_another_call", index) for index in sorted(_renamed(messages))]

    def mend(self, draft: Draft) -> None:
        """Name them as their calls are named."""
        for index, name in sorted(_renamed(draft.messages).items()):
            source, message = draft.entries[index]
            draft.note(self.name, "changed", source, "name_of_another_call")
            draft.entries[index] = Entry(source, with_result_name(message, name))


def _renamed(messages: Sequence[Message]) -> dict[int, str]:
    names = {index: messages[at].tool_calls[place].name for (at, place), index in answers(messages).results.items()}
    return {index: name for index, name in names.items() if messages[index].name not in (None, name)}
