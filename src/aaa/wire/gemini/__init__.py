"""Google"s generateContent, as AI Studio and Vertex take it."""

from aaa.wire.gemini.bodies import ReplyStream, request_from_body, request_to_body, response_from_body

__all__ = [
    "ReplyStream",
    "request_from_body",
    "request_to_body",
    "response_from_body",
]
