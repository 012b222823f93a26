"""Google's generateContent, as AI Studio and Vertex take it.

    body ── request_from_body ──▶ LLMRequest ── request_to_body ──▶ the same body

`model` stands in the URL there, and in some bodies; it is written when the request names one. Source: the Gemini API
reference, the types of google-genai 3.6, and recorded bodies, November 2026.
"""

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from aaa.errors import WireError
from aaa.messages import LLMRequest, Message
from aaa.wire.gemini.names import camel, snake
from aaa.wire.gemini.notes import FORMAT, noted
from aaa.wire.gemini.reading import contents_from, system_from
from aaa.wire.gemini.reply import response_from_body
from aaa.wire.gemini.stream import ReplyStream
from aaa.wire.gemini.tools import tools_from, tools_to
from aaa.wire.gemini.writing import contents_to, system_to
from aaa.wire.lossless import Fields, errors_at, mapping, native

__all__ = ["ReplyStream", "request_from_body", "request_to_body", "response_from_body"]

_SYSTEM = "systemInstruction"


def request_from_body(body: Mapping[str, Any]) -> LLMRequest:
    """Read a request.

    Raises:
        WireError: naming the content or tool that is none.
    """
    fields, names = camel(mapping(body, "a request"))
    if "contents" not in fields:
        raise WireError("a request needs contents")
    messages = [*_system_from(fields.get(_SYSTEM), is_snake=_SYSTEM in names), *contents_from(fields["contents"])]
    tools = tools_from(fields["tools"]) if fields.get("tools") else ()
    model = fields.get("model")
    read = {"contents", *([_SYSTEM] if fields.get(_SYSTEM) is not None else ()), *(["tools"] if tools else ())}
    read |= {"model"} if isinstance(model, str) else set()
    params = snake({key: value for key, value in fields.items() if key not in read}, names)
    return LLMRequest(tuple(messages), tools, model if isinstance(model, str) else None, params)


def request_to_body(request: LLMRequest) -> Fields:
    """Write a request; what its messages hold of other providers' own is left out."""
    head = list(takewhile(lambda message: message.is_system, request.messages))
    body: Fields = dict(request.params)
    if (system := system_to(head)) is not None:
        body |= snake({_SYSTEM: system}, _names_noted(head[0]))
    body["contents"] = contents_to(request.messages[len(head) :])
    if tools := tools_to(request.tools):
        body["tools"] = tools
    if request.model is not None:
        body["model"] = request.model
    return body


def _system_from(content: Any, *, is_snake: bool) -> list[Message]:
    if content is None:
        return []
    with errors_at(None, ""):
        message = system_from(content)
    return [noted(message, system="snake") if is_snake else message]


def _names_noted(message: Message) -> list[str]:
    return [_SYSTEM] if native(message.extra, FORMAT).get("system") == "snake" else []
