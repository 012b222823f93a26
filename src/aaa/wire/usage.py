"""One `Usage`, whatever a provider reports.

    usage_from(api, usage)    what the call used, passes the provider made on its own account included
    last_pass_from(usage)     what its last pass used: the size of the context as it stands now (Anthropic)
    context_tokens(api, used) what the next prompt begins with
    merged_usage(parts)       the usage of a stream, which arrives in pieces
    cost_from(usage)          what the provider says it charged

`usage` is the provider's own object: `usage` of a reply, `usageMetadata` of Gemini, the whole reply of Ollama, the
`timings` of llama-server. Who counts what where: Anthropic and Bedrock leave cached tokens out of the prompt, the
others count them in; Gemini leaves thoughts out of the output, and xAI's chat API reasoning; Perplexity leaves out
reasoning and citations. A count that is null, negative or no number is one that was not reported. A shape tells the
providers of one format apart; `provider` helps where it does not.

Source: the providers' API references and SDK types, November 2026.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from msgspec.structs import asdict

from aaa.errors import WireError
from aaa.messages import Usage

__all__ = ["context_tokens", "cost_from", "last_pass_from", "merged_usage", "reports_cached", "usage_from"]

Fields = Mapping[str, Any]

_LARGEST = 2**53  # what JSON numbers hold exactly; a count above it is none
_USD_PER_TICK = 1e-10  # xAI's `cost_in_usd_ticks`, checked against its list prices

_PERPLEXITY_KEYS = ("citation_tokens", "num_search_queries", "search_context_size")
_CACHED = (
    "prompt_tokens_details.cached_tokens",
    "prompt_cache_hit_tokens",  # DeepSeek
    "cached_tokens",  # Moonshot, Together, Cohere
    "num_cached_tokens",  # Mistral, at times
    "cache_read_input_tokens",  # gateways in front of Anthropic; Anthropic
    "cache_n",  # llama-server's timings
    "timings.cache_n",
    "input_tokens_details.cached_tokens",
    "input_tokens_details.cache_read_input_tokens",  # Perplexity's Responses API
    "cacheReadInputTokens",
    "cacheReadInputTokenCount",
    "cachedContentTokenCount",
    "cached_content_token_count",
)


def usage_from(api: str, usage: Fields | None, *, provider: str = "") -> Usage | None:
    """What a call used; None if it reports no tokens at all (nothing, or zero of prompt and output alike).

    Cached tokens are inside `prompt_tokens`, reasoning is inside `completion_tokens`, whatever the provider does.
    `total_tokens` is the provider's, unless it is less than prompt and output together.

    Raises:
        WireError: no such `api`.
    """
    read = _READERS.get(api)
    if read is None:
        raise WireError(f"no usage is known for the api {api!r}; there are {', '.join(_READERS)}")
    if not isinstance(usage, Mapping):
        return None
    found = read(usage, provider)
    return found if found.prompt_tokens or found.completion_tokens else None


def context_tokens(api: str, usage: Usage | None) -> int:
    """What stands in the window after a call: its prompt and its reply; 0 if nothing was reported.

    The report of one call, not the sum of several. What was thought does not come back to Anthropic and in Chat
    Completions once the turn is over; the other formats send it again.
    """
    if usage is None:
        return 0
    is_dropped = api in ("anthropic", "openai-chat")
    return usage.prompt_tokens + usage.completion_tokens - (usage.reasoning_tokens if is_dropped else 0)


def last_pass_from(usage: Fields | None) -> Usage | None:
    """Usage of the last pass over the conversation, when Anthropic made several for one call; None if it made one.

    With compaction, or tools that the provider runs, `usage_from` is what the call cost and more than what now stands
    in the window.
    """
    passes = [part for part in _iterations(usage or {}) if _is_in_top_level(part)]
    others = len(_iterations(usage or {})) - 1
    return _anthropic_pass(passes[-1]) if passes and others else None


def merged_usage(parts: Iterable[Fields | None]) -> dict[str, Any]:
    """The usage of a whole stream: each piece lays over those before it what it reports. Counts are cumulative, so a
    null or a zero says nothing new."""
    merged: dict[str, Any] = {}
    for part in parts:
        for key, value in (part or {}).items():
            if isinstance(value, Mapping):
                older: Any = merged.get(key)
                before = cast("Fields", older) if isinstance(older, Mapping) else None
                merged[key] = merged_usage([before, cast("Fields", value)])
            elif value or key not in merged:
                merged[key] = value
    return merged


def reports_cached(usage: Fields | None) -> bool:
    """Whether the provider said how much came from its cache; if it did not, that is unknown and not zero."""
    return isinstance(usage, Mapping) and _count(usage, *_CACHED) is not None


def cost_from(usage: Fields | None) -> float | None:
    """What the provider says the call cost, in USD; None if it does not say.

    OpenRouter's and Vercel's `cost` (with the upstream's own price, where the user's key pays for that), Perplexity's
    `cost.total_cost`, DeepInfra's `estimated_cost`, xAI's `cost_in_usd_ticks`.
    """
    if not isinstance(usage, Mapping):
        return None
    cost = _amount(usage, "cost", "cost.total_cost", "estimated_cost")
    if usage.get("is_byok") is True:
        upstream = _amount(usage, "cost_details.upstream_inference_cost")
        cost = cost if upstream is None else (cost or 0.0) + upstream
    ticks = _amount(usage, "cost_in_usd_ticks")
    return ticks * _USD_PER_TICK if cost is None and ticks else cost


def _chat(usage: Fields, provider: str) -> Usage:
    fresh, cached = _count(usage, "prompt_n", "timings.prompt_n"), _count(usage, *_CACHED)
    prompt = _count(usage, "prompt_tokens")
    if prompt is None and fresh is not None:
        prompt = fresh + (cached or 0)
    completion = _count(usage, "completion_tokens", "predicted_n", "timings.predicted_n")
    total = _count(usage, "total_tokens") or 0
    reasoning = _count(usage, "completion_tokens_details.reasoning_tokens", "reasoning_tokens") or 0
    outside = _outside_of_output(usage, provider, (prompt or 0, completion or 0, total), reasoning)
    written = _count(usage, "prompt_tokens_details.cache_write_tokens", "cache_creation_input_tokens")
    return _usage(prompt, completion, total, cached, written, reasoning, outside=outside)


def _outside_of_output(usage: Fields, provider: str, counts: tuple[int, int, int], reasoning: int) -> int:
    """Tokens of output that `completion_tokens` leaves out."""
    prompt, completion, total = counts
    if provider == "perplexity" or any(key in usage for key in _PERPLEXITY_KEYS):
        return reasoning + (_count(usage, "citation_tokens") or 0)
    if total:
        return reasoning if total == prompt + completion + reasoning else 0
    return reasoning if provider == "xai" or reasoning > completion else 0


def _responses(usage: Fields, _: str) -> Usage:
    return _usage(
        _count(usage, "input_tokens"),
        _count(usage, "output_tokens"),
        _count(usage, "total_tokens"),
        _count(usage, *_CACHED),
        _count(usage, "input_tokens_details.cache_write_tokens"),
        _count(usage, "output_tokens_details.reasoning_tokens"),
    )


def _anthropic(usage: Fields, _: str) -> Usage:
    """The top level leaves out the passes that are no part of the conversation: compaction, an advisor's."""
    passes = [_anthropic_pass(usage)]
    passes += [_anthropic_pass(part) for part in _iterations(usage) if not _is_in_top_level(part)]
    return Usage(**{field: sum(getattr(one, field) for one in passes) for field in asdict(passes[0])})


