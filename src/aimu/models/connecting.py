"""A client for a model string."""

from collections.abc import Mapping
from typing import Any

from aaa.llm.providers import Connection, provider_named, split_model
from aimu.models.client import BaseModelClient

__all__ = ["client"]


def client(  # noqa: PLR0913 - what there is to say about a connection
    model: str,
    *,
    system: str | None = None,
    generate_kwargs: Mapping[str, Any] | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    timeout_seconds: float | None = None,
    sdk: Any = None,
    strict: bool = False,
    dialect: str | None = None,
) -> BaseModelClient:
    """A synchronous client for `model`, "provider:model": openai, openai-responses, anthropic, gemini, ollama, hf or
    llamacpp.

    `sdk` is a client of the provider's own SDK (a synchronous one) to use instead of a new one. With `strict=True` a
    conversation that the server cut silently is an error. `generate_kwargs={"context_length": N}` sets the window of
    an Ollama model. `dialect` names the validity rules of a compatible server at an address of one's own ("vllm",
    "llama-server", "mistral", …; `aaa.wire.rules.PROVIDERS`); those of the well-known are found.

    Raises:
        ClientSetupError: no such provider, its package is not installed, there is no key, or `sdk` is an asynchronous
            client.
    """
    name, model_name = split_model(model)
    provider = provider_named(name)
    if sdk is None:
        connection = Connection(
            model=model_name, api_key=api_key, base_url=base_url, timeout_seconds=timeout_seconds, is_async=False
        )
        sdk = provider.connect(connection)
    else:
        sdk = provider.accept(sdk, is_async=False)
    return BaseModelClient(
        provider, sdk, model=model_name, system=system, generate_kwargs=generate_kwargs, strict=strict, dialect=dialect
    )
