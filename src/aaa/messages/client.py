"""Request, reply, usage, and the protocol of a model client.

They stand with the messages, so that `aaa.context` can ask a model for a summary without knowing `aaa.llm`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec
from msgspec.structs import force_setattr

from aaa.messages.message import Message, ToolSpec

__all__ = ["Delta", "LLMClient", "LLMRequest", "LLMResponse", "StreamingClient", "Usage"]


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one call as the provider reported them; 0 where it said nothing.

    Cached tokens are always counted inside `prompt_tokens`. `total_tokens` is the sum unless reported otherwise.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __post_init__(self) -> None:
        if not self.total_tokens:
            force_setattr(self, "total_tokens", self.prompt_tokens + self.completion_tokens)


class LLMRequest(msgspec.Struct, frozen=True):
    """One call to a model. `params` are the provider's own, by the names that provider uses."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    model: str | None = None
    params: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        force_setattr(self, "messages", tuple(self.messages))
        force_setattr(self, "tools", tuple(self.tools))

    def __hash__(self) -> int:
        return hash((self.messages, self.tools, self.model, tuple(sorted(self.params))))


class LLMResponse(msgspec.Struct, frozen=True):
    """A model's reply. `finish_reason` is "stop", "tool_calls", "length" or the provider's own word; `cost` is USD."""

    message: Message
    usage: Usage | None = None
    model: str | None = None
    finish_reason: str | None = None
    cost: float | None = None


class Delta(msgspec.Struct, frozen=True, omit_defaults=True):
    """A piece of a reply while it streams: of its text, of its thinking, or of the arguments of one of its calls.

    `index` counts the calls of the reply from 0.
    """

    kind: Literal["text", "thinking", "arguments"]
    text: str
    index: int = 0


class LLMClient(Protocol):
    """What a model client offers. One that fills in `LLMResponse.cost` says so by an attribute `knows_cost = True`."""

    async def complete(self, request: LLMRequest) -> LLMResponse:
        """Send `request` and return the whole reply.

        Raises:
            ContextOverflowError: the provider refused the prompt as too large; it is prepared once more and sent again.
            anything else: retried if it is a time-out, a lost connection (also as a cause), or has a `status_code` that
                passes; its `retry_after` (seconds) is waited for.
        """
        ...


@runtime_checkable
class StreamingClient(Protocol):
    """What a model client offers that can tell a reply while it is written, beside `complete`."""

    async def stream(self, request: LLMRequest, show: Callable[[Delta], None]) -> LLMResponse:
        """As `complete`, with each piece handed to `show` as it comes."""
        ...
