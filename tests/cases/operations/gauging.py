"""should_compact and what else asks how large the next prompt is, after a provider's reports of earlier ones."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from aaa.context import CalibratedCounter, ClearToolResults, ContextPolicy, Gauge, PromptFitter, awaits_results
from aaa.messages import Message, ToolCall, Usage
from aaa.wire.usage import context_tokens, usage_from
from tests.cases.counters import CharCounter, counter_of
from tests.cases.found import Found
from tests.cases.names import named
from tests.cases.operations.turns import tools_of

__all__ = ["OPERATIONS"]

_CHARS = {"chars_per_token": 4, "per_message": 0, "count": ["content", "arguments"]}
_WIDE = 100_000_000
_APIS = {
    **dict.fromkeys(("normalised", "anthropic-vertex"), "anthropic"),
    **dict.fromkeys(("google", "vertex"), "gemini"),
    "azure-responses": "openai-responses",
}
_READ_AS_NAMED = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "bedrock", "cohere")
_BY_KEY = {
    "prompt_tokens": "openai-chat",
    "cache_read_input_tokens": "anthropic",
    "cache_creation_input_tokens": "anthropic",
    "input_tokens_details": "openai-responses",
    "promptTokenCount": "gemini",
    "prompt_token_count": "gemini",
    "inputTokens": "bedrock",
    "prompt_eval_count": "ollama",
    "input_tokens": "openai-responses",
}
_NORMALISED = {
    **dict.fromkeys(("input", "inputTokens"), "input_tokens"),
    **dict.fromkeys(("output", "outputTokens"), "output_tokens"),
    **dict.fromkeys(("cacheRead", "cache_read", "cacheReadTokens"), "cache_read_input_tokens"),
    **dict.fromkeys(("cacheWrite", "cache_write", "cacheWriteTokens"), "cache_creation_input_tokens"),
}
_BEDROCK = ("inputTokens", "outputTokens")  # by themselves they are Bedrock's


def usage_to_context(found: Found) -> None:
    """What a report says about the next prompt's size."""
    case = found.case
    reports = [case["usage"]] if "usage" in case else case["session_usage"]
    sizes = [context_tokens(*_read_usage(case.get("provider", ""), usage)) for usage in reports]
    found.value = next(filter(None, reversed(sizes)), sizes[-1])


def _read_usage(provider: str, usage: Mapping[str, Any] | None) -> tuple[str, Usage | None]:
    """The format of a report, by the provider's name and where that tells nothing by its keys; and what it says."""
    usage, provider = _flat(usage), named(provider)
    if usage and set(usage) & set(_NORMALISED) - set(_BEDROCK):
        usage = {_NORMALISED.get(key, key): value for key, value in usage.items()}
        provider = "normalised"
    api = _APIS.get(provider, provider if provider in _READ_AS_NAMED else "")
    if not api:
        api = next((api for key, api in _BY_KEY.items() if key in (usage or {})), "openai-chat")
    return api, usage_from(api, usage, provider=provider)


