"""The guide's run without an engine: 25 look-ups, each with a long result, in a window of 4,000 tokens."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aaa.context import HeuristicCounter
from aaa.messages import LLMRequest, LLMResponse, Message, ToolCall, ToolSpec

WINDOW = 4_000
CALLS = 26

LOOKUP = ToolSpec(
    "lookup",
    "Look a topic up (returns a long document).",
    json.dumps(
        {
            "type": "object",
            "properties": {"topic": {"type": "string"}},
            "required": ["topic"],
            "additionalProperties": False,
        },
        separators=(",", ":"),
    ),
)


class ScriptedSummarizer:
    """A model client that always writes the same short summary, and keeps what it was asked."""

    def __init__(self, text: str = "Looked up the earlier topics; each returned long notes.") -> None:
        self.text = text
        self.requests: list[LLMRequest] = []

    async def complete(self, request: LLMRequest) -> LLMResponse:
        self.requests.append(request)
        return LLMResponse(Message("assistant", self.text))


def turn(number: int) -> tuple[Message, Message]:
    """One look-up: the call and its result."""
    topic = f"topic {number}"
    arguments = json.dumps({"topic": topic}, separators=(",", ":"))
    call = Message("assistant", None, (ToolCall(f"call_{number}", "lookup", arguments),))
    return call, Message("tool", f"Notes on {topic}: " + "lorem ipsum " * 150, tool_call_id=f"call_{number}")


def conversation(turns: int) -> list[Message]:
    """The task and `turns` look-ups."""
    return [Message("user", "research everything"), *(message for n in range(1, turns + 1) for message in turn(n))]


async def sizes_and_reports(
    fit: Callable[[Sequence[Message]], Awaitable[Any]],
) -> tuple[list[int], list[dict[str, Any] | None], list[Any]]:
    """Every call of the run: the size of its request, its report, and what was prepared."""
    counter = HeuristicCounter()
    whole = conversation(CALLS - 1)
    prepared = [await fit(whole[: 1 + 2 * number]) for number in range(CALLS)]
    return [counter.count(p.messages, [LOOKUP]) for p in prepared], [p.report for p in prepared], prepared
