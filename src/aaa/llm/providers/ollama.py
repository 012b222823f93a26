"""Ollama's own API.

The SDK's `chat` rebuilds messages and tools from the fields it knows and drops the rest (nested parameter schemas,
call ids; ollama 0.6.3, 2026-11). So the body goes through the request function that all methods of the SDK share.
"""

import sys
from collections.abc import Mapping
from typing import Any

from aaa.errors import AaaError, BrokenReplyError
from aaa.llm.providers.accepting import accepted
from aaa.llm.providers.protocol import Connection, ReplyStream
from aaa.llm.providers.transport import as_mapping, call_options, is_raised_in, package, transport_error
from aaa.messages import LLMRequest, LLMResponse
from aaa.wire import ollama
from aaa.wire.faults import error_from, fault_from

__all__ = ["OLLAMA", "OllamaProvider"]

_HTTPX_NAMES = {"extra_headers": "headers", "extra_query": "params"}


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

    def accept(self, sdk: Any, *, is_async: bool) -> Any:
        """A client of the SDK."""
        return accepted(self.name, sdk, "_request", is_async=is_async)

    def call(self, sdk: Any, request: LLMRequest, *, stream: bool) -> Any:
        """Post the body; the answers are plain dicts."""
        body = ollama.request_to_body(request)
        options = call_options(body)
        body |= {**options.pop("extra_body", {}), "stream": stream}
        keywords = {_HTTPX_NAMES.get(key, key): value for key, value in options.items()}
        return sdk._request(dict, "POST", "/api/chat", json=body, stream=stream, **keywords)

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
            return error_from(fault_from(status, _headers_of(error), {"error": failure.error}), provider=self.name)
        if isinstance(error, TypeError | AttributeError) and is_raised_in("ollama", error):  # JSON, but no object
            return BrokenReplyError("ollama answered with something that is not its format")
        return transport_error(self.name, error)


def _headers_of(error: Exception) -> dict[str, str]:
    """The SDK hides the HTTP error behind its own, and with it when to try again (ollama 0.6.3, 2026-11)."""
    headers: Any = getattr(getattr(error.__context__, "response", None), "headers", {})
    return {str(key).lower(): str(value) for key, value in headers.items()}


OLLAMA = OllamaProvider()
