"""Message items of the assistant that say nothing, in OpenAI's Responses format, beside others that do.

    reasoning, message "", function_call    ──▶    reasoning, function_call

One message of ours holds all items of a reply. What is silent as a whole is `Empty`'s.

Source: "Missing required parameter: 'input[N].content'" (OpenAI, 2025 and 2026; gpt-4o took "" in June 2025, as
recorded).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message, OpaquePart, Part, TextPart
from aaa.wire.openai_responses.content import is_item
from aaa.wire.openai_responses.notes import FORMAT, notes_of
from aaa.wire.openai_responses.order import is_of_type, parts_of, position_of, without
from aaa.wire.report import Violation, flagged
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.visible import is_said

__all__ = ["EmptyItems"]


@dataclass(frozen=True)
class EmptyItems(Rule):
    """Every message item of a reply has a text, or something else to say."""

    name: ClassVar[str] = "empty_items"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages of the assistant with an item that says nothing."""
        return flagged(self.name, messages, _problem)

    def mend(self, draft: Draft) -> None:
        """Leave these items out."""
        draft.fix(self.name, _problem, _fixed)


def _problem(message: Message) -> str | None:
    if message.role != "assistant":
        return None
    is_lone = message.content == "" and message.tool_calls and "item" in notes_of(message.extra)
    return "empty_item" if is_lone or _empty(message) else None


def _fixed(message: Message) -> Message | None:
    return replace(message, content=None) if message.content == "" else without(message, _empty(message))


def _empty(message: Message) -> set[int]:
    """The numbers of the parts that make up message items which say nothing."""
    parts = parts_of(message)
    whole = {number for number, part in enumerate(parts) if is_of_type(part, "message") and not _is_said(part)}
    silent = (run for run in _message_items(message) if not any(_is_said(parts[number]) for number in run))
    return whole | {number for run in silent for number in run if isinstance(parts[number], TextPart)}


def _message_items(message: Message) -> list[list[int]]:
    """The parts that are the content of one item, of each."""
    parts, runs = parts_of(message), list[list[int]]()
    behind_calls = {position_of(call, len(parts)) for call in message.tool_calls}
    is_open = False
    for number, part in enumerate(parts):
        if is_item(part):
            is_open = False
            continue
        notes = notes_of(part.json if isinstance(part, OpaquePart) else part.extra)
        if not is_open or number in behind_calls or "item" in notes or "string" in notes:
            runs.append([])
        runs[-1].append(number)
        is_open = "string" not in notes
    return runs


def _is_said(part: Part) -> bool:
    return is_said(part, "assistant", format=FORMAT, takes_spaces=True)
