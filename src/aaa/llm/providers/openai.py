"""OpenAI's two interfaces, and every server that speaks one of them (`base_url`)."""

from typing import Any

from aaa.llm.providers.stainless import StainlessProvider
from aaa.wire import openai_chat, openai_responses

__all__ = ["OPENAI", "OPENAI_RESPONSES"]


def _with_usage(body: dict[str, Any], stream: bool) -> None:
    """A stream tells its usage only if it is asked to."""
    if stream:
        body["stream_options"] = {"include_usage": True} | (body.get("stream_options") or {})


def _as_it_is(body: dict[str, Any], stream: bool) -> None:
    """Nothing is needed beyond what the request says."""


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
    complete_body=_as_it_is,
)
