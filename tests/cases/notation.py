"""The notation of the cases: generators of texts and messages, the counter, the scripts of models.

{"repeat": ["ab", 3]}                     "ababab"
{"each": [1, 2], "of": [{"role": …}]}     the messages twice, {i} replaced in every text
{"bytes": "00ff", "repeat": 3}            raw bytes; without "repeat" only where nothing but a text can stand
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from aaa.errors import (
    ContextOverflowError,
    InvalidRequestError,
    RateLimitError,
    RequestTooLarge,
    ServerError,
    UnreachableError,
)
from aaa.messages import LLMRequest, LLMResponse, Message, OpaquePart, Part, TextPart
from aaa.wire.faults import error_from, fault_from
from aaa.wire.lossless import compact

__all__ = ["ScriptedModel", "expanded"]

_GENERATORS = ({"repeat"}, {"concat"}, {"lone_surrogate"}, {"bytes", "repeat"})
_THOUGHTS = {"thinking": "anthropic", "redacted_thinking": "anthropic", "reasoning": "openai-responses"}


def expanded(value: Any) -> Any:
    """`value` with every generator in it written out."""
    match value:
        case list():
            return [item for entry in value for item in _items(entry)]
        case dict() if _is_each(value):
            return _items(value)
        case dict() if set(value) in _GENERATORS:
            return _decoded(_text(value))
        case dict():
            return {key: expanded(item) for key, item in value.items()}
        case _:
            return value


def _items(entry: Any) -> list[Any]:
    """What one entry of a list stands for. Of generators in each other the inner one numbers first."""
    if not _is_each(entry):
        return [expanded(entry)]
    first, last = entry["each"]
    of = entry["of"] if isinstance(entry["of"], list) else [entry["of"]]
    once = [item for inner in of for item in (_items(inner) if _is_each(inner) else [inner])]
    return [expanded(_numbered(item, i)) for i in range(first, last + 1) for item in once]


def _is_each(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"each", "of"}


def _numbered(value: Any, i: int) -> Any:
    match value:
        case str():
            return value.replace("{i}", str(i))
        case list():
            return [_numbered(item, i) for item in value]
        case dict():
            return {key: _numbered(item, i) for key, item in value.items()}
        case _:
            return value


def _text(generator: Mapping[str, Any]) -> str | bytes:
    match generator:
        case {"bytes": digits}:
            return bytes.fromhex(digits) * generator.get("repeat", 1)
        case {"repeat": [text, count]}:
            return (_text(text) if isinstance(text, dict) else text) * count
        case {"concat": parts}:
            return _joined([_text(part) if isinstance(part, dict) else part for part in parts])
        case {"lone_surrogate": [before, unit, behind]}:
            return f"{before}{chr(int(unit, 16))}{behind}"
    raise ValueError(f"no generator of a text: {sorted(generator)}")


def _joined(parts: Sequence[str | bytes]) -> str | bytes:
    if not any(isinstance(part, bytes) for part in parts):
        return "".join(map(str, parts))
    return b"".join(part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts)


def _decoded(text: str | bytes) -> str:
    """Raw bytes as a program reads what a command wrote: UTF-8, and a sign where they are none."""
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


class ScriptedModel:
    """A model that replies by a script: a list of replies, or the name of a rule.

    `replies` is as the notation has it; None is a model that nobody is expected to ask. Behind the end of its script a
    model goes on with its last reply: how often it may be asked is for `calls_at_most` to say. `requests` are those it
    got.
    """

    knows_cost = True

    def __init__(self, replies: Sequence[Mapping[str, Any]] | str | None) -> None:
        self._replies = replies if replies is not None else ()
        self.requests: list[LLMRequest] = []

    async def complete(self, request: LLMRequest) -> LLMResponse:
        """The next reply; whatever stands in the script, an error or a reply that never comes included."""
        self.requests.append(request)
        if isinstance(self._replies, str):
            return _said(_by_rule(self._replies, request))
        place = min(len(self.requests), len(self._replies)) - 1
        if place < 0:
            raise IndexError("a model is asked that has no script")
        return await _reply(self._replies[place])


def _by_rule(rule: str, request: LLMRequest) -> str:
    match rule:
        case "echo_ok":
            return "Noted."
        case "echo_input":
            return request.messages[-1].text
    raise ValueError(f"no rule of a summarizer: {rule}")


async def _reply(reply: Mapping[str, Any]) -> LLMResponse:
    if reply.get("hang"):
        await asyncio.Event().wait()
    if "sleep" in reply:
        await asyncio.sleep(reply["sleep"])
    if "error" in reply:
        raise _error(reply)
    if "parts" in reply:
        parts = tuple(map(_part, reply["parts"]))
        return LLMResponse(Message("assistant", parts), finish_reason=reply.get("finish", "stop"), cost=0.0)
    return _said(reply.get("text", ""), reply.get("finish", "stop"))


def _part(part: Mapping[str, Any]) -> Part:
    """One part of a reply: a text, or what the format that knows its type keeps as it is."""
    match part:
        case {"thought": True}:
            return OpaquePart("thought", compact(part), "gemini")
        case {"type": "text" | "output_text", "text": text}:
            return TextPart(text)
        case {"type": kind}:
            return OpaquePart(kind, compact(part), _THOUGHTS.get(kind, ""))
    return TextPart(part["text"])


def _said(text: str, finish: str = "stop") -> LLMResponse:
    return LLMResponse(Message("assistant", text), finish_reason=finish, cost=0.0)


def _error(reply: Mapping[str, Any]) -> Exception:
    match reply["error"]:
        case "overflow" | "context_overflow":
            return ContextOverflowError(limit=reply.get("limit"), requested=reply.get("used"))
        case "request_too_large":
            return RequestTooLarge(limit=reply.get("limit"), requested=reply.get("used"))
        case "rate_limit":
            return RateLimitError("too many requests")
        case "network" | "timeout":
            return UnreachableError(reply.get("text_so_far", "the connection was lost"))
        case "invalid_request":
            return InvalidRequestError(reply.get("message", "the request is invalid"))
        case "server" | "server_error" | "overloaded":
            return ServerError("the server is overloaded")
        case body:
            return error_from(fault_from(reply.get("status", 500), {}, body), provider="scripted")
