"""Gemini's thought signatures: one on the first call of each step of the current turn.

    user  assistant(a, b)  tool  tool  assistant(c)  tool
                    ▲                            ▲             each carries one, or the dummy that stands for none

A call has none if another model made it, or if a client lost it. The dummy is Google's own, for just that.

Sources: "Function call `X` in the `1.` content block is missing a `thought_signature`."; Google's guide to thought
signatures, November 2026: earlier turns are not checked.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec.structs import replace

from aaa.messages import Message, ToolCall
from aaa.wire.lossless import Fields, native, with_native
from aaa.wire.report import Violation
from aaa.wire.rules.draft import Draft, Entry
from aaa.wire.rules.rule import Rule

__all__ = ["NO_SIGNATURE", "CallSignatures"]

NO_SIGNATURE = "skip_thought_signature_validator"

_FORMAT = "gemini"


@dataclass(frozen=True)
class CallSignatures(Rule):
    """The first call of each step since the user last spoke has a signature."""

    name: ClassVar[str] = "call_signatures"

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Messages whose first call has none."""
        return [Violation(self.name, "missing_signature", index) for index in _unsigned(messages)]

    def mend(self, draft: Draft) -> None:
        """Add the dummy."""
        for index in _unsigned(draft.messages):
            source, message = draft.entries[index]
            first, *others = message.tool_calls
            draft.note(self.name, "changed", source, "missing_signature")
            draft.entries[index] = Entry(source, replace(message, tool_calls=(_with_dummy(first), *others)))


def _unsigned(messages: Sequence[Message]) -> list[int]:
    """Messages whose calls begin a step: those of each, since the format puts its results right behind it."""
    start = next((index for index in reversed(range(len(messages))) if messages[index].role == "user"), -1) + 1
    calling = (index for index in range(start, len(messages)) if messages[index].tool_calls)
    return [index for index in calling if not _is_signed(messages[index].tool_calls[0])]


def _is_signed(call: ToolCall) -> bool:
    """Whether the call is written with a signature: Gemini's own, or that of Google's server of OpenAI's format."""
    own = native(call.extra, _FORMAT)
    if "part" in own:
        return bool(own["part"].get("thoughtSignature"))
    return bool(_compatible(call.extra)) if "thought_signature" in call.extra else False


def _compatible(extra: str) -> Any:
    try:
        return json.loads(extra)["extra_content"]["google"]["thought_signature"]
    except (KeyError, TypeError):
        return None


def _with_dummy(call: ToolCall) -> ToolCall:
    own = native(call.extra, _FORMAT)
    part: Fields = {**own.get("part", {}), "thoughtSignature": NO_SIGNATURE}
    return replace(call, extra=with_native(call.extra, _FORMAT, {**own, "part": part}))
