"""What a provider's SDK is to us: how to call it and how to understand it. No waiting happens here.

    LLMRequest ── call ──▶ the SDK's answer, or an awaitable of it ── response / ReplyStream ──▶ LLMResponse
                                    └── raises ── error_of ──▶ an error of ours

The same object serves the asynchronous client and the synchronous one, so they cannot drift apart: a driver only
waits, or does not.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from aaa.errors import AaaError
from aaa.messages import Delta, LLMRequest, LLMResponse

__all__ = ["Connection", "Provider", "ReplyStream", "WireFormat"]


class ReplyStream(Protocol):
    """Reads a streamed reply, event by event."""

    error: Mapping[str, Any] | None

    def feed(self, event: Mapping[str, Any]) -> Sequence[Delta]:
        """Take in one event; what became visible by it."""
        ...

    def response(self) -> LLMResponse:
        """The whole reply.

        Raises:
            BrokenReplyError: the stream ended before its end was announced.
        """
        ...


class WireFormat(Protocol):
    """A module of `aaa.wire` that speaks one format."""

    def request_to_body(self, request: LLMRequest) -> dict[str, Any]:
        """The body of a request."""
        ...

    def response_from_body(self, body: Mapping[str, Any]) -> LLMResponse:
        """The reply in the body of a response."""
        ...

    def ReplyStream(self) -> ReplyStream:
        """A reader for one streamed reply."""
        ...


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach a provider; `model` is what one that runs in this process loads.

    None: as its SDK does by itself (environment variables, its public address).
    """

    model: str | None = None
    api_key: str | None = None
    base_url: str | None = None
    timeout_seconds: float | None = None
    max_retries: int | None = None
    is_async: bool = True


class Provider(Protocol):
    """One way to reach models. `dialect` names the validity rules of what is sent; one that `is_local` computes in
    this process, and so blocks while it does."""

    name: str
    dialect: str
    is_local: bool

    def connect(self, connection: Connection) -> Any:
        """A client of the provider's SDK.

        Raises:
            ClientSetupError: the package is not installed, or there is no key.
        """
        ...

    def accept(self, sdk: Any, *, is_async: bool) -> Any:
        """The client to use for one that a user hands in.

        Raises:
            ClientSetupError: it is none of the provider's SDK, or waits where it must not, or the other way round.
        """
        ...

    def call(self, sdk: Any, request: LLMRequest, *, stream: bool) -> Any:
        """Send `request` by the SDK client `sdk`: its answer, an iterator of events if `stream`, or, from an
        asynchronous client, an awaitable of that."""
        ...

    def response(self, answer: Any) -> LLMResponse:
        """Read an answer that was not streamed.

        Raises:
            BrokenReplyError, AaaError: it is not what the format says, or an error in the shape of an answer.
        """
        ...

    def reply_stream(self) -> ReplyStream:
        """A reader for one streamed reply."""
        ...

    def event_of(self, item: Any) -> Mapping[str, Any]:
        """What the SDK yielded, as the plain event."""
        ...

    def error_of(self, error: Exception) -> AaaError | None:
        """What an exception of the SDK means; None if it is none of the SDK's."""
        ...
