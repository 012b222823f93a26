"""Whose rules a client's requests must follow: those of the server behind its address, if that is a known one."""

from typing import Any
from urllib.parse import urlsplit

from aaa.llm.providers.protocol import Provider

__all__ = ["HOSTS", "dialect_of"]

HOSTS = {
    "api.cerebras.ai": "cerebras",
    "api.cohere.ai": "cohere",
    "api.cohere.com": "cohere",
    "api.deepseek.com": "deepseek",
    "api.fireworks.ai": "fireworks",
    "api.groq.com": "groq",
    "api.minimax.io": "minimax",
    "api.mistral.ai": "mistral",
    "api.moonshot.ai": "moonshot",
    "api.moonshot.cn": "moonshot",
    "api.perplexity.ai": "perplexity",
    "api.together.ai": "together",
    "api.together.xyz": "together",
    "api.x.ai": "xai",
    "api.z.ai": "zai",
    "dashscope-intl.aliyuncs.com": "alibaba",
    "dashscope.aliyuncs.com": "alibaba",
    "integrate.api.nvidia.com": "nvidia",
    "models.github.ai": "github",
    "openrouter.ai": "openrouter",
    "router.huggingface.co": "huggingface",
}
"""Servers that speak OpenAI's chat format. Source: the base addresses in their documentation, 2026-11."""


def dialect_of(provider: Provider, sdk: Any) -> str:
    """The name of the rules in `aaa.wire.rules`; the provider's own where the server is none we know."""
    match provider.name:
        case "openai":
            host = urlsplit(str(getattr(sdk, "base_url", ""))).hostname or ""
            return HOSTS.get(host, provider.dialect)
        case "anthropic" if "Vertex" in type(sdk).__name__:
            return "anthropic-vertex"
        case _:
            return provider.dialect
