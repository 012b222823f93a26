"""A whole reply in Anthropic's format."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import LLMResponse
from aaa.wire.anthropic.reading import assistant_from_reply
from aaa.wire.lossless import mapping, string_of
from aaa.wire.usage import usage_from

__all__ = ["reply_errors", "response_from_body"]

_FINISH_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


def response_from_body(body: Mapping[str, Any]) -> LLMResponse:
    """Read a reply.

    Raises:
        BrokenReplyError: it is not what the format says.
    """
    with reply_errors():
        fields = mapping(body, "a reply")
        reason = string_of(fields.get("stop_reason"))
        return LLMResponse(
            assistant_from_reply(fields.get("content")),
            usage_from("anthropic", fields.get("usage")),
            string_of(fields.get("model")),
            _FINISH_REASONS.get(reason, reason) if reason else None,
        )


@contextmanager
def reply_errors() -> Generator[None, None, None]:
    """Every failure to read a reply becomes a `BrokenReplyError`."""
    try:
        yield
    except WireError as error:
        raise BrokenReplyError(f"the reply is not in Anthropic's format: {error.problem}") from error
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        problem = f"the reply is not in Anthropic's format ({type(error).__name__})"
        raise BrokenReplyError(problem) from error
