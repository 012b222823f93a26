"""Each provider with a local server that speaks its protocol, for tests of the clients."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.servers.anthropic import AnthropicServer
from tests.servers.base import LocalServer
from tests.servers.gemini import GeminiServer
from tests.servers.ollama import OllamaServer
from tests.servers.openai_chat import OpenAIChatServer
from tests.servers.openai_responses import OpenAIResponsesServer

__all__ = ["PROVIDERS", "Served"]


@dataclass(frozen=True)
class Served:
    """A provider: how its models are named, its server, and where the SDK finds it."""

    provider: str
    model: str
    server: Callable[..., LocalServer]
    path: str = ""

    def connection(self, server: LocalServer) -> dict[str, Any]:
        """Keyword arguments of a client."""
        return {"base_url": server.url + self.path, "api_key": server.key, "timeout_seconds": 20.0}

    @property
    def name(self) -> str:
        """The model string."""
        return f"{self.provider}:{self.model}"


PROVIDERS = {
    served.provider: served
    for served in (
        Served("openai", "gpt-4.1", OpenAIChatServer, "/v1"),
        Served("openai-responses", "gpt-5", OpenAIResponsesServer, "/v1"),
        Served("anthropic", "claude-opus-4-8", AnthropicServer),
        Served("gemini", "gemini-3-pro-preview", GeminiServer),
        Served("ollama", "qwen3:8b", OllamaServer),
    )
}
