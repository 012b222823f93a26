"""Ollama's own API.

The SDK's `chat` rebuilds messages and tools from the fields it knows and drops the rest (nested parameter schemas,
call ids; ollama 0.6.3, 2026-11). So the body goes through the request function that all methods of the SDK share.
"""

import sys
from collections.abc import Mapping
from typing import Any

from aaa.errors import AaaError
from aaa.llm.providers.protocol import Connection, ReplyStream
from aaa.llm.providers.transport import as_mapping, package, transport_error
from aaa.messages import LLMRequest, LLMResponse
from aaa.wire import ollama
from aaa.wire.faults import error_from, fault_from

__all__ = ["OLLAMA", "OllamaProvider"]


class OllamaProvider:
    """`/api/chat` of an Ollama server."""

    name = "ollama"
    dialect = "ollama"
    is_local = False

    def connect(self, connection: Connection) -> Any:
        """A client of the SDK."""
        sdk = package("ollama", extra="ollama")
        options: dict[str, Any] = {"host": connection.base_url, "timeout": connection.timeout_seconds}
        if connection.api_key:
            options["headers"] = {"authorization": f"Bearer {connection.api_key}"}
        return (sdk.AsyncClient if connection.is_async else sdk.Client)(**options)

    def call(self, sdk: Any, request: LLMRequest, *, stream: bool) -> Any:
        """Post the body; the answers are plain dicts."""
        body = ollama.request_to_body(request) | {"stream": stream}
        return sdk._request(dict, "POST", "/api/chat", json=body, stream=stream)

    def response(self, answer: Any) -> LLMResponse:
        """Read an answer."""
        body = as_mapping(self.name, answer)
        if body.get("error"):
            raise error_from(fault_from(None, {}, body), provider=self.name)
        return ollama.response_from_body(body)

    def reply_stream(self) -> ReplyStream:
        """A reader for one streamed reply."""
        return ollama.ReplyStream()

    def event_of(self, item: Any) -> Mapping[str, Any]:
        """One line of the stream."""
        return as_mapping(self.name, item)

    def error_of(self, error: Exception) -> AaaError | None:
        """What an exception of the SDK means."""
        sdk: Any = sys.modules.get("ollama")
        if sdk is not None and isinstance(error, sdk.ResponseError):
            failure: Any = error
            status = failure.status_code if failure.status_code > 0 else None
            return error_from(fault_from(status, {}, {"error": failure.error}), provider=self.name)
        return transport_error(self.name, error)


OLLAMA = OllamaProvider()
