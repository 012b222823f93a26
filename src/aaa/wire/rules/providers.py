"""The rules of a provider by its name."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from aaa.errors import ClientSetupError
from aaa.messages import ToolSpec
from aaa.wire.rules import chat_dialects, native_dialects
from aaa.wire.rules.asked import Asked
from aaa.wire.rules.characters import Characters
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.ruleset import Rules

__all__ = ["PROVIDERS", "rules_for"]

_COMPATIBLE = (
    *("alibaba", "cerebras", "fireworks", "github", "groq", "huggingface", "lm-studio", "minimax", "nvidia"),
    *("openai-compatible", "together", "vercel", "xai", "zai"),
)

_RULES: Mapping[str, Callable[[Asked], tuple[Rule, ...]]] = {
    **dict.fromkeys(("openai", "openai-chat", "azure", "openrouter"), chat_dialects.openai),
    **dict.fromkeys(("openai-responses", "azure-responses", "xai-responses"), native_dialects.responses),
    **dict.fromkeys(_COMPATIBLE, chat_dialects.compatible),
    **dict.fromkeys(("sglang", "tgi", "vllm"), chat_dialects.vllm),
    **dict.fromkeys(("gemini", "google", "vertex"), native_dialects.gemini),
    "anthropic": native_dialects.anthropic,
    "anthropic-vertex": native_dialects.claude_on_vertex,
    "bedrock": native_dialects.bedrock,
    "chat": chat_dialects.chat,
    "cohere": chat_dialects.cohere,
    "deepseek": chat_dialects.deepseek,
    **dict.fromkeys(("hf", "llama-server", "llamacpp"), chat_dialects.llama_server),
    "mistral": chat_dialects.mistral,
    "moonshot": chat_dialects.moonshot,
    "ollama": native_dialects.ollama,
    "perplexity": chat_dialects.perplexity,
    "strict-template": chat_dialects.strict_template,
}

PROVIDERS = tuple(sorted(_RULES))
"""Every name that `rules_for` knows."""


def rules_for(
    provider: str,
    model: str | None = None,
    *,
    tools: Sequence[ToolSpec] | None = None,
    params: Mapping[str, Any] = MappingProxyType({}),
) -> Rules:
    """What `provider` demands of a conversation.

    Args:
        provider: one of `PROVIDERS`; case, spaces and underscores do not matter.
        model: its generation decides some rules; without it the strictest of each holds.
        tools: those of the request, None if not known; their names and number are checked too.
        params: those of the request; whether it asks for thinking decides some rules.

    Raises:
        ClientSetupError: the provider is not known; the message lists those that are.
    """
    name = provider.strip().lower().replace("_", "-").replace(" ", "-")
    listed = _RULES.get(name)
    if listed is None:
        raise ClientSetupError(f"no rules are known for the provider {provider!r}; known are {', '.join(PROVIDERS)}")
    given = None if tools is None else tuple(tools)
    return Rules(name, (Characters(), *listed(Asked(model, given, params))))
