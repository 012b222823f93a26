"""Tools that Anthropic runs itself: a use and its result are blocks of one message of the assistant.

    assistant [use]   system "a note"   assistant [result, text]
        ──▶   assistant [use, result, text]   system "a note"

A program that writes notes while a slow tool runs parts them.

Source: "`advisor` tool use with id `srvtoolu_…` was found without a corresponding `advisor_tool_result` block"
(Anthropic, 2026).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec.structs import replace

from aaa.messages import Message, OpaquePart, Part, TextPart
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule

__all__ = ["ServerTools"]


@dataclass(frozen=True)
class ServerTools(Rule):
    """The result of a tool that the provider ran stands in the message of its use."""

    name: ClassVar[str] = "server_tools"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages that hold the result of an earlier message's use."""
        return [Violation(self.name, "parted_result", late) for late in _parted(messages)]

    def mend(self, draft: Draft) -> None:
        """Put what the assistant went on with behind what it had begun."""
        for late, early in reversed(_parted(draft.messages).items()):
            source, message = draft.entries[early]
            rest = draft.entries[late]
            parts = (*_parts(message), *_parts(rest.message))
            calls = (*message.tool_calls, *rest.message.tool_calls)
            draft.note(self.name, "merged", rest.source, f"into {source}")
            draft.entries[early] = Entry(source, replace(message, content=parts, tool_calls=calls))
            del draft.entries[late]


def _parted(messages: Sequence[Message]) -> dict[int, int]:
    """Messages with the result of a use in an earlier message, and that message; the user has not spoken between."""
    found: dict[int, int] = {}
    used: dict[str, int] = {}
    for index, message in enumerate(messages):
        if message.role in ("user", "tool"):
            used.clear()
        if message.role != "assistant":
            continue
        own = {str(fields.get("id")) for kind, fields in _blocks(message) if kind == "server_tool_use"}
        answered = [
            str(fields.get("tool_use_id")) for kind, fields in _blocks(message) if kind.endswith("_tool_result")
        ]
        early = next((used[use] for use in answered if use in used and use not in own), None)
        if early is not None:
            found[index] = early
        used |= dict.fromkeys(own - set(answered), found.get(index, index))
        for use in answered:
            used.pop(use, None)
    return found


def _parts(message: Message) -> tuple[Part, ...]:
    content = message.content
    return content if isinstance(content, tuple) else (TextPart(content),) if content else ()


def _blocks(message: Message) -> list[tuple[str, dict[str, Any]]]:
    parts = message.content if isinstance(message.content, tuple) else ()
    mine = [part for part in parts if isinstance(part, OpaquePart) and part.format == "anthropic"]
    tools = [part for part in mine if part.type == "server_tool_use" or part.type.endswith("_tool_result")]
    return [(part.type, json.loads(part.json)) for part in tools]
