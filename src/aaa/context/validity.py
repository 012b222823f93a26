"""A prompt made valid for its provider, after everything else was done to it.

    transcript ── edits ──▶ items ── rules of the provider ──▶ prompt, repairs

Repairs are no edits: they follow from the items and the provider's name, so that whoever has these has the prompt.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from aaa.context.edits import Item
from aaa.messages import Message

if TYPE_CHECKING:
    from aaa.wire.rules import Repair

__all__ = ["Target", "first_edit", "made_valid"]


class Target(msgspec.Struct, frozen=True):
    """Whom a prompt is for: what decides its rules. `params` are those of the request."""

    provider: str
    model: str | None = None
    params: Mapping[str, Any] = {}


def made_valid(
    items: Sequence[Item], transcript: Sequence[Message], target: Target | None
) -> "tuple[list[Message], tuple[Repair, ...]]":
    """The messages of `items` as `target` takes them, and what was changed for that; None changes nothing.

    Raises:
        ClientSetupError: no rules are known for this provider.
    """
    messages = [item.message for item in items]
    if target is None:
        return messages, ()
    from aaa.wire.rules import rules_for  # many modules, that a policy without a provider does not need

    rules = rules_for(target.provider, target.model, params=target.params)
    repaired, repairs = rules.repair(messages, edited_from=first_edit(items, transcript))
    return repaired, tuple(repairs)


def first_edit(items: Sequence[Item], transcript: Sequence[Message]) -> int | None:
    """The position of the first message that is not the transcript's at that place; None if all are."""
    for position, item in enumerate(items):
        if item.source != position or item.message is not transcript[position]:
            return position
    return None
