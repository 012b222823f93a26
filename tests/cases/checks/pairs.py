"""Whether every call has its result where each format wants it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.cases.checks.pieces import blocks_of
from tests.cases.checks.registry import check
from tests.cases.found import Found

__all__ = ["pairs_ok"]

Expected = Mapping[str, Any]
Turn = Mapping[str, Any]


@check("pairs_ok", "gemini_parity")
def pairs_ok(found: Found, expected: Expected) -> str | None:
    """Every call has one result, and every result its call before it."""
    return _PAIRS[found.format.name](found.turns)


def _chat_pairs(turns: Sequence[Turn]) -> str | None:
    open_calls: list[Turn] = []
    for index, turn in enumerate(turns):
        if turn["role"] == "tool":
            answered = next((call for call in open_calls if _answers(turn, call)), None)
            if answered is None:
                return f"message {index} is a result without a call before it"
            open_calls.remove(answered)
            continue
        if open_calls:
            return f"message {index} stands before the results of {_names(open_calls)}"
        open_calls = list(turn.get("tool_calls") or ())
    return f"no result for {_names(open_calls)}" if open_calls else None


def _answers(result: Turn, call: Turn) -> bool:
    """Whether a result belongs to a call: by the id; of a call without one by the tool's name, if it has that."""
    if "id" in call or "tool_call_id" in result:
        return result.get("tool_call_id") == call.get("id")
    return result.get("tool_name", call["function"]["name"]) == call["function"]["name"]


def _names(calls: Sequence[Turn]) -> list[str]:
    return [call.get("id") or call["function"]["name"] for call in calls]


def _anthropic_pairs(turns: Sequence[Turn]) -> str | None:
    merged: list[tuple[str, list[Turn]]] = []
    for turn in turns:
        blocks = blocks_of(turn)
        if merged and merged[-1][0] == turn["role"] == "user":
            merged[-1][1].extend(blocks)
        else:
            merged.append((turn["role"], list(blocks)))
    asked: list[str] = []
    for place, (_, blocks) in enumerate(merged):
        kinds = [block["type"] == "tool_result" for block in blocks]
        if kinds != sorted(kinds, reverse=True):
            return f"turn {place}: results are not first"
        given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(given) != sorted(asked):
            return f"turn {place}: results for {given}, calls were {asked}"
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        used = {block["id"] for block in blocks if block["type"] == "server_tool_use"}
        lost = [b for b in blocks if b["type"].endswith("_tool_result") and b["tool_use_id"] not in used]
        if lost or len(used) != sum(block["type"].endswith("_tool_result") for block in blocks):
            return f"turn {place}: a server's tool and its result are apart"
    return f"no result for {asked}" if asked else None


def _gemini_pairs(turns: Sequence[Turn]) -> str | None:
    asked = 0
    for index, turn in enumerate(turns):
        given = sum("functionResponse" in part for part in turn["parts"])
        if given != asked:
            return f"turn {index} has {given} responses for {asked} calls"
        asked = sum("functionCall" in part for part in turn["parts"])
    return f"{asked} calls without a response" if asked else None


def _responses_pairs(items: Sequence[Turn]) -> str | None:
    calls, outputs = Counter[str](), Counter[str]()
    for index, item in enumerate(items):
        kind = item.get("type", "message")
        if kind.endswith("_call") and "call_id" in item:
            calls[item["call_id"]] += 1
        elif kind.endswith("_call_output"):
            outputs[item["call_id"]] += 1
            if outputs[item["call_id"]] > calls[item["call_id"]]:
                return f"item {index} is an output before or without its call"
    return None if calls == outputs else f"calls {dict(calls)}, outputs {dict(outputs)}"


_PAIRS: dict[str, Callable[[Sequence[Turn]], str | None]] = {
    "openai_chat": _chat_pairs,
    "ollama": _chat_pairs,
    "anthropic": _anthropic_pairs,
    "gemini": _gemini_pairs,
    "openai_responses": _responses_pairs,
}
