"""count and what else is about sizes and budgets."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import aimu
from aaa.context import (
    CalibratedCounter,
    ContextPolicy,
    Gauge,
    PromptFitter,
    TiktokenCounter,
    shortened,
)
from aaa.errors import AaaError
from aaa.messages import Message
from tests.cases.counters import CharCounter, counter_of
from tests.cases.found import Found
from tests.cases.operations.compacting import summarizer_of
from tests.cases.operations.turns import tools_of

__all__ = ["OPERATIONS"]

_CHARS = {"chars_per_token": 4, "per_message": 0, "count": ["content", "arguments"]}
_WIDE = 100_000_000
_ENCODINGS = ("cl100k_base", "o200k_base")


def count(found: Found) -> None:
    """The size of a conversation."""
    case = found.case
    found.value = _size(found, case["messages"], case.get("tools", ()))


def _size(found: Found, turns: Any, tools: Any = ()) -> int:
    read = found.given_format.request(turns, tools)
    if "counter" in found.case or "encoding" in found.case:
        return counter_of(found.case).count(read.messages, read.tools)
    return PromptFitter(ContextPolicy(_WIDE)).gauge(read.messages, tools=read.tools).tokens


def count_diff(found: Found) -> None:
    """How much larger one conversation is than another."""
    sizes = [_size_of_side(found, found.case[side]) for side in ("with", "without")]
    found.value = sizes[0] - sizes[1]


def _size_of_side(found: Found, side: Any) -> int:
    if isinstance(side, Mapping):
        return _size(found, side["messages"], side.get("tools", ()))
    return _size(found, side)


def count_many(found: Found) -> None:
    """The sizes of several conversations."""
    found.value = [_size_of_side(found, side) for side in found.case["lists"]]


def count_text(found: Found) -> None:
    """The size of a text, by each tokenizer and by an estimate."""
    case = found.case
    message = Message("user", case["text"])
    given = case.get("encoding", _ENCODINGS)
    names = [given] if isinstance(given, str) else given
    counters = {name: TiktokenCounter(name, per_message=0) for name in names}
    for counter in counters.values():
        counter.count_message(Message("user", "warm"))
    start = time.process_time()
    found.facts["exact"] = {name: counter.count_message(message) for name, counter in counters.items()}
    found.seconds = time.process_time() - start
    bare = aimu.count_tokens([{"role": "user", "content": ""}])
    found.facts["estimate"] = aimu.count_tokens([{"role": "user", "content": case["text"]}]) - bare
    found.facts["calibrated"] = _calibrated(message, max(found.facts["exact"].values()))


def _calibrated(message: Message, actual: int) -> int:
    """What the default counter says of the same text once a provider has counted it."""
    counter = CalibratedCounter(aimu.context.EstimateCounter())
    counter.observe(None, counter.base.count([message]), actual)
    return counter.count([message])


def calibrate(found: Found) -> None:
    """What a counter learns from reports."""
    counter = CalibratedCounter(bounds=(0.1, 8.0))
    for seen in found.case["observations"]:
        counter.observe(None, seen["estimate"], seen["usage"] or 0)
    found.value = counter.ratio(None)


def truncate_text(found: Found) -> None:
    """A text cut to a number of characters."""
    found.facts["texts"] = [shortened(found.case["text"], found.case["max_chars"])]


def truncate_to_tokens(found: Found) -> None:
    """A text cut to a number of tokens."""
    case = found.case
    counter = TiktokenCounter(case["encoding"], per_message=0)
    found.facts["texts"] = [counter.first(case["text"], limit) for limit in case["max_tokens"]]
    found.facts["tokens"] = [counter.count_message(Message("user", text)) for text in found.facts["texts"]]


def input_budget(found: Found) -> None:
    """What a prompt may have."""
    case = found.case
    try:
        reserve = _output_of(case) + case.get("margin", 0)
        found.value = ContextPolicy(case["window"], reserve_output=reserve).settings(None).budget_tokens
    except (ValueError, TypeError) as error:
        found.error = error


def _output_of(case: Mapping[str, Any]) -> int:
    """The room for the reply, by the name that a case has for it; none where it says null."""
    return case.get("reserve_output", case.get("max_output")) or 0


def trigger(found: Found) -> None:
    """Where compaction starts."""
    case = found.case
    ratio = case.get("ratio", case.get("threshold_ratio", 0.85))
    try:
        policy = ContextPolicy(case["window"], reserve_output=_output_of(case), trigger=ratio, target=min(0.6, ratio))
        found.value = policy.settings(None).trigger_tokens
    except ValueError as error:
        found.error = error


def max_output_for(found: Found) -> None:
    """What may be asked for as output."""
    case = found.case
    settings = ContextPolicy(case["window"], reserve_output=0).settings(None)
    wanted = case.get("wanted") or case.get("model_max_output") or case["window"]
    found.value = settings.output_for(case["prompt"], wanted, largest=case.get("model_max_output"))


def usage_report(found: Found) -> None:
    """How full the window is."""
    case = found.case
    try:
        settings = ContextPolicy(case["window"], reserve_output=0).settings(None)
    except ValueError as error:
        found.error = error
        return
    gauge = Gauge(tokens=case["context"], settings=settings)
    found.value = {"used_percent": gauge.used_percent, "free": gauge.free_tokens}


def budget_report(found: Found) -> None:
    """A window that tools, instructions and reserve do not fit in."""
    case, counter = found.case, CharCounter(_CHARS)
    summarizer_of(found)
    messages = [Message("user", "w" * 4 * case["messages_tokens"])]
    summarizer = found.summarizer
    try:
        policy = ContextPolicy(case["window"], reserve_output=case["buffer"], counter=counter, summarizer=summarizer)
        asyncio.run(policy.prepare(messages, tools=tools_of(case["fixed_tokens"], counter)))
    except (AaaError, ValueError) as error:
        found.error = error


OPERATIONS = {
    "count": count,
    "count_diff": count_diff,
    "count_many": count_many,
    "count_text": count_text,
    "calibrate": calibrate,
    "truncate_text": truncate_text,
    "truncate_to_tokens": truncate_to_tokens,
    "input_budget": input_budget,
    "trigger": trigger,
    "max_output_for": max_output_for,
    "usage_report": usage_report,
    "budget_report": budget_report,
}
