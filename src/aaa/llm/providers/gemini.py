"""Google's Gemini API and Vertex, by google-genai.

The SDK's types refuse fields they do not know in a request, drop them from a reply, and write signatures anew
(google-genai 3.6, 2026-11). So bodies go through the request functions that all methods of the SDK share.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any, cast

from aaa.errors import AaaError, BrokenReplyError
from aaa.llm.providers.accepting import accepted
from aaa.llm.providers.protocol import Connection, ReplyStream
from aaa.llm.providers.transport import address, call_options, is_raised_in, key_for, package, transport_error
from aaa.messages import LLMRequest, LLMResponse
from aaa.wire import gemini
from aaa.wire.faults import error_from, fault_from

__all__ = ["GEMINI", "GeminiProvider"]

_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")


class GeminiProvider:
    """`generateContent` by a `google.genai.Client`, or by its `.aio`."""

    name = "gemini"
    dialect = "gemini"
    is_local = False

    def connect(self, connection: Connection) -> Any:
        """The methods of a client of the SDK."""
        genai = package("google.genai", extra="gemini")
        key = key_for(self.name, connection.api_key, _KEYS, is_needed=connection.base_url is None)
        options: dict[str, Any] = {}
        if connection.base_url is not None:
            options["base_url"] = address(connection.base_url)
        if connection.timeout_seconds is not None:
            options["timeout"] = round(connection.timeout_seconds * 1000)
        client = genai.Client(api_key=key, http_options=options or None)
        return client.aio if connection.is_async else client

    def accept(self, sdk: Any, *, is_async: bool) -> Any:
        """A client of the SDK; of a whole one its asynchronous side, where that is wanted."""
        side = sdk.aio if is_async and hasattr(sdk, "aio") else sdk
        return accepted(self.name, side, "_api_client", is_async=is_async)

    def call(self, sdk: Any, request: LLMRequest, *, stream: bool) -> Any:
        """Post the body to `generateContent` or its streaming twin."""
        body = gemini.request_to_body(request)
        options = _http_options(body)
        model = package("google.genai._transformers", extra="gemini").t_model(sdk._api_client, body.pop("model", None))
        path = f"{model}:streamGenerateContent?alt=sse" if stream else f"{model}:generateContent"
        name = ("" if hasattr(sdk, "aio") else "async_") + ("request_streamed" if stream else "request")
        return getattr(sdk._api_client, name)("post", path, body, options)

    def response(self, answer: Any) -> LLMResponse:
        """Read an answer."""
        fields = self.event_of(answer)
        if fields.get("error"):
            raise error_from(fault_from(None, {}, fields), provider=self.name)
        return gemini.response_from_body(fields)

    def reply_stream(self) -> ReplyStream:
        """A reader for one streamed reply."""
        return gemini.ReplyStream()

    def event_of(self, item: Any) -> Mapping[str, Any]:
        """The body of an answer, or of one chunk."""
        body: Any = json.loads(item.body or "{}")
        if not isinstance(body, Mapping):
            raise BrokenReplyError("gemini answered with something that is not its format")
        return cast("Mapping[str, Any]", body)

    def error_of(self, error: Exception) -> AaaError | None:
        """What an exception of the SDK means."""
        errors: Any = sys.modules.get("google.genai.errors")
        if errors is not None and isinstance(error, errors.UnknownApiResponseError):
            return BrokenReplyError("gemini answered with something that is not its format")
        if isinstance(error, TypeError | AttributeError) and is_raised_in("google.genai", error):  # JSON, but no object
            return BrokenReplyError("gemini answered with something that is not its format")
        if errors is None or not isinstance(error, errors.APIError):
            return transport_error(self.name, error)
        failure = cast("Any", error)
        headers: Mapping[Any, Any] = getattr(failure.response, "headers", None) or {}
        plain = {str(key).lower(): str(value) for key, value in headers.items()}
        return error_from(fault_from(failure.code, plain, failure.details), provider=self.name)


def _http_options(body: dict[str, Any]) -> Any:
    """The SDK's options for one call, from parameters that are no part of the body; None if there are none."""
    options = call_options(body)
    body.update(options.pop("extra_body", {}))
    if not options:
        return None
    seconds: float | None = options.get("timeout")
    types = package("google.genai.types", extra="gemini")
    milliseconds = None if seconds is None else round(seconds * 1000)
    return types.HttpOptions(headers=options.get("extra_headers"), timeout=milliseconds)


GEMINI = GeminiProvider()
