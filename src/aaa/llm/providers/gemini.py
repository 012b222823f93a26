"""Google's Gemini API and Vertex, by google-genai.

The SDK's types refuse fields they do not know. So the body travels whole in `http_options.extra_body`, which the SDK
lays over what it would send, and an answer is read from the HTTP response; only streams pass through the SDK's types.
"""

import base64
import json
import sys
from collections.abc import Mapping
from typing import Any, cast

from aaa.errors import AaaError, BrokenReplyError
from aaa.llm.providers.protocol import Connection, ReplyStream
from aaa.llm.providers.transport import key_for, package, transport_error
from aaa.messages import LLMRequest, LLMResponse
from aaa.wire import gemini
from aaa.wire.faults import error_from, fault_from

__all__ = ["GEMINI", "GeminiProvider"]

_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")


class GeminiProvider:
    """`generateContent` by a `google.genai.Client`, of either side: `.models`, or `.aio.models` of an asynchronous
    driver."""

    name = "gemini"
    dialect = "gemini"
    is_local = False

    def connect(self, connection: Connection) -> Any:
        """The methods of a client of the SDK."""
        genai = package("google.genai", extra="gemini")
        key = key_for(self.name, connection.api_key, _KEYS, is_needed=connection.base_url is None)
        options: dict[str, Any] = {}
        if connection.base_url is not None:
            options["base_url"] = connection.base_url
        if connection.timeout_seconds is not None:
            options["timeout"] = round(connection.timeout_seconds * 1000)
        client = genai.Client(api_key=key, http_options=options or None)
        return client.aio if connection.is_async else client

    def call(self, sdk: Any, request: LLMRequest, *, stream: bool) -> Any:
        """Call `generate_content` or its streaming twin."""
        types = package("google.genai.types", extra="gemini")
        body = gemini.request_to_body(request)
        model = body.pop("model", None)
        config = types.GenerateContentConfig(
            http_options=types.HttpOptions(extra_body=body),
            should_return_http_response=None if stream else True,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        contents = [types.Content(role="user", parts=[types.Part(text=".")])]  # replaced by the body's
        method = sdk.models.generate_content_stream if stream else sdk.models.generate_content
        return method(model=model, contents=contents, config=config)

    def response(self, answer: Any) -> LLMResponse:
        """Read an answer from its HTTP response."""
        raw = getattr(answer, "sdk_http_response", None)
        body: Any = json.loads(raw.body) if raw is not None and raw.body else answer
        if not isinstance(body, Mapping):
            raise BrokenReplyError("gemini answered with something that is not its format")
        fields = cast("Mapping[str, Any]", body)
        if fields.get("error"):
            raise error_from(fault_from(None, {}, fields), provider=self.name)
        return gemini.response_from_body(fields)

    def reply_stream(self) -> ReplyStream:
        """A reader for one streamed reply."""
        return gemini.ReplyStream()

    def event_of(self, item: Any) -> Mapping[str, Any]:
        """A chunk as the plain object that was sent; the SDK holds bytes where the wire has base64."""
        if isinstance(item, Mapping):
            return cast("Mapping[str, Any]", item)
        return _plain(item.model_dump(mode="python", by_alias=True, exclude_none=True, exclude={"sdk_http_response"}))

    def error_of(self, error: Exception) -> AaaError | None:
        """What an exception of the SDK means."""
        errors: Any = sys.modules.get("google.genai.errors")
        if errors is not None and isinstance(error, errors.UnknownApiResponseError):
            return BrokenReplyError("gemini answered with something that is not its format")
        if errors is None or not isinstance(error, errors.APIError):
            return transport_error(self.name, error)
        failure = cast("Any", error)
        headers: Mapping[Any, Any] = getattr(failure.response, "headers", None) or {}
        plain = {str(key).lower(): str(value) for key, value in headers.items()}
        return error_from(fault_from(failure.code, plain, failure.details), provider=self.name)


def _plain(value: Any) -> Any:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case dict():
            return {key: _plain(item) for key, item in cast("dict[str, Any]", value).items()}
        case list():
            return [_plain(item) for item in cast("list[Any]", value)]
        case _:
            return getattr(value, "value", value)  # members of the SDK's enumerations


GEMINI = GeminiProvider()