def _flat(usage: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A report whose cached tokens stand in an object of their own, and its reasoning beside the output, as others."""
    match usage:
        case {"cache": {"read": read, "write": written}, **rest}:
            output = rest.get("output", 0) + rest.pop("reasoning", 0)
            return {**rest, "output": output, "cache_read": read, "cache_write": written}
    return usage


def should_compact(found: Found) -> None:
    """Whether the next prompt is above the trigger, after a report for an earlier one."""
    case = found.case
    try:
        found.value = _gauge(found, case.get("usage")).needs_compaction
    except ValueError as error:
        found.error = error


def should_compact_many(found: Found) -> None:
    """The same for several reports."""
    found.value = [_gauge(found, usage).needs_compaction for usage in found.case["usages"]]


def context_size(found: Found) -> None:
    """The size of a conversation in which older reports stand."""
    request = found.given_format.request(found.case["messages"], found.case.get("tools", ()))
    found.before = list(request.messages)
    fitter = PromptFitter(ContextPolicy(_WIDE, reserve_output=0, counter=counter_of(found.case)))
    found.value = fitter.gauge(found.before, tools=request.tools).tokens


def _gauge(found: Found, usage: Mapping[str, Any] | None) -> Gauge:
    case = found.case
    policy = _policy(case)
    tools = tools_of(case["fixed_tokens"], CharCounter(_CHARS)) if "fixed_tokens" in case else ()
    if "messages" in case:
        read = found.given_format.request(case["messages"], case.get("tools", ()))
        return _of_messages(case, policy, read.messages, (*read.tools, *tools))
    prompt, earlier = _tokens_sent(case, usage)
    messages = [Message("user", "w" * 4 * prompt)]
    fitter = _sent(policy, messages, None)
    if earlier:
        fitter.record(earlier)
    if "estimate" in case and earlier:
        messages.append(Message("assistant", "w" * 4 * max(case["estimate"] - prompt, 0)))
        fitter = _sent(policy, messages, fitter)
    api, known = _read_usage(case.get("provider", ""), usage)
    fitter.record(known)
    reply = context_tokens(api, known) - known.prompt_tokens if known is not None else 0
    messages.append(Message("assistant", "w" * (4 * reply + case.get("messages_since_usage_chars", 0))))
    return fitter.gauge(messages, tools=tools)


def _of_messages(case: Mapping[str, Any], policy: ContextPolicy, messages: Sequence[Message], tools: Any) -> Gauge:
    """The size of messages of which all before the last reply were counted by a report, if there is one."""
    _, known = _read_usage(case.get("provider", ""), case.get("usage"))
    replies = [index for index, message in enumerate(messages) if message.role == "assistant"]
    if known is None:
        return PromptFitter(policy).gauge(messages, tools=tools)
    fitter = _sent(policy, list(messages[: replies[-1]] if replies else messages), None, tools)
    fitter.record(known)
    return fitter.gauge(messages, tools=tools)


def _tokens_sent(case: Mapping[str, Any], usage: Mapping[str, Any] | None) -> tuple[int, int]:
    """Our estimate of the prompt that was sent first, and what was reported of it."""
    if "previous_context" in case:
        return case["previous_context"], case["previous_context"]
    _, known = _read_usage(case.get("provider", ""), usage)
    return case.get("estimate", case.get("context", known.prompt_tokens if known else 0)), 0


def _policy(case: Mapping[str, Any]) -> ContextPolicy:
    window = case.get("window") or 2 * case["threshold"]
    reserve = case.get("reserve_output", case.get("max_output", 0))
    limit = min(case["threshold"] / (window - reserve), 1.0) if "threshold" in case else None
    ratio = case.get("threshold_ratio", 0.85) if limit is None else limit
    return ContextPolicy(
        window,
        reserve_output=reserve,
        trigger=ratio,
        target=min(ratio, 0.6),
        counter=CalibratedCounter(_counter(case)),
    )


def _counter(case: Mapping[str, Any]) -> CharCounter:
    return CharCounter(case.get("counter", _CHARS))


def _sent(policy: ContextPolicy, messages: list[Message], before: PromptFitter | None, tools: Any = ()) -> PromptFitter:
    """A fitter by which `messages` were sent as they are, whatever it thinks of their size."""
    wide = ContextPolicy(_WIDE, reserve_output=0, counter=policy.counter)
    fitter = PromptFitter(wide, before.state if before else None)
    asyncio.run(fitter.fit(messages, tools=tools))
    return PromptFitter(policy, fitter.state)


def can_compact_now(found: Found) -> None:
    """Whether no call is under way."""
    found.before = found.given_format.read(found.case["messages"])
    found.value = not awaits_results(found.before)


def should_clear_results(found: Found) -> None:
    """Whether clearing old results is worth it."""
    case, counter = found.case, CharCounter(_CHARS)
    messages = [Message("user", "w" * 4 * (case["context"] - case["removable_tokens"]))]
    for number in range(8):
        call = ToolCall(f"c{number}", "read", "{}")
        messages += [Message("assistant", None, (call,)), _result(call, case["removable_tokens"] // 8)]
    policy = ContextPolicy(case["window"], counter=counter, strategies=[ClearToolResults(keep_last=0)], keep_recent=0)
    prepared = asyncio.run(policy.prepare(messages))
    found.value = bool(prepared.report and prepared.report["applied"])


def _result(call: ToolCall, tokens: int) -> Message:
    return Message("tool", "r" * 4 * tokens, tool_call_id=call.id)


OPERATIONS = {
    "usage_to_context": usage_to_context,
    "should_compact": should_compact,
    "should_compact_many": should_compact_many,
    "context_size": context_size,
    "can_compact_now": can_compact_now,
    "should_clear_results": should_clear_results,
}
