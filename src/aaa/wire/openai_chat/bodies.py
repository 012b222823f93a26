"""Requests and replies of OpenAI's Chat Completions format.

    body ── request_from_body ──▶ LLMRequest ── request_to_body ──▶ the same body
    body ── response_from_body ──▶ LLMResponse;  chunks ── ReplyStream ──▶ LLMResponse

What another format shows in a tool's result, and this one cannot, follows the results in a message of the user.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import LLMRequest, LLMResponse, Message
from aaa.wire.lossless import Fields, errors_at, mapping
from aaa.wire.openai_chat.media import shown_by
from aaa.wire.openai_chat.messages import message_to_dict, messages_from_dicts, tool_from_dict, tool_to_dict
from aaa.wire.openai_chat.params import body_of, list_of, request_of
from aaa.wire.openai_chat.reply import broken_by, error_in, response_of, usage_in
from aaa.wire.openai_chat.stream import ReplyStream
from aaa.wire.openai_chat.tools import tools_for

__all__ = ["ReplyStream", "error_in", "request_from_body", "request_to_body", "response_from_body"]


def request_from_body(body: Mapping[str, Any]) -> LLMRequest:
    """Read the body of a request.

    Raises:
        WireError: it is no object, or naming the message or tool that is none.
    """
    with errors_at(None, "request"):
        fields = mapping(body, "a request")
    messages = messages_from_dicts(list_of(fields.get("messages"), "messages"))
    tools = [tool_from_dict(tool, index=index) for index, tool in enumerate(list_of(fields.get("tools"), "tools"))]
    return request_of(fields, messages, tools=tools, read=("messages",) if messages else ())


def request_to_body(request: LLMRequest) -> Fields:
    """Write the body of a request."""
    written: Fields = {"messages": list(_dicts(request.messages))} if request.messages else {}
    return body_of(request, [tool_to_dict(tool) for tool in tools_for("", request.tools)], **written)


def response_from_body(body: Mapping[str, Any]) -> LLMResponse:
    """Read the body of a reply; of several choices the first.

    Raises:
        BrokenReplyError: there is no choice with a message in it, or an error in its place (`error_in`).
    """
    try:
        fields = mapping(body, "a reply")
        if (error := error_in(fields)) is not None:
            raise broken_by(error)
        choices = list_of(fields.get("choices"), "choices")
        choice = mapping(choices[0] if choices else None, "a choice")
        message = mapping(choice.get("message"), "the message of a choice")
    except WireError as error:
        raise BrokenReplyError(f"the reply is not in OpenAI's chat format: {error.problem}") from error
    return response_of(message, choice.get("finish_reason"), usage=usage_in(fields), model=fields.get("model"))


def _dicts(messages: Iterable[Message]) -> Iterable[Fields]:
    """The messages, with what other formats show in tool results in a user's message behind these."""
    shown: list[Fields] = []
    for message in messages:
        if message.role != "tool":
            yield from _showing(shown)
            shown = []
        yield message_to_dict(message)
        shown += shown_by(message)
    yield from _showing(shown)


def _showing(parts: Sequence[Fields]) -> list[Fields]:
    caption = {"type": "text", "text": "What the tool results above show:"}
    return [{"role": "user", "content": [caption, *parts]}] if parts else []
