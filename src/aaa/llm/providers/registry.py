"""Providers by name, and model strings: "provider:model"."""

import importlib

from aaa.errors import ClientSetupError
from aaa.llm.providers.protocol import Provider

__all__ = ["PROVIDERS", "provider_named", "split_model"]

PROVIDERS = {
    "openai": "aaa.llm.providers.openai:OPENAI",
    "openai-responses": "aaa.llm.providers.openai:OPENAI_RESPONSES",
    "anthropic": "aaa.llm.providers.anthropic:ANTHROPIC",
    "gemini": "aaa.llm.providers.gemini:GEMINI",
    "ollama": "aaa.llm.providers.ollama:OLLAMA",
    "hf": "aaa.llm.providers.hf:HF",
    "llamacpp": "aaa.llm.providers.llamacpp:LLAMACPP",
}
"""Where each provider is found, by the name model strings begin with."""


def split_model(model: str) -> tuple[str, str]:
    """The two parts of "provider:model"; the model's own name may hold colons.

    Raises:
        ClientSetupError: there are not two, or the provider is not known.
    """
    provider, colon, name = model.partition(":")
    if not (colon and provider and name.strip()):
        raise ClientSetupError(f'a model is named "provider:model", for example "ollama:qwen3:8b"; got {model!r}')
    if provider not in PROVIDERS:
        raise ClientSetupError(f"unknown provider {provider!r}; known are {', '.join(PROVIDERS)}")
    return provider, name


def provider_named(name: str) -> Provider:
    """A provider.

    Raises:
        ClientSetupError: it is not known.
    """
    if name not in PROVIDERS:
        raise ClientSetupError(f"unknown provider {name!r}; known are {', '.join(PROVIDERS)}")
    module, _, attribute = PROVIDERS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
