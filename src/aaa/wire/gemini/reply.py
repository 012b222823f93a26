"""A reply of Gemini's: its first candidate.

A prompt that was blocked has no candidate; the reply is then empty, its `finish_reason` "blocked", and why is noted in
the message.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import LLMResponse, Message
from aaa.wire.gemini.notes import own_note
from aaa.wire.gemini.reading import reply_from
from aaa.wire.lossless import errors_at, mapping
from aaa.wire.made_ids import stem_of
from aaa.wire.usage import usage_from

__all__ = ["first_candidate", "reply_errors", "response_from_body"]

_REASONS = {"STOP": "stop", "MAX_TOKENS": "length"}


def response_from_body(body: Mapping[str, Any]) -> LLMResponse:
    """Read a reply.

    Raises:
        BrokenReplyError: it is not what the format says.
    """
    with reply_errors():
        fields = mapping(body, "a reply")
        message, reason = _said(fields)
        usage = usage_from("gemini", cast("Any", fields.get("usageMetadata")))
        model = fields.get("modelVersion")
        return LLMResponse(message, usage, model if isinstance(model, str) else None, reason)


def first_candidate(fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The candidate that counts: the one of index 0; None if there is none."""
    candidates: Any = fields.get("candidates") or ()
    if not isinstance(candidates, list | tuple):
        raise WireError(f"candidates must be a list, not {type(candidates).__name__}")
    for candidate in cast("list[Any]", candidates):
        known = mapping(candidate, "a candidate")
        if not known.get("index"):
            return known
    return None


@contextmanager
def reply_errors() -> Generator[None, None, None]:
    """A reply that is not in the format is the provider's fault, not the caller's."""
    try:
        with errors_at(None, ""):
            yield
    except WireError as error:
        raise BrokenReplyError(f"gemini's reply is not in its format: {error.problem}") from error


def _said(fields: Mapping[str, Any]) -> tuple[Message, str | None]:
    candidate = first_candidate(fields)
    if candidate is None:
        return _blocked(fields), "blocked"
    message = reply_from(candidate.get("content"), stem_of(fields.get("responseId")))
    reason: Any = candidate.get("finishReason")
    if reason == "STOP" and message.tool_calls:
        return message, "tool_calls"
    return message, _REASONS.get(reason, reason) if isinstance(reason, str) else None


def _blocked(fields: Mapping[str, Any]) -> Message:
    if not any(key in fields for key in ("promptFeedback", "usageMetadata", "modelVersion")):
        raise WireError(f"it has no candidates; its keys are {sorted(fields)[:10]}")
    feedback = mapping(fields.get("promptFeedback") or {}, "promptFeedback")
    return Message("assistant", "", extra=own_note({"blocked": feedback.get("blockReason")}))
