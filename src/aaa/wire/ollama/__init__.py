"""Ollama"s own `/api/chat`."""

from aaa.wire.ollama.bodies import ReplyStream, request_from_body, request_to_body, response_from_body

__all__ = [
    "ReplyStream",
    "request_from_body",
    "request_to_body",
    "response_from_body",
]
