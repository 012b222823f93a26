"""OpenAI's two interfaces, and every server that speaks one of them (`base_url`)."""

import re
from typing import Any

from aaa.llm.providers.stainless import StainlessProvider
from aaa.wire import openai_chat, openai_responses

__all__ = ["OPENAI", "OPENAI_RESPONSES"]

_REASONS = re.compile(r"(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*chat))")


def _with_usage(body: dict[str, Any], stream: bool) -> None:
    """A stream tells its usage only if it is asked to."""
    if stream:
        body["stream_options"] = {"include_usage": True} | (body.get("stream_options") or {})


def _with_reasoning(body: dict[str, Any], stream: bool) -> None:
    """What OpenAI does not store has to come with the reply, or it cannot be sent back; other models refuse to."""
    if body.get("store") is False and _REASONS.match(str(body.get("model"))):
        body.setdefault("include", ["reasoning.encrypted_content"])


OPENAI = StainlessProvider(
    "openai",
    package="openai",
    key_variable="OPENAI_API_KEY",
    method="chat.completions.create",
    wire=openai_chat,
    dialect="openai-chat",
    complete_body=_with_usage,
)

OPENAI_RESPONSES = StainlessProvider(
    "openai-responses",
    package="openai",
    key_variable="OPENAI_API_KEY",
    method="responses.create",
    wire=openai_responses,
    dialect="openai-responses",
    complete_body=_with_reasoning,
)
