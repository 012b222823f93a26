"""Requests and replies of OpenAI"s Chat Completions format."""

from aaa.wire.openai_chat.bodies import ReplyStream, error_in, request_from_body, request_to_body, response_from_body
from aaa.wire.openai_chat.messages import (
    call_from_dict,
    message_from_dict,
    message_to_dict,
    messages_from_dicts,
    tool_from_dict,
    tool_to_dict,
)

__all__ = [
    "ReplyStream",
    "call_from_dict",
    "error_in",
    "message_from_dict",
    "message_to_dict",
    "messages_from_dicts",
    "request_from_body",
    "request_to_body",
    "response_from_body",
    "tool_from_dict",
    "tool_to_dict",
]
