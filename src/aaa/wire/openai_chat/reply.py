"""A whole reply of OpenAI's chat format, from its message, its finish reason and its usage."""

from collections.abc import Mapping
from typing import Any, cast

from aaa.errors import BrokenReplyError, WireError, quoted
from aaa.messages import LLMResponse
from aaa.wire.openai_chat.messages import message_from_dict
from aaa.wire.usage import cost_from, usage_from

__all__ = ["as_error", "broken_by", "error_in", "response_of", "usage_in"]

# The names of others, as their API references give them, November 2026. Everything else is kept.
_FINISH_REASONS = {
    "function_call": "tool_calls",  # OpenAI, before November 2023
    "model_length": "length",  # Mistral
    "max_tokens": "length",
    "eos": "stop",  # Together
    "eos_token": "stop",  # TGI
    "stop_sequence": "stop",  # TGI
    "end_turn": "stop",
}


def response_of(
    message: Mapping[str, Any],
    finish_reason: Any,
    *,
    usage: Mapping[str, Any] | None = None,
    model: Any = None,
) -> LLMResponse:
    """The reply that consists of these.

    Raises:
        BrokenReplyError: the message is none.
    """
    try:
        read = message_from_dict({"role": "assistant", **{key: message[key] for key in message}})
    except WireError as error:
        raise BrokenReplyError(f"the reply is not in OpenAI's chat format: {error.problem}") from error
    return LLMResponse(
        read,
        usage_from("openai-chat", usage),
        model if isinstance(model, str) else None,
        _FINISH_REASONS.get(finish_reason, finish_reason) if isinstance(finish_reason, str) else None,
        cost_from(usage),
    )


def usage_in(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The usage that a body or a chunk reports, wherever the server puts it; None if it reports none."""
    places = [body, body.get("x_groq"), *(body.get("choices") or ())]  # Groq, older; Moonshot, in streams
    for place in places:
        usage = cast("Mapping[str, Any]", place).get("usage") if isinstance(place, Mapping) else None
        if isinstance(usage, Mapping) and usage:
            return cast("Mapping[str, Any]", usage)
    return {"timings": body["timings"]} if isinstance(body.get("timings"), Mapping) else None


def error_in(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The error that a body or a chunk tells of, though its status was 200; None if it tells of none."""
    for place in (body, *(body.get("choices") or ())):
        fields: Mapping[str, Any] = cast("Mapping[str, Any]", place) if isinstance(place, Mapping) else {}
        if (error := as_error(fields.get("error"), fields.get("code"))) is not None:
            return error
    return None


def as_error(error: Any, code: Any) -> Mapping[str, Any] | None:
    """An error as an object; xAI's is a string, with the code beside it."""
    if not error:
        return None
    return cast("Mapping[str, Any]", error) if isinstance(error, Mapping) else {"message": str(error), "code": code}


def broken_by(error: Mapping[str, Any]) -> BrokenReplyError:
    """The error to raise where a reply was wanted and `error` came."""
    code = error.get("code")
    status = code if isinstance(code, int) and not isinstance(code, bool) else None
    said = quoted(str(error.get("message") or "no message"))
    return BrokenReplyError(
        f"the reply is an error: {said}", status_code=status, code=None if code is None else str(code)
    )
