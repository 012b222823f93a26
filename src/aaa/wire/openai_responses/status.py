"""How a response of OpenAI's Responses format ended, and the reply it is.

| status | finish reason |
|---|---|
| completed, with calls of tools | tool_calls |
| completed, with a call of another kind that the client must answer | its type ("computer_call", "shell_call", …) |
| completed | stop |
| incomplete | length, for `max_output_tokens`; else its reason ("content_filter") |
| failed | none: it is an error |
| another, or none | the status itself, or as if completed |
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import LLMResponse, Message
from aaa.wire.lossless import mapping
from aaa.wire.openai_chat.params import list_of
from aaa.wire.openai_chat.reply import as_error, broken_by
from aaa.wire.openai_responses.items import reply_from_items
from aaa.wire.openai_responses.kinds import waits_for_client
from aaa.wire.usage import cost_from, usage_from

__all__ = ["error_in", "response_of"]


def error_in(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The error that a response or an event tells of, though its status was 200; None if it tells of none."""
    failed = {"message": "the response failed, with no reason given"} if body.get("status") == "failed" else None
    return as_error(body.get("error"), body.get("code")) or failed


def response_of(body: Mapping[str, Any], *, output: Sequence[Any] | None = None) -> LLMResponse:
    """The reply that a response is; `output` stands for its own where it has been left out.

    Raises:
        BrokenReplyError: it failed (`error_in`), or is not what the format says.
    """
    if (error := error_in(body)) is not None:
        raise broken_by(error)
    try:
        items = [mapping(item, "an item") for item in list_of(body.get("output"), "output") or output or ()]
        message = reply_from_items(items)
    except WireError as error:
        raise BrokenReplyError(f"the reply is not in OpenAI's Responses format: {error.problem}") from error
    usage, model = body.get("usage"), body.get("model")
    return LLMResponse(
        message,
        usage_from("openai-responses", usage),
        model if isinstance(model, str) else None,
        _finish_reason(body, message, items),
        cost_from(usage),
    )


def _finish_reason(body: Mapping[str, Any], message: Message, items: Sequence[Mapping[str, Any]]) -> str:
    match body.get("status", "completed"):
        case "completed" | None:
            return "tool_calls" if message.tool_calls else waits_for_client(items) or "stop"
        case "incomplete":
            details: Any = body.get("incomplete_details")
            reason = cast("Mapping[str, Any]", details).get("reason") if isinstance(details, Mapping) else None
            return "length" if reason in ("max_output_tokens", None) else str(reason)
        case status:
            return str(status)
