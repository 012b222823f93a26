"""Ollama's own `/api/chat`.

    body ── request_from_body ──▶ LLMRequest ── request_to_body ──▶ the same body

`options`, `format`, `think`, `keep_alive`, `stream`, `truncate` and `shift` are in `params`. Tools are those of
OpenAI's chat format. Source: the server's API types and documentation, August 2026.
"""

from collections.abc import Mapping
from typing import Any, cast

from aaa.errors import WireError
from aaa.messages import LLMRequest
from aaa.wire.lossless import Fields, mapping
from aaa.wire.ollama.messages import messages_from, messages_to
from aaa.wire.ollama.reply import ReplyStream, response_from_body
from aaa.wire.openai_chat import tool_from_dict, tool_to_dict

__all__ = ["ReplyStream", "request_from_body", "request_to_body", "response_from_body"]


def request_from_body(body: Mapping[str, Any]) -> LLMRequest:
    """Read a request.

    Raises:
        WireError: naming the message or tool that is none.
    """
    fields = mapping(body, "a request")
    tools, model = fields.get("tools"), fields.get("model")
    if tools and not isinstance(tools, list | tuple):
        raise WireError(f"tools must be a list, not {type(tools).__name__}")
    specs = [tool_from_dict(tool, index=index) for index, tool in enumerate(cast("list[Any]", tools or []))]
    messages = messages_from(fields.get("messages"))
    read = {"messages", *(["tools"] if specs else ()), *(["model"] if isinstance(model, str) else ())}
    params = {key: value for key, value in fields.items() if key not in read}
    return LLMRequest(tuple(messages), tuple(specs), model if isinstance(model, str) else None, params)


def request_to_body(request: LLMRequest) -> Fields:
    """Write a request; what other providers run or understand alone is left out, and so is all media but images with
    their data."""
    body: Fields = dict(request.params)
    if request.model is not None:
        body["model"] = request.model
    if tools := [tool for tool in map(tool_to_dict, request.tools) if tool.get("type", "function") == "function"]:
        body["tools"] = tools
    body["messages"] = messages_to(request.messages)
    return body
