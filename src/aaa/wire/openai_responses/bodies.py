"""OpenAI's Responses format: requests and replies.

    body ── request_from_body ──▶ LLMRequest ── request_to_body ──▶ the same body
    body ── response_from_body ──▶ LLMResponse;  events ── ReplyStream ──▶ LLMResponse

`instructions` are a leading system message that says so; system messages of ours are items of the input, which mean
the same and keep their places. What the provider keeps (`previous_response_id`, `conversation`) and does
(`truncation`, `context_management`) stays in `params`. The output of `/responses/compact` is read by
`messages_from_items`. Items: `aaa.wire.openai_responses.items`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import LLMRequest, LLMResponse, Message
from aaa.wire.lossless import Fields, errors_at, mapping
from aaa.wire.openai_chat.params import body_of, list_of, request_of
from aaa.wire.openai_chat.tools import tools_for
from aaa.wire.openai_responses.items import items_from_messages, messages_from_items
from aaa.wire.openai_responses.notes import FORMAT, notes_of, with_notes
from aaa.wire.openai_responses.status import error_in, response_of
from aaa.wire.openai_responses.stream import ReplyStream
from aaa.wire.openai_responses.tools import tool_from_item, tool_to_item

__all__ = [
    "ReplyStream",
    "error_in",
    "items_from_messages",
    "messages_from_items",
    "request_from_body",
    "request_to_body",
    "response_from_body",
    "tool_from_item",
    "tool_to_item",
]


def request_from_body(body: Mapping[str, Any]) -> LLMRequest:
    """Read the body of a request.

    Raises:
        WireError: it is no object, or naming the item or tool that is none.
    """
    with errors_at(None, "request"):
        fields = mapping(body, "a request")
    instructions, given = fields.get("instructions"), fields.get("input")
    messages: list[Message] = []
    if isinstance(instructions, str):
        messages.append(Message("system", instructions, extra=with_notes("", {"instructions": True})))
    if isinstance(given, str):
        said = [Message("user", given, extra=with_notes("", {"input": "string"}))]
    else:
        said = messages_from_items(list_of(given, "input"))
    tools = [tool_from_item(tool, index=index) for index, tool in enumerate(list_of(fields.get("tools"), "tools"))]
    read = [key for key, is_read in (("instructions", bool(messages)), ("input", bool(said))) if is_read]
    return request_of(fields, [*messages, *said], tools=tools, read=read)


def request_to_body(request: LLMRequest) -> Fields:
    """Write the body of a request."""
    instructions, messages = _split(request.messages)
    written: Fields = {} if instructions is None else {"instructions": instructions}
    match messages:
        case [Message(content=str(text)) as message] if notes_of(message.extra).get("input") == "string":
            written["input"] = text
        case []:
            pass
        case _:
            written["input"] = items_from_messages(messages)
    return body_of(request, [tool_to_item(tool) for tool in tools_for(FORMAT, request.tools)], **written)


def response_from_body(body: Mapping[str, Any]) -> LLMResponse:
    """Read the body of a reply.

    Raises:
        BrokenReplyError: the response failed (`error_in`), or is not what the format says.
    """
    try:
        fields = mapping(body, "a response")
    except WireError as error:
        raise BrokenReplyError(f"the reply is not in OpenAI's Responses format: {error.problem}") from error
    return response_of(fields)


def _split(messages: Sequence[Message]) -> tuple[str | None, Sequence[Message]]:
    """The instructions, if the first message says it is these, and the others."""
    if messages and messages[0].is_system and notes_of(messages[0].extra).get("instructions"):
        return messages[0].text, messages[1:]
    return None, messages
