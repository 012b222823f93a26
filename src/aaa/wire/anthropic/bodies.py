"""Anthropic's Messages format.

    body ── request_from_body ──▶ LLMRequest ── request_to_body ──▶ the same body
    body, or events through ReplyStream ──▶ LLMResponse

`system` and `messages` become messages, `tools` tool specs; everything else (`max_tokens`, `tool_choice`, `thinking`,
`context_management`, …) is in `params` under its own name. How messages are divided is told in `anthropic_reading`
and `anthropic_writing`. Source: Anthropic's API reference and SDK types, and recorded bodies, November 2026.
"""

from collections.abc import Mapping
from typing import Any

from aaa.errors import WireError
from aaa.messages import LLMRequest
from aaa.wire.anthropic.reading import messages_from_turns, system_messages
from aaa.wire.anthropic.reply import response_from_body
from aaa.wire.anthropic.stream import ReplyStream
from aaa.wire.anthropic.tools import tools_from_body, tools_from_specs
from aaa.wire.anthropic.writing import split_system, system_from_messages, turns_from_messages
from aaa.wire.lossless import Fields, mapping

__all__ = ["ReplyStream", "request_from_body", "request_to_body", "response_from_body"]


def request_from_body(body: Mapping[str, Any]) -> LLMRequest:
    """Read the body of a request. A field that says nothing (a null, an empty list of tools) stays in `params`.

    Raises:
        WireError: naming the index of the message or tool that is none.
    """
    fields = mapping(body, "a request")
    if "messages" not in fields:
        raise WireError("a request needs messages")
    messages = messages_from_turns(fields["messages"])
    params = {key: value for key, value in fields.items() if key != "messages"}
    if params.get("system") is not None:
        messages = system_messages(params.pop("system")) + messages
    tools = tools_from_body(params.pop("tools")) if params.get("tools") else ()
    model = params.pop("model") if isinstance(params.get("model"), str) else None
    return LLMRequest(tuple(messages), tuple(tools), model, params)


def request_to_body(request: LLMRequest) -> Fields:
    """Write the body of a request; what was read by `request_from_body` is written as it was."""
    fields: Fields = {} if request.model is None else {"model": request.model}
    fields |= request.params
    leading, others = split_system(request.messages)
    system, tools = system_from_messages(leading), tools_from_specs(request.tools)
    if system is not None:
        fields["system"] = system
    if tools:
        fields["tools"] = tools
    fields["messages"] = turns_from_messages(others)
    return fields
