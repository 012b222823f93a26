"""OpenAI"s Responses format: requests and replies."""

from aaa.wire.openai_responses.bodies import (
    ReplyStream,
    error_in,
    items_from_messages,
    messages_from_items,
    request_from_body,
    request_to_body,
    response_from_body,
    tool_from_item,
    tool_to_item,
)

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
