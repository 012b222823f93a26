"""Claude's thinking blocks: signed, and from the 5.5 generation on signed together with all that stands before them.

| models | an edit of something before a block | a turn of tool calls that is going on |
|---|---|---|
| up to 5 | harmless | with thinking by budget it begins with a thinking block, unmodified |
| Fable 5.1, the 5.5 generation, later | makes the block invalid | needs none |

So after an edit the bound models get their later blocks back no more, and the older ones keep theirs. A turn that was
begun without thinking cannot be given any: that is reported and left to whoever chose to think.

Sources: "Invalid `signature` in `thinking` block. The block is bound to a different conversation"; "Expected
`thinking` or `redacted_thinking`, but found `tool_use`"; Anthropic's guide to preserved thinking, November 2026.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from aaa.messages import Message, OpaquePart, Part
from aaa.wire.report import Violation
from aaa.wire.rewriting import with_parts
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule, cuts_of

__all__ = ["THINKING", "Thinking"]

THINKING = frozenset(("thinking", "redacted_thinking"))
_SIGNED_BY = {"thinking": "signature", "redacted_thinking": "data"}


@dataclass(frozen=True)
class Thinking(Rule):
    """Blocks are signed; with `is_bound` over what stands before them, with `must_lead` they begin a turn of calls."""

    name: ClassVar[str] = "thinking"
    is_bound: bool
    must_lead: bool = False

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Blocks without a signature, and a turn of calls that does not begin with a block.

        A signature over other words cannot be seen; that is what `edited_from` is for when repairing.
        """
        found = [
            Violation(self.name, "unsigned_thinking", index)
            for index, message in enumerate(messages)
            if any(_is_thinking(part) and not _is_signed(part) for part in _parts(message))
        ]
        first = self._first_of_turn(messages)
        if first is not None and not _leads(messages[first]):
            found.append(Violation(self.name, "turn_without_thinking", first, is_repairable=False))
        return found

    def safe_cuts(self, messages: Sequence[Message]) -> set[int]:
        """Not inside the turn that is going on, unless what is left of it begins with thinking.

        A cut edits what stands before the rest: after it `edited_from` is due.
        """
        cuts = set(cuts_of(messages))
        first = self._first_of_turn(messages)
        if first is None:
            return cuts
        follows = False
        for index in reversed(range(first + 1, len(messages))):
            follows = _leads(messages[index]) if messages[index].role == "assistant" else follows
            if not follows:
                cuts.discard(index)
        return cuts

    def mend(self, draft: Draft) -> None:
        """Leave out blocks that are not signed, or not over these words."""
        is_stale = draft.stale_sources() if self.is_bound else []
        made: list[Entry] = []
        for entry in draft.entries:
            stale = self.is_bound and is_stale[entry.source]
            parts = _parts(entry.message)
            kept = tuple(part for part in parts if not _is_thinking(part) or (_is_signed(part) and not stale))
            message = entry.message if len(kept) == len(parts) else with_parts(entry.message, kept)
            if message is not entry.message:
                problem = "edited_before" if stale else "unsigned_thinking"
                draft.note(self.name, "changed" if message else "dropped", entry.source, problem)
            if message:
                made.append(Entry(entry.source, message))
        draft.entries = made

    def _first_of_turn(self, messages: Sequence[Message]) -> int | None:
        """The first message of the assistant in the turn of calls that is going on, if it must think."""
        if not self.must_lead or not messages or messages[-1].role != "tool":
            return None
        first = None
        for index in reversed(range(len(messages))):
            if messages[index].role == "user":
                break
            first = index if messages[index].role == "assistant" else first
        return first


def _parts(message: Message) -> tuple[Part, ...]:
    return message.content if message.role == "assistant" and isinstance(message.content, tuple) else ()


def _is_thinking(part: Part) -> bool:
    return isinstance(part, OpaquePart) and part.format == "anthropic" and part.type in THINKING


def _is_signed(part: Part) -> bool:
    if not isinstance(part, OpaquePart):
        return False
    try:
        return bool(json.loads(part.json).get(_SIGNED_BY[part.type]))
    except (ValueError, AttributeError):
        return False


def _leads(message: Message) -> bool:
    parts = _parts(message)
    return bool(parts) and _is_thinking(parts[0]) and _is_signed(parts[0])