def _anthropic_pass(usage: Fields) -> Usage:
    read = _count(usage, "cache_read_input_tokens")
    written = _count(usage, "cache_creation_input_tokens")
    if not written:
        lifetimes = ("cache_creation.ephemeral_5m_input_tokens", "cache_creation.ephemeral_1h_input_tokens")
        written = sum(_count(usage, lifetime) or 0 for lifetime in lifetimes)
    prompt = (_count(usage, "input_tokens") or 0) + (read or 0) + written
    thinking = _count(usage, "output_tokens_details.thinking_tokens", "reasoning_tokens")
    return _usage(prompt, _count(usage, "output_tokens"), 0, read, written, thinking)


def _iterations(usage: Fields) -> list[Fields]:
    iterations: Any = usage.get("iterations")
    if not isinstance(iterations, list | tuple):
        return []
    return [cast("Fields", part) for part in cast("list[Any]", iterations) if isinstance(part, Mapping)]


def _is_in_top_level(iteration: Fields) -> bool:
    return iteration.get("type", "message") in ("message", "fallback_message")


def _bedrock(usage: Fields, _: str) -> Usage:
    """Either spelling: Converse's, and the one of its streams' `amazon-bedrock-invocationMetrics`."""
    fresh = _count(usage, "inputTokens", "inputTokenCount")
    read = _count(usage, "cacheReadInputTokens", "cacheReadInputTokenCount")
    written = _count(usage, "cacheWriteInputTokens", "cacheWriteInputTokenCount")
    counts = [count for count in (fresh, read, written) if count is not None]
    prompt, completion = sum(counts) if counts else None, _count(usage, "outputTokens", "outputTokenCount")
    return _usage(prompt, completion, _count(usage, "totalTokens"), read, written, None)


