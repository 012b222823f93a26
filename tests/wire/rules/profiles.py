"""Every provider, each with the models and parameters that make a difference to its rules."""

from aaa.messages import ToolSpec
from aaa.wire.rules import PROVIDERS, Rule, Rules, rules_for

__all__ = ["EACH_RULE", "MODELS_OF", "PROFILES", "THINKING_BUDGET"]

THINKING_BUDGET = {"thinking": {"type": "enabled", "budget_tokens": 1024}}

_MODELS = {
    "anthropic": (None, "claude-opus-5-5", "claude-sonnet-4-5-20250929", "claude-opus-4-8", "claude-mythos-5-2"),
    "anthropic-vertex": ("claude-opus-4-8@20260301", "claude-3-5-sonnet-v2@20241022"),
    "bedrock": (
        None,
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us.anthropic.claude-opus-5-5-v1:0",
        "amazon.nova-pro-v1:0",
    ),
    "deepseek": (None, "deepseek-chat"),
    "gemini": (None, "gemini-2.5-pro", "gemini-3.1-pro", "gemma-3-27b-it"),
    "mistral": (None, "mistral-large-2407", "mistral-medium-latest"),
    "moonshot": (None, "moonshot-v1-32k", "kimi-k2-thinking"),
}

MODELS_OF = {provider: _MODELS.get(provider, (None,)) for provider in PROVIDERS}

PROFILES: dict[str, Rules] = {
    f"{provider} {model or ''}".strip(): rules_for(provider, model)
    for provider, models in MODELS_OF.items()
    for model in models
}
PROFILES["anthropic, thinking by budget"] = rules_for("anthropic", "claude-sonnet-4-5", params=THINKING_BUDGET)
PROFILES["anthropic, budget, unknown model"] = rules_for("anthropic", params=THINKING_BUDGET)
PROFILES["bedrock without tools"] = rules_for("bedrock", "amazon.nova-pro-v1:0", tools=())
PROFILES["openai with tools"] = rules_for("openai", "gpt-5", tools=(ToolSpec("read"), ToolSpec("поиск")))

EACH_RULE: dict[str, Rule] = {}
for _profile, _rules in PROFILES.items():
    for _rule in _rules.rules:
        if _rule not in EACH_RULE.values():
            EACH_RULE[f"{_rule.name} of {_profile}"] = _rule
