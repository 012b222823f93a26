"""Exactly what was sent: the prompt of any recorded call, from the log alone."""

from collections.abc import Sequence
from typing import Any

from msgspec import convert

from aaa.context import Edit, Transcript
from aaa.context.edits import render
from aaa.context.ledger import after
from aaa.context.validity import Target, made_valid
from aaa.messages import Message
from aaa.runtime.conversations import conversation_at, names_of
from aaa.runtime.events import Event

__all__ = ["prompt_at"]


def prompt_at(events: Sequence[Event], call: int) -> list[Message]:
    """The messages that were sent at call `call` (from 1) of the run with these events. Cost: O(events).

    Raises:
        IndexError: the run has fewer calls.
    """
    requests = [(event.data["key"], event.data["conv"]) for event in events if event.type == "aaa.llm.requested"]
    if not 1 <= call <= len(requests):
        raise IndexError(f"the run has {len(requests)} model calls, there is no call {call}")
    key = requests[call - 1][0]
    transcript = Transcript(conversation_at(key, dict(requests)), count=lambda _: 0)
    edits = _edits_at(events, key, names_of(requests))
    items = render(transcript, convert(edits, list[Edit]))
    return made_valid(items, transcript, _target_of(events, key))[0]


def _target_of(events: Sequence[Event], key: str) -> Target | None:
    """Whom the prompt of a call was changed for; None if it was valid as it was."""
    own = [event for event in events if event.data.get("key") == key]
    provider = next((event.data["provider"] for event in own if event.data.get("provider")), None)
    requested = next(event.data for event in own if event.type == "aaa.llm.requested")
    asked = next((event.data["asked"] for event in own if event.data.get("asked")), requested)
    return Target(provider, asked["model"], asked.get("params") or {}) if provider else None


def _edits_at(events: Sequence[Event], key: str, names: dict[str, tuple[str, str]]) -> list[Any]:
    """The edits of each conversation, folded up to the call `key`."""
    edits: dict[str, list[Any]] = {}
    for event in events:
        found = names.get(event.data.get("key", ""))
        if found is None:
            continue
        name, parent = found
        if event.type == "aaa.llm.requested":
            edits.setdefault(name, edits.get(parent, []))
        elif event.type == "aaa.context.edited":
            edits[name] = after(edits[name], event.data["removed"], event.data["added"])
        if event.type in ("aaa.llm.completed", "aaa.llm.failed") and event.data["key"] == key:
            break
    return edits[names[key][0]]
