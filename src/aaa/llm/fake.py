"""A model that is a function of the request, or a script: for tests, demos and reproductions.

FakeLLMClient(lambda request: text("Done."))
FakeLLMClient([tool_call("search", query="x"), TimeoutError(), text("Done.")])
"""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec.structs import replace

from aaa.context import HeuristicCounter
from aaa.messages import Delta, LLMRequest, LLMResponse, Message, ToolCall, Usage

__all__ = ["FakeLLMClient", "text", "together", "tool_call"]

Reply = LLMResponse | BaseException
Script = Callable[[LLMRequest], "Reply | Awaitable[Reply]"] | Sequence[Reply]


def text(content: str) -> LLMResponse:
    """A reply of plain text."""
    return LLMResponse(Message("assistant", content), finish_reason="stop")


def tool_call(name: str, **arguments: Any) -> LLMResponse:
    """A reply that calls one tool. The client gives the call its id."""
    call = ToolCall("", name, json.dumps(arguments, separators=(",", ":")))
    return LLMResponse(Message("assistant", None, (call,)), finish_reason="tool_calls")


def together(*replies: LLMResponse, content: str | None = None) -> LLMResponse:
    """One reply with the calls of several."""
    calls = tuple(call for reply in replies for call in reply.message.tool_calls)
    return LLMResponse(Message("assistant", content, calls), finish_reason="tool_calls")


class FakeLLMClient:
    """Replies from a function of the request (sync or async), or from a script, one item a call.

    Calls get ids that count the calls of the conversation, so the same request gets the same reply. Usage, where a
    reply has none, is what `HeuristicCounter` counts; `price_per_token` (USD) makes a cost of it.

    Raises:
        whatever the script holds or the function raises; IndexError when a script is used up.
    """

    def __init__(self, script: Script, *, price_per_token: float | None = None) -> None:
        self._function = script if callable(script) else None
        self._script = [] if callable(script) else list(script)
        self._price = price_per_token
        self.requests: list[LLMRequest] = []
        self._last_number = 0

    @property
    def knows_cost(self) -> bool:
        """Whether replies carry a cost."""
        return self._price is not None

    async def complete(self, request: LLMRequest) -> LLMResponse:
        """The next reply."""
        self.requests.append(request)
        reply = await self._next(request)
        if isinstance(reply, BaseException):
            raise reply
        named = _with_ids(reply, request, self._last_number)
        self._last_number = max(_highest(named.message), self._last_number)
        return self._priced(_counted(named, request))

    async def stream(self, request: LLMRequest, show: Callable[[Delta], None]) -> LLMResponse:
        """`complete`, its text shown word by word."""
        response = await self.complete(request)
        for piece in re.findall(r"\s*\S+|\s+$", response.message.text):
            show(Delta("text", piece))
        return response

    async def _next(self, request: LLMRequest) -> Reply:
        if self._function is None:
            if len(self.requests) > len(self._script):
                raise IndexError(f"the script has {len(self._script)} replies, this is call {len(self.requests)}")
            return self._script[len(self.requests) - 1]
        reply = self._function(request)
        return await reply if inspect.isawaitable(reply) else reply

    def _priced(self, reply: LLMResponse) -> LLMResponse:
        if self._price is None or reply.cost is not None or reply.usage is None:
            return reply
        return replace(reply, cost=self._price * reply.usage.total_tokens)


def _with_ids(reply: LLMResponse, request: LLMRequest, last_number: int) -> LLMResponse:
    """The reply with ids for its calls, after those in the request; after the last given if it holds none any more."""
    before = _highest(*request.messages) or last_number
    calls = tuple(
        call if call.id else replace(call, id=f"call_{before + number}")
        for number, call in enumerate(reply.message.tool_calls, 1)
    )
    return replace(reply, message=replace(reply.message, tool_calls=calls)) if calls else reply


def _highest(*messages: Message) -> int:
    """The highest number of a call id of ours; a prompt that was made to fit may hold only some of the calls."""
    ids = (call.id.removeprefix("call_").partition("~")[0] for message in messages for call in message.tool_calls)
    return max((int(number) for number in ids if number.isdecimal()), default=0)


def _counted(reply: LLMResponse, request: LLMRequest) -> LLMResponse:
    if reply.usage is not None:
        return reply
    counter = HeuristicCounter()
    usage = Usage(counter.count(request.messages, request.tools), counter.count([reply.message]))
    return replace(reply, usage=usage)
