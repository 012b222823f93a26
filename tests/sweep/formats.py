"""The five wire formats: how a prompt is written in each, and what that provider's strict server says of the body.

prompt ── the format's writer ──▶ body ── JSON ──▶ the checks of the test server, which know nothing of the library
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aaa.messages import LLMRequest, Message, ToolSpec
from aaa.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from aaa.wire.rules import Rules, rules_for
from tests.servers.anthropic import AnthropicServer
from tests.servers.base import LocalServer
from tests.servers.gemini import GeminiServer
from tests.servers.gemini_fields import camel
from tests.servers.ollama import OllamaServer
from tests.servers.openai_chat import OpenAIChatServer
from tests.servers.openai_responses import OpenAIResponsesServer
from tests.servers.transport import Exchange
from tests.servers.turn import Refused

__all__ = ["FORMATS", "Format"]


class Unsent(Exchange):
    """A request that never was on a socket."""

    def __init__(self, path: str, raw: bytes) -> None:
        self.method, self.path, self.raw = "POST", path, raw
        self.query: dict[str, str] = {}
        self.headers: dict[str, str] = {}


@dataclass(frozen=True)
class Format:
    """One wire format: the provider whose rules a prompt keeps, its model, writer and server."""

    name: str
    provider: str
    model: str
    write: Callable[[LLMRequest], dict[str, Any]]
    server: type[LocalServer]
    path: str
    params: tuple[tuple[str, Any], ...] = ()

    @property
    def target(self) -> tuple[str, str]:
        """Provider and model: what decides the sizes of media, and the rules."""
        return self.provider, self.model

    @cached_property
    def rules(self) -> Rules:
        return rules_for(self.provider, self.model)

    @cached_property
    def _judge(self) -> LocalServer:
        return self.server()

    def body(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> str:
        """The request as it goes over the wire."""
        request = LLMRequest(tuple(messages), tools=tuple(tools), model=self.model, params=dict(self.params))
        return json.dumps(self.write(request), ensure_ascii=False, separators=(",", ":"))

    def complaint(self, body: str) -> str:
        """What the server says of a body that it would not take; nothing if it takes it."""
        asked = Unsent(self.path, body.encode("utf-8", "surrogatepass"))
        try:
            self._judge.check_size(asked)
            read = self._judge.read_body(asked)
            self._judge.check(camel(read) if self.server is GeminiServer else read, asked)
        except Refused as refused:
            return refused.message
        return ""


FORMATS = {
    each.name: each
    for each in (
        Format(
            "openai_chat",
            "openai",
            "gpt-5",
            openai_chat.request_to_body,
            OpenAIChatServer,
            "/v1/chat/completions",
        ),
        Format(
            "openai_responses",
            "openai-responses",
            "gpt-5",
            openai_responses.request_to_body,
            OpenAIResponsesServer,
            "/v1/responses",
        ),
        Format(
            "anthropic",
            "anthropic",
            "claude-opus-5-5",
            anthropic.request_to_body,
            AnthropicServer,
            "/v1/messages",
            (("max_tokens", 1024),),
        ),
        Format(
            "gemini",
            "gemini",
            "gemini-3-pro-preview",
            gemini.request_to_body,
            GeminiServer,
            "/v1beta/models/gemini-3-pro-preview:generateContent",
        ),
        Format("ollama", "ollama", "qwen3:8b", ollama.request_to_body, OllamaServer, "/api/chat"),
    )
}
