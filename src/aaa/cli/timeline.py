"""A run as lines: what each event says, in words and numbers, without message text."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from aaa.runtime import Event

__all__ = ["Totals", "described"]


class Totals:
    """What a run came to; fed event by event. Units: tokens, USD."""

    def __init__(self) -> None:
        self.calls = self.largest = self.tokens = self.summaries = self.compactions = 0
        self.cost = 0.0
        self.tools: Counter[str] = Counter()
        self.status = "running"

    def add(self, event: Event) -> None:
        """Take in one event."""
        data = event.data
        match event.type:
            case "aaa.llm.requested":
                self.calls += 1
            case "aaa.llm.completed":
                self.largest = max(self.largest, sent_tokens(event) or 0)
                self.compactions += "context" in data
                self._spend(_usage(event).get("total_tokens"), data.get("cost"))
            case "aaa.context.summary" | "aaa.context.rejected":
                self.summaries += event.type == "aaa.context.summary"
                self._spend(data.get("tokens_spent"), data.get("cost"))
            case "aaa.tool.requested":
                self.tools[data["call"]["name"]] += 1
            case "aaa.run.completed":
                self.status = data["status"]
            case _:
                pass

    def _spend(self, tokens: int | None, cost: float | None) -> None:
        self.tokens += tokens or 0
        self.cost += cost or 0.0

    def to_dict(self) -> dict[str, object]:
        """All of it, for a JSON document."""
        return {**vars(self), "tools": dict(self.tools)}


def sent_tokens(event: Event) -> int | None:
    """The size of a request: our estimate of the prompt, else what the provider counted."""
    return event.data.get("tokens") or _usage(event).get("prompt_tokens")


def _usage(event: Event) -> dict[str, int]:
    return event.data.get("usage") or {}


def described(events: Iterable[Event]) -> Iterable[tuple[Event, str]]:
    """Each event with a line about it; model calls are numbered from 1."""
    numbers: dict[str, int] = {}
    for event in events:
        if event.type == "aaa.llm.requested":
            numbers[event.data["key"]] = len(numbers) + 1
        yield event, _line(event, numbers)


def _line(event: Event, numbers: dict[str, int]) -> str:
    data = event.data
    call = f"call {numbers.get(data.get('key', ''), 0)}"
    match event.type:
        case "aaa.run.started":
            return f"{data['algorithm']}, version {data['version']}"
        case "aaa.llm.requested":
            return f"{call}: a conversation of {data['conv']['length']:,} messages, {len(data['conv']['delta']):,} new"
        case "aaa.llm.completed":
            return f"{call}: " + _reply(event, data)
        case "aaa.tool.requested":
            return f"{data['call']['name']}"
        case "aaa.tool.completed":
            return f"{len(data['content']):,} characters"
        case "aaa.context.summary":
            record = data["record"]
            return f"{call}: of the first {record['upto']:,} messages, {len(record['text']):,} characters"
        case "aaa.context.edited":
            return f"{call}: {len(data['added'])} edits came, {len(data['removed'])} went"
        case "aaa.run.completed":
            return f"{data['status']}{_problem(data)}"
        case _:
            return f"{data.get('name') or ''}{_problem(data)}".strip()


def _reply(event: Event, data: dict[str, Any]) -> str:
    parts = [f"sent {sent_tokens(event) or 0:,} tokens"]
    if "context" in data:
        report = data["context"]
        applied = ", ".join(report["applied"]) or f"{report.get('edits_in_force', 0)} edits in force"
        parts.append(f"of {report['tokens_before']:,} ({applied})")
    calls = len(data["message"].get("tool_calls", ()))
    parts.append(f"reply with {calls} tool call{'s' * (calls != 1)}" if calls else "reply with text")
    if data.get("cost"):
        parts.append(f"${data['cost']:.4f}")
    return ", ".join(parts)


def _problem(data: dict[str, Any]) -> str:
    error = data.get("error")
    return f": {error['type']}" if error else ""
