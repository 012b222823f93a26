"""One exchange with a model, without the waiting: what the asynchronous and the synchronous client share.

with exchange.errors():            an SDK's exceptions become ours, with the original as their cause
    answer = call(...)             the driver waits here, or not
    return exchange.finished(provider.response(answer))
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from aaa.errors import AaaError, ContextOverflowError
from aaa.llm.providers.protocol import Provider, ReplyStream
from aaa.messages import Delta, LLMRequest, LLMResponse, Message
from aaa.messages.digest import escape_surrogates
from aaa.wire.faults import error_from, fault_from
from aaa.wire.overflow import overflow_of_finish

__all__ = ["Exchange"]

_encode = msgspec.json.Encoder().encode


class Exchange:
    """A request to `provider`, completed by the client's model and parameters; the request's own win."""

    def __init__(
        self, provider: Provider, request: LLMRequest, *, model: str | None = None, params: Mapping[str, Any] = {}
    ) -> None:
        self.provider = provider
        self.request = replace(
            request,
            messages=tuple(map(_encodable, request.messages)),
            model=request.model or model,
            params={**params, **request.params},
        )

    @contextmanager
    def errors(self) -> Generator[None, None, None]:
        """Raise an SDK's exceptions as ours."""
        try:
            yield
        except AaaError:
            raise
        except Exception as error:
            known = self.provider.error_of(error)
            if known is None:
                raise
            raise known from error

    def feed(self, reply: ReplyStream, item: Any) -> Sequence[Delta]:
        """Take in what the SDK yielded.

        Raises:
            AaaError: it is the news of a failure.
        """
        deltas = reply.feed(self.provider.event_of(item))
        if reply.error is not None:
            raise error_from(fault_from(None, {}, reply.error), provider=self.provider.name)
        return deltas

    def finished(self, response: LLMResponse) -> LLMResponse:
        """The response, if the model could read the request.

        Raises:
            ContextOverflowError: the reply says that the window was full before anything was said.
        """
        overflow = overflow_of_finish(response.finish_reason, response.message, response.usage)
        if overflow is not None:
            raise ContextOverflowError(
                f"{self.provider.name}: the window was full before the reply began",
                limit=overflow.limit,
                requested=overflow.requested,
                counts_output=overflow.counts_output,
                kind=overflow.kind,
            )
        return response if response.model else replace(response, model=self.request.model)


def _encodable(message: Message) -> Message:
    """The message as UTF-8 can say it: a lone surrogate, which a request cannot hold, is written as text."""
    try:
        _encode(message)
    except UnicodeEncodeError:
        return msgspec.convert(escape_surrogates(msgspec.to_builtins(message)), Message)
    return message
