"""No server refuses what its provider took: requests recorded with the real services, if they are there."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.servers.anthropic import AnthropicServer
from tests.servers.asking import post
from tests.servers.gemini import GeminiServer
from tests.servers.ollama import OllamaServer
from tests.servers.openai_chat import OpenAIChatServer
from tests.servers.openai_responses import OpenAIResponsesServer
from tests.servers.replies import text
from tests.shared import wire_bodies

FOREIGN = {"accepts_foreign": True}
SERVERS: list[tuple[str, str, Callable[..., Any], dict[str, Any], str]] = [
    ("openai", "chat", OpenAIChatServer, {}, "/v1/chat/completions"),
    ("openai", "responses", OpenAIResponsesServer, FOREIGN, "/v1/responses"),
    ("anthropic", "messages", AnthropicServer, FOREIGN, "/v1/messages"),
    ("anthropic", "count_tokens", AnthropicServer, FOREIGN, "/v1/messages/count_tokens"),
    ("gemini", "generate", GeminiServer, FOREIGN, ""),
    ("gemini", "generate-stream", GeminiServer, FOREIGN, ""),
    ("ollama", "api-chat", OllamaServer, {}, "/api/chat"),
]


def is_whole(exchange: dict[str, Any]) -> bool:
    """Taken by the provider, and without a pointer to what it kept."""
    body = exchange.get("request", {}).get("body")
    return (
        exchange["response"].get("status") == 200
        and isinstance(body, dict)
        and body.get("previous_response_id") is None
    )


@pytest.mark.parametrize(("provider", "api", "server", "settings", "path"), SERVERS)
def test_what_a_provider_took_is_taken(
    provider: str, api: str, server: Callable[..., Any], settings: dict[str, Any], path: str
) -> None:
    taken = [exchange for _, exchange in wire_bodies(api) if exchange["provider"] == provider and is_whole(exchange)]
    with server(lambda _: text("ok"), **settings) as running:
        for exchange in taken:
            request = exchange["request"]
            where = path or "/v1beta/models/" + request["url"].split("/models/")[1].split("?")[0]
            assert post(running, where, request["body"]).status == 200, running.refused[-1:]
    assert taken