def _gemini(usage: Fields, _: str) -> Usage:
    """Either spelling: the REST API's, and the one of Google's SDK."""
    total = _count(usage, "totalTokenCount", "total_token_count")
    prompt = _count(usage, "promptTokenCount", "prompt_token_count")
    tools = _count(usage, "toolUsePromptTokenCount", "tool_use_prompt_token_count")
    thoughts = _count(usage, "thoughtsTokenCount", "thoughts_token_count")
    candidates = _count(usage, "candidatesTokenCount", "candidates_token_count", "responseTokenCount")
    if prompt is not None or tools is not None:
        prompt = (prompt or 0) + (tools or 0)
    if thoughts is not None:
        candidates = candidates or 0
    return _usage(prompt, candidates, total, _count(usage, *_CACHED), None, thoughts, outside=thoughts or 0)


def _ollama(reply: Fields, _: str) -> Usage:
    return _usage(_count(reply, "prompt_eval_count"), _count(reply, "eval_count"), None, None, None, None)


def _cohere(usage: Fields, _: str) -> Usage:
    """`billed_units` leaves out what Cohere adds to a prompt, which fills the window all the same."""
    prompt = _count(usage, "tokens.input_tokens", "billed_units.input_tokens")
    completion = _count(usage, "tokens.output_tokens", "billed_units.output_tokens")
    return _usage(prompt, completion, None, _count(usage, *_CACHED), None, _count(usage, "tokens.reasoning_tokens"))


def _usage(
    prompt: int | None,
    completion: int | None,
    total: int | None,
    cached: int | None,
    written: int | None,
    reasoning: int | None,
    *,
    outside: int = 0,
) -> Usage:
    """A count that is missing is what the total leaves for it, the prompt all of it where the completion is missing
    too. Parts are never more than what they are part of: xAI reports cached tokens of a preamble that it does not count
    (seen on Azure, 2026)."""
    total = total or 0
    prompt = max(0, total - (completion or 0) - outside) if prompt is None else prompt
    completion = max(0, total - prompt) if completion is None and prompt else (completion or 0) + outside
    cached = min(cached or 0, prompt)
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=max(total, prompt + completion),
        cached_tokens=cached,
        cache_write_tokens=min(written or 0, prompt - cached),
        reasoning_tokens=min(reasoning or 0, completion),
    )


def _count(fields: Fields, *paths: str) -> int | None:
    """The first positive count at one of these dotted paths, 0 if there is only a zero, None if there is none."""
    found = [int(value) for value in (_number(fields, path) for path in paths) if value is not None]
    return next((value for value in found if value), 0) if found else None


def _amount(fields: Fields, *paths: str) -> float | None:
    return next((float(value) for value in (_number(fields, path) for path in paths) if value is not None), None)


def _number(fields: Fields, path: str) -> int | float | None:
    """The number at `path`, written as one or as a text; None if it is none that can count something."""
    value: Any = fields
    for key in path.split("."):
        value = cast("Fields", value).get(key) if isinstance(value, Mapping) else None
    if isinstance(value, str) and len(value) < 20:
        try:
            value = float(value) if "." in value else int(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < _LARGEST else None  # which no NaN passes


_READERS: dict[str, Callable[[Fields, str], Usage]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _ollama,
    "bedrock": _bedrock,
    "cohere": _cohere,
}
