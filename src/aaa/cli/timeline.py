"""A run as lines: what each event says, in words and numbers, without message text."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from aaa.runtime import Event
from aaa.runtime.budget import Spent
from aaa.runtime.stores.status import status_after

__all__ = ["Totals", "applied_at", "described", "sent_tokens"]


class Totals:
    """What a run came to. Units: tokens, USD; what its children spent is in it."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.calls = self.largest_tokens = self.compactions = self.summaries = 0
        self.tools: Counter[str] = Counter()
        self.status = "running"
        self.spent = Spent()
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        self.status = status_after([event]) or self.status
        self.spent.fold(event)
        match event.type:
            case "aaa.llm.requested":
                self.calls += 1
            case "aaa.llm.completed" | "aaa.llm.failed":
                self.largest_tokens = max(self.largest_tokens, sent_tokens(event))
                self.compactions += bool(applied_at(event))
            case "aaa.context.summary":
                self.summaries += 1
            case "aaa.tool.requested":
                self.tools[event.data["call"]["name"]] += 1
            case _:
                pass

    def to_dict(self) -> dict[str, object]:
        """All of it, for a JSON document."""
        return {
            "status": self.status,
            "calls": self.calls,
            "largest_tokens": self.largest_tokens,
            "compactions": self.compactions,
            "summaries": self.summaries,
            "tools": dict(self.tools),
            "spent_tokens": self.spent.tokens,
            "spent_cost": self.spent.cost,
        }


def sent_tokens(event: Event) -> int:
    """The size of a request: our estimate of the prompt, else what the provider counted; 0 if neither is known."""
    usage: dict[str, int] = event.data.get("usage") or {}
    return event.data.get("tokens") or usage.get("prompt_tokens") or 0


def applied_at(event: Event) -> list[str]:
    """What was applied to make a prompt smaller, by the end of its call."""
    report: dict[str, Any] = event.data.get("context") or {}
    return report.get("applied", [])


def described(events: Iterable[Event]) -> Iterator[tuple[Event, str]]:
    """Each event with a line about it; model calls are numbered from 1."""
    calls: dict[str, int] = {}
    tools: dict[str, str] = {}
    for event in events:
        key = event.data.get("key", "")
        if event.type == "aaa.llm.requested":
            calls[key] = len(calls) + 1
        elif event.type == "aaa.tool.requested":
            tools[key] = event.data["call"]["name"]
        subject = f"call {calls[key]}: " if key in calls else f"{tools[key]} " if key in tools else ""
        yield event, (subject + _line(event.type, event)).strip(" :")


def _line(type: str, event: Event) -> str:
    data = event.data
    match type:
        case "aaa.run.started":
            return f"{data['algorithm']}, version {data['version']}"
        case "aaa.llm.requested":
            return (
                f"a conversation of {_counted(data['conv']['length'], 'message')}, {len(data['conv']['delta']):,} new"
            )
        case "aaa.llm.completed":
            return ", ".join([_sent(event), _reply(data), *_costs(data)])
        case "aaa.tool.completed":
            return f"returned {_counted(len(data['content']), 'character')}"
        case "aaa.context.summary" | "aaa.context.rejected" | "aaa.context.edited":
            return ", ".join([_compaction(type, data), *_costs(data)])
        case "aaa.child.completed":
            return f"{data['outcome']['status']}, spent {_counted(data['spent']['tokens'], 'token')}"
        case "aaa.run.completed":
            return f"{data['status']}{_problem(data)}"
        case "aaa.llm.failed" | "aaa.tool.failed" | "aaa.step.failed" | "aaa.child.failed":
            return f"failed{_problem(data)}"
        case _:
            return data.get("name") or ""


def _compaction(type: str, data: dict[str, Any]) -> str:
    if type == "aaa.context.edited":
        return f"{_counted(len(data['added']), 'edit')} came, {len(data['removed']):,} went"
    if type == "aaa.context.rejected":
        return f"summary not used: {', '.join(data['rejected'])}"
    upto, text = data["record"]["upto"], data["record"]["text"]
    return f"the first {_counted(upto, 'message')} in {_counted(len(text), 'character')}"


def _sent(event: Event) -> str:
    text = f"sent {_counted(sent_tokens(event), 'token')}"
    report = event.data.get("context")
    if not report:
        return text
    how = ", ".join(report["applied"]) or _counted(report.get("edits_in_force", 0), "edit") + " in force"
    return f"{text} of {report['tokens_before']:,} ({how})"


def _reply(data: dict[str, Any]) -> str:
    calls = len(data["message"].get("tool_calls", ()))
    return f"reply with {_counted(calls, 'tool call')}" if calls else "reply with text"


def _costs(data: dict[str, Any]) -> list[str]:
    tokens, cost = data.get("tokens_spent"), data.get("cost")
    return ([f"spent {_counted(tokens, 'token')}"] if tokens else []) + ([f"${cost:.4f}"] if cost else [])


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _problem(data: dict[str, Any]) -> str:
    error = data.get("error")
    return f": {error['type']}" if error else ""
