"""One usage, whatever a provider reports."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.errors import WireError
from aaa.messages import Usage
from aaa.wire.usage import context_tokens, cost_from, last_pass_from, merged_usage, reports_cached, usage_from
from tests.shared import wire_bodies

APIS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "bedrock", "cohere")


def usage(prompt=0, completion=0, total=0, cached=0, written=0, reasoning=0):
    return Usage(prompt, completion, total, cached, written, reasoning)


def chat(prompt, completion, total=None, cached=None, reasoning=None, **more):
    fields = {"prompt_tokens": prompt, "completion_tokens": completion}
    if total is not None:
        fields["total_tokens"] = total
    if cached is not None:
        fields["prompt_tokens_details"] = {"cached_tokens": cached}
    if reasoning is not None:
        fields["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return fields | more


REPORTED = {
    "OpenAI": ("openai-chat", chat(100, 20, 120, 64, 8), usage(100, 20, 120, 64, 0, 8)),
    "cache writes": (
        "openai-chat",
        {"prompt_tokens": 50, "completion_tokens": 5, "prompt_tokens_details": {"cache_write_tokens": 40}},
        usage(50, 5, 55, 0, 40),
    ),
    "DeepSeek": (
        "openai-chat",
        chat(563, 116, 679, prompt_cache_hit_tokens=512, prompt_cache_miss_tokens=51),
        usage(563, 116, 679, 512),
    ),
    "Moonshot and Together": ("openai-chat", chat(20, 30, 50, cached_tokens=10), usage(20, 30, 50, 10)),
    "Mistral": ("openai-chat", chat(175, 39, 214, num_cached_tokens=174), usage(175, 39, 214, 174)),
    "xAI, reasoning outside": ("openai-chat", chat(307, 26, 588, 244, 255), usage(307, 281, 588, 244, 0, 255)),
    "xAI, no total": ("openai-chat", chat(307, 26, None, 0, 255), usage(307, 281, 588, 0, 0, 255)),
    "xAI, more cached than counted": ("openai-chat", chat(7, 1, 8, 163, 0), usage(7, 1, 8, 7)),
    "Perplexity": (
        "openai-chat",
        chat(33, 7163, 7196, citation_tokens=20016, reasoning_tokens=73997, num_search_queries=18),
        usage(33, 101176, 101209, 0, 0, 73997),
    ),
    "reasoning at the top, inside": (
        "openai-chat",
        chat(33, 500, 533, reasoning_tokens=400),
        usage(33, 500, 533, 0, 0, 400),
    ),
    "llama-server with timings": (
        "openai-chat",
        chat(38196, 900, cache_n=38153, prompt_n=43),
        usage(38196, 900, 39096, 38153),
    ),
    "llama-server, timings alone": (
        "openai-chat",
        {"cache_n": 24, "prompt_n": 1, "predicted_n": 7},
        usage(25, 7, 32, 24),
    ),
    "a chunk with timings": (
        "openai-chat",
        {"choices": [], "timings": {"cache_n": 0, "prompt_n": 25, "predicted_n": 7}},
        usage(25, 7, 32),
    ),
    "a gateway to Anthropic": (
        "openai-chat",
        chat(424, 110, 534, 0, cache_creation_input_tokens=400),
        usage(424, 110, 534, 0, 400),
    ),
    "only a total": ("openai-chat", {"prompt_tokens": 10, "total_tokens": 14}, usage(10, 4, 14)),
    "nothing but a total": ("openai-chat", {"total_tokens": 5000}, usage(5000, 0, 5000)),
    "Gemini, nothing but a total": ("gemini", {"totalTokenCount": 1200}, usage(1200, 0, 1200)),
    "Bedrock, nothing but a total": ("bedrock", {"totalTokens": 1200}, usage(1200, 0, 1200)),
    "Bedrock, as its metrics spell it": (
        "bedrock",
        {
            "inputTokenCount": 100,
            "outputTokenCount": 40,
            "cacheReadInputTokenCount": 900,
            "cacheWriteInputTokenCount": 7,
        },
        usage(1007, 40, 1047, 900, 7),
    ),
    "no prompt": ("openai-chat", {"completion_tokens": 4, "total_tokens": 14}, usage(10, 4, 14)),
    "Responses": (
        "openai-responses",
        {
            "input_tokens": 184704,
            "output_tokens": 49,
            "input_tokens_details": {"cached_tokens": 183936, "cache_write_tokens": 12},
            "output_tokens_details": {"reasoning_tokens": 40},
            "total_tokens": 184753,
        },
        usage(184704, 49, 184753, 183936, 12, 40),
    ),
    "Anthropic": (
        "anthropic",
        {
            "input_tokens": 900,
            "cache_read_input_tokens": 790000,
            "cache_creation_input_tokens": 9000,
            "output_tokens": 100,
            "output_tokens_details": {"thinking_tokens": 60},
        },
        usage(799900, 100, 800000, 790000, 9000, 60),
    ),
    "Anthropic, writes by lifetime": (
        "anthropic",
        {
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 40},
        },
        usage(71, 2, 73, 0, 70),
    ),
    "Anthropic, compacted": (
        "anthropic",
        {
            "input_tokens": 181,
            "output_tokens": 8,
            "iterations": [
                {"type": "compaction", "input_tokens": 100, "cache_read_input_tokens": 55096, "output_tokens": 83},
                {"type": "message", "input_tokens": 181, "output_tokens": 8},
            ],
        },
        usage(55377, 91, 55468, 55096),
    ),
    "Anthropic, tools of its own": (
        "anthropic",
        {
            "input_tokens": 30,
            "output_tokens": 9,
            "iterations": [
                {"type": "message", "input_tokens": 10, "output_tokens": 4},
                {"type": "message", "input_tokens": 20, "output_tokens": 5},
            ],
        },
        usage(30, 9, 39),
    ),
    "Gemini": (
        "gemini",
        {
            "promptTokenCount": 341,
            "toolUsePromptTokenCount": 9,
            "candidatesTokenCount": 10,
            "thoughtsTokenCount": 499,
            "cachedContentTokenCount": 92,
            "totalTokenCount": 859,
        },
        usage(350, 509, 859, 92, 0, 499),
    ),
    "Gemini, thoughts alone": (
        "gemini",
        {"promptTokenCount": 54, "totalTokenCount": 118, "thoughtsTokenCount": 64},
        usage(54, 64, 118, 0, 0, 64),
    ),
    "Gemini, prompt alone": ("gemini", {"promptTokenCount": 13, "totalTokenCount": 13}, usage(13, 0, 13)),
    "Google's SDK": (
        "gemini",
        {"prompt_token_count": 13, "candidates_token_count": 2, "thoughts_token_count": None},
        usage(13, 2, 15),
    ),
    "Ollama": ("ollama", {"model": "m", "prompt_eval_count": 26, "eval_count": 298, "done": True}, usage(26, 298, 324)),
    "Ollama, prompt from its cache": ("ollama", {"eval_count": 298}, usage(0, 298, 298)),
    "Bedrock": (
        "bedrock",
        {
            "inputTokens": 3,
            "outputTokens": 61,
            "cacheReadInputTokens": 2074,
            "cacheWriteInputTokens": 297,
            "totalTokens": 2435,
        },
        usage(2374, 61, 2435, 2074, 297),
    ),
    "Cohere": (
        "cohere",
        {
            "billed_units": {"input_tokens": 51, "output_tokens": 66},
            "tokens": {"input_tokens": 267, "output_tokens": 91, "reasoning_tokens": 58},
            "cached_tokens": 144,
        },
        usage(267, 91, 358, 144, 0, 58),
    ),
    "texts and floats": (
        "openai-chat",
        {"prompt_tokens": "100", "completion_tokens": 20.0, "total_tokens": "120.0"},
        usage(100, 20, 120),
    ),
    "negative and null": ("openai-chat", chat(100, -1, None, -5, None), usage(100, 0, 100)),
    "a total that is too small": ("openai-chat", chat(100, 20, 7), usage(100, 20, 120)),
    "numbers that count nothing": (
        "openai-chat",
        {"prompt_tokens": 10, "completion_tokens": True, "total_tokens": float("inf"), "cached_tokens": "many"},
        usage(10, 0, 10),
    ),
}


@pytest.mark.parametrize(("api", "fields", "expected"), REPORTED.values(), ids=REPORTED)
def test_each_provider_s_counts_become_one_usage(api, fields, expected):
    assert usage_from(api, fields) == expected


def test_the_provider_s_name_helps_where_the_shape_says_nothing():
    fields = chat(100, 50, None, 0, 20)

    assert usage_from("openai-chat", fields) == usage(100, 50, 150, 0, 0, 20)
    assert usage_from("openai-chat", fields, provider="xai") == usage(100, 70, 170, 0, 0, 20)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("nothing", [None, {}, {"trafficType": "ON_DEMAND"}, chat(0, 0, 0), [], "none"])
def test_a_report_of_no_tokens_is_no_usage(api, nothing):
    assert usage_from(api, nothing) is None


def test_an_unknown_api_is_named():
    with pytest.raises(WireError, match="'smoke-signals'"):
        usage_from("smoke-signals", {})


def test_the_last_pass_is_what_stands_in_the_window():
    _, fields, _ = REPORTED["Anthropic, compacted"]

    assert last_pass_from(fields) == usage(181, 8, 189)
    assert last_pass_from({"iterations": fields["iterations"][1:]}) is None
    assert last_pass_from({"iterations": fields["iterations"][:1]}) is None
    assert last_pass_from({"input_tokens": 5}) is None
    assert last_pass_from(None) is None


def test_the_pieces_of_a_streamed_usage_lay_over_each_other():
    start = {"input_tokens": 69, "cache_read_input_tokens": 20, "output_tokens": 2, "cache_creation": {"a": 1, "b": 2}}
    end = {"input_tokens": 0, "cache_read_input_tokens": None, "output_tokens": 53, "cache_creation": {"b": 3}}

    assert merged_usage([None, start, end]) == {
        "input_tokens": 69,
        "cache_read_input_tokens": 20,
        "output_tokens": 53,
        "cache_creation": {"a": 1, "b": 3},
    }
    assert merged_usage([]) == {}


def test_a_provider_that_says_nothing_of_its_cache_does_not_say_zero():
    assert reports_cached(chat(10, 5, 15, 0))
    assert reports_cached({"input_tokens": 1, "cache_read_input_tokens": 0})
    assert not reports_cached(chat(10, 5, 15))
    assert not reports_cached({"prompt_tokens_details": None})
    assert not reports_cached(None)


@pytest.mark.parametrize(
    ("fields", "cost"),
    [
        ({"cost": 0.0125, "cost_details": {"upstream_inference_cost": 0.0125}, "is_byok": False}, 0.0125),
        ({"cost": 0.25, "cost_details": {"upstream_inference_cost": 0.5}, "is_byok": True}, 0.75),
        ({"cost": 0}, 0.0),
        ({"cost": {"total_cost": 0.00502, "request_cost": 0.005}}, 0.00502),
        ({"estimated_cost": "0.25"}, 0.25),
        ({"cost_in_usd_ticks": 1777000}, pytest.approx(0.0001777)),
        ({"cost_in_usd_ticks": 0}, None),
        ({"cost": -1}, None),
        (chat(10, 5), None),
        (None, None),
    ],
)
def test_the_cost_is_what_the_provider_says(fields, cost):
    assert cost_from(fields) == cost


KEYS = st.sampled_from(
    sorted(
        {"prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens", "reasoning_tokens"}
        | {"iterations", "tokens", "cached_tokens", "prompt_tokens_details", "completion_tokens_details", "type"}
        | {"promptTokenCount", "thoughtsTokenCount", "totalTokenCount", "inputTokens", "cacheReadInputTokens"}
        | {"cache_read_input_tokens", "eval_count", "timings", "prompt_n", "cache_n"}
    )
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=12,
)


@given(st.sampled_from(APIS), st.dictionaries(KEYS, VALUES, max_size=8))
def test_any_object_gives_counts_that_add_up(api, fields):
    found = usage_from(api, fields)
    cost_from(fields)
    last_pass_from(fields)
    merged_usage([fields, fields])

    if found is not None:
        assert found.cached_tokens + found.cache_write_tokens <= found.prompt_tokens
        assert 0 <= found.reasoning_tokens <= found.completion_tokens
        assert found.prompt_tokens + found.completion_tokens <= found.total_tokens


RECORDED = {
    "chat": ("openai-chat", "usage"),
    "responses": ("openai-responses", "usage"),
    "messages": ("anthropic", "usage"),
    "converse": ("bedrock", "usage"),
    "generate": ("gemini", "usageMetadata"),
    "v2-chat": ("cohere", "usage"),
    "api-chat": ("ollama", None),
}


@pytest.mark.parametrize("recorded", RECORDED)
def test_what_providers_report_as_total_is_prompt_and_output(recorded):
    api, key = RECORDED[recorded]
    seen = 0
    for name, exchange in wire_bodies(recorded):
        body = exchange["response"].get("body")
        if not isinstance(body, dict):
            continue
        fields = body if key is None else body.get(key)
        found = usage_from(api, fields)
        if found is None:
            continue
        seen += 1
        assert found.completion_tokens, name
        if not fields.get("iterations"):
            assert found.total_tokens == found.prompt_tokens + found.completion_tokens, f"{name}: {json.dumps(fields)}"
    assert seen


@pytest.mark.parametrize(
    ("api", "tokens"),
    [("anthropic", 21_000), ("openai-chat", 21_000), ("openai-responses", 71_000), ("gemini", 71_000)],
)
def test_what_was_thought_fills_the_window_only_where_it_is_sent_again(api, tokens):
    used = Usage(prompt_tokens=20_000, completion_tokens=51_000, reasoning_tokens=50_000)
    assert context_tokens(api, used) == tokens
    assert context_tokens(api, None) == 0
