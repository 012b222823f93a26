"""An asynchronous client for any provider.

    aaa.llm.client("anthropic:claude-opus-4-5") ──▶ ModelClient ── complete / stream ──▶ LLMResponse

One class serves every provider: what differs stands in `aaa.llm.providers`.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from inspect import isawaitable
from typing import Any, Self

from aaa.llm.exchange import Exchange
from aaa.llm.providers import Connection, Provider, provider_named, split_model
from aaa.llm.providers.dialects import dialect_of
from aaa.messages import Delta, LLMRequest, LLMResponse

__all__ = ["ModelClient", "client"]


def client(
    model: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    timeout_seconds: float | None = None,
    sdk: Any = None,
    params: Mapping[str, Any] | None = None,
    dialect: str | None = None,
) -> "ModelClient":
    """A client for `model`, "provider:model": openai, openai-responses, anthropic, gemini, ollama, hf or llamacpp.

    `sdk` is a client of the provider's own SDK (asynchronous) to use instead of a new one. `params` go with every
    request, by the provider's names. `dialect` names the rules of a compatible server at an address of one's own
    ("vllm", "llama-server", "mistral", …; `aaa.wire.rules.PROVIDERS`); those of the well-known are found. A new SDK
    client retries nothing: `LLMHandler` does, by a policy that is data.

    Raises:
        ClientSetupError: no such provider, its package is not installed, there is no key, or `sdk` is a synchronous
            client.
    """
    name, model_name = split_model(model)
    provider = provider_named(name)
    if sdk is None:
        connection = Connection(
            model=model_name, api_key=api_key, base_url=base_url, timeout_seconds=timeout_seconds, max_retries=0
        )
        sdk = provider.connect(connection)
    else:
        sdk = provider.accept(sdk, is_async=True)
    return ModelClient(provider, sdk, model=model_name, params=params, dialect=dialect)


class ModelClient:
    """Sends requests to one provider by a client of its SDK (`sdk`). `dialect` is the name of the validity rules of
    what is sent."""

    def __init__(
        self,
        provider: Provider,
        sdk: Any,
        *,
        model: str | None = None,
        params: Mapping[str, Any] | None = None,
        dialect: str | None = None,
    ) -> None:
        self.provider = provider
        self.sdk = sdk
        self.model = model
        self.params = dict(params or {})
        self.dialect = dialect or dialect_of(provider, sdk)

    def __repr__(self) -> str:
        return f"ModelClient({self.provider.name}:{self.model})"

    async def complete(self, request: LLMRequest) -> LLMResponse:
        """Send `request` and return the whole reply.

        Raises:
            ContextOverflowError: the prompt does not fit.
            ProviderError: the provider refused it for another reason, cannot be reached, or answered nonsense.
        """
        exchange = self._exchange(request)
        with exchange.errors():
            answer = await self._call(exchange, stream=False)
            return exchange.finished(self.provider.response(answer))

    async def stream(self, request: LLMRequest, show: Callable[[Delta], None]) -> LLMResponse:
        """`complete`, with each piece of the reply handed to `show` as it comes."""
        exchange = self._exchange(request)
        reply = self.provider.reply_stream()
        with exchange.errors():
            async with aclosing(_each(await self._call(exchange, stream=True))) as items:
                async for item in items:
                    for delta in exchange.feed(reply, item):
                        show(delta)
            return exchange.finished(reply.response())

    async def close(self) -> None:
        """Close the SDK client's connections."""
        await _close(self.sdk)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, exchange: Exchange, *, stream: bool) -> Any:
        if not self.provider.is_local:
            return await self.provider.call(self.sdk, exchange.request, stream=stream)
        return await asyncio.to_thread(self.provider.call, self.sdk, exchange.request, stream=stream)

    def _exchange(self, request: LLMRequest) -> Exchange:
        return Exchange(self.provider, request, model=self.model, params=self.params)


async def _each(items: Any) -> AsyncGenerator[Any, None]:
    """The items of an asynchronous stream, or of one that is there already; closed however it ends."""
    try:
        if hasattr(items, "__aiter__"):
            async for item in items:
                yield item
        else:
            for item in items:
                yield item
    finally:
        await _close(items)


async def _close(resource: Any) -> None:
    """SDKs call it `aclose` or `close`, and only some of them wait."""
    close = getattr(resource, "aclose", None) or getattr(resource, "close", None)
    closing = close() if close is not None else None
    if isawaitable(closing):
        await closing
