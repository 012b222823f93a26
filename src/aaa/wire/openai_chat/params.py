"""What a body says beyond messages, tools and model, in both of OpenAI's formats: the `params` of a request.

A key that names nothing (an empty list, a null, a model that is no name) stays in `params`, so that it is written again
as long as nothing takes its place.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from aaa.errors import WireError
from aaa.messages import LLMRequest, Message, ToolSpec
from aaa.wire.lossless import Fields

__all__ = ["body_of", "list_of", "request_of"]


def request_of(
    body: Mapping[str, Any],
    messages: Sequence[Message],
    *,
    tools: Sequence[ToolSpec],
    read: Sequence[str],
) -> LLMRequest:
    """The request whose `messages` were read from the keys `read` of the body."""
    model = body.get("model")
    used = {"tools": bool(tools), "model": isinstance(model, str), **dict.fromkeys(read, True)}
    params = {key: value for key, value in body.items() if not used.get(key, False)}
    return LLMRequest(tuple(messages), tuple(tools), model if isinstance(model, str) else None, params)


def body_of(request: LLMRequest, tools: Sequence[Fields], **written: Any) -> Fields:
    """The body of a request: its params, under the model, the tools and what else is written for it."""
    body = dict(request.params)
    if request.model is not None:
        body["model"] = request.model
    body.update(written)
    if tools:
        body["tools"] = list(tools)
    return body


def list_of(value: Any, name: str) -> Sequence[Any]:
    """The entries of a list; none for null.

    Raises:
        WireError: saying that `name` must be a list.
    """
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise WireError(f"{name} must be a list, not {type(value).__name__}")
    return cast("Sequence[Any]", value)
