"""OpenAI and Anthropic: their SDKs are made by the same generator, and differ in names only.

What a request says beyond the keywords an SDK knows goes through its `extra_body`, so that a new parameter, or one of
a compatible server, needs no new SDK.
"""

import inspect
import sys
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from aaa.errors import AaaError, BrokenReplyError
from aaa.llm.providers.accepting import accepted
from aaa.llm.providers.protocol import Connection, ReplyStream, WireFormat
from aaa.llm.providers.transport import (
    address,
    as_mapping,
    body_of,
    call_options,
    key_for,
    package,
    transport_error,
    unreachable,
)
from aaa.messages import LLMRequest, LLMResponse
from aaa.wire.faults import error_from, fault_from

__all__ = ["StainlessProvider"]


class StainlessProvider:
    """One method of one SDK: `method` is its path from the client, `complete_body` what its requests always need."""

    is_local = False

    def __init__(
        self,
        name: str,
        *,
        package: str,
        key_variable: str,
        method: str,
        wire: WireFormat,
        dialect: str,
        complete_body: Callable[[dict[str, Any], bool], None],
    ) -> None:
        self.name = name
        self.dialect = dialect
        self._package = package
        self._key_variable = key_variable
        self._method_path = method
        self._method = attrgetter(method)
        self._wire = wire
        self._complete_body = complete_body

    def connect(self, connection: Connection) -> Any:
        """A client of the SDK."""
        sdk = package(self._package, extra=self._package)
        key = key_for(self.name, connection.api_key, (self._key_variable,), is_needed=connection.base_url is None)
        options: dict[str, Any] = {
            "api_key": key,
            "base_url": connection.base_url and address(connection.base_url),
            "timeout": connection.timeout_seconds or 600.0,
        }
        if connection.max_retries is not None:
            options["max_retries"] = connection.max_retries
        names = {"openai": "OpenAI", "anthropic": "Anthropic"}
        return getattr(sdk, ("Async" if connection.is_async else "") + names[self._package])(**options)

    def accept(self, sdk: Any, *, is_async: bool) -> Any:
        """A client of the SDK, Azure's and others of the same kind included."""
        return accepted(self.name, sdk, self._method_path, is_async=is_async)

    def call(self, sdk: Any, request: LLMRequest, *, stream: bool) -> Any:
        """Call the SDK's method."""
        method = self._method(sdk)
        body = self._wire.request_to_body(request)
        self._complete_body(body, stream)
        known = inspect.signature(method).parameters
        keywords = call_options(body)
        body.pop("stream", None)  # that is for the caller to say, who must read what comes
        more = {key: body.pop(key) for key in list(body) if key not in known}
        if more:
            keywords["extra_body"] = more | (keywords.get("extra_body") or {})
        return method(**body, **keywords, **({"stream": True} if stream else {}))

    def response(self, answer: Any) -> LLMResponse:
        """Read an answer."""
        body = as_mapping(self.name, answer)
        if body.get("error"):  # gateways put a failure into an answer of status 200
            raise error_from(fault_from(None, {}, body), provider=self.name)
        return self._wire.response_from_body(body)

    def reply_stream(self) -> ReplyStream:
        """A reader for one streamed reply."""
        return self._wire.ReplyStream()

    def event_of(self, item: Any) -> Mapping[str, Any]:
        """A chunk or event as a plain object."""
        return as_mapping(self.name, item)

    def error_of(self, error: Exception) -> AaaError | None:
        """What an exception of the SDK means."""
        sdk: Any = sys.modules.get(self._package)
        if sdk is None or not isinstance(error, sdk.APIError):
            return transport_error(self.name, error)
        failure: Any = error
        if isinstance(error, sdk.APIStatusError):
            response = failure.response
            headers = {str(key).lower(): str(value) for key, value in response.headers.items()}
            if response.status_code < 400:  # Anthropic: an event of a stream that had begun
                return error_from(fault_from(None, headers, failure.body), provider=self.name)
            return error_from(fault_from(response.status_code, headers, body_of(response)), provider=self.name)
        if isinstance(error, sdk.APIConnectionError):
            below = error.__cause__
            known = transport_error(self.name, below) if isinstance(below, Exception) else None
            return known or unreachable(self.name, error)
        if isinstance(error, sdk.APIResponseValidationError):
            return BrokenReplyError(f"{self.name} answered with something that is not its format")
        body: Any = failure.body  # an error inside a stream
        return error_from(fault_from(None, {}, body if body is not None else str(error)), provider=self.name)
