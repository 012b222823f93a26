"""When Ollama's native API refuses a body, and what it silently drops from one that is too long.

It is lenient: roles and pairing are not looked at. Types are, since the body is read into Go structs. Source: the
server's routes and prompt code, August 2026.
"""

import base64
import binascii
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tests.servers.counting import CHARS_PER_TOKEN
from tests.servers.turn import Refused

__all__ = ["TOO_LONG", "check_body", "kept_indices"]

TOO_LONG = (
    "the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the "
    "context length in settings, or use a model with a longer context length"
)
_KINDS = {str: "string", list: "array", dict: "object", bool: "bool", int: "number", float: "number"}
_STRINGS = ("role", "content", "thinking", "tool_name", "tool_call_id")


def check_body(body: Mapping[str, Any], capabilities: Collection[str]) -> None:
    model = body.get("model")
    if not model:
        raise Refused(400, "model is required")
    _check_type(body, "messages", list, "messages", "[]api.Message")
    for message in body.get("messages") or ():
        _check_message(message)
    _check_type(body, "tools", list, "tools", "api.Tools")
    for tool in body.get("tools") or ():
        _check_tool(tool)
    if body.get("tools") and "tools" not in capabilities:
        raise Refused(400, f"registry.ollama.ai/library/{model} does not support tools")
    if body.get("think") and "thinking" not in capabilities:
        raise Refused(400, f'"{model}" does not support thinking')


def _check_type(value: Mapping[str, Any], key: str, kind: type, path: str, go_type: str) -> None:
    given = value.get(key)
    if given is not None and not isinstance(given, kind):
        got = _KINDS.get(type(given), "value")
        raise Refused(400, f"json: cannot unmarshal {got} into Go struct field ChatRequest.{path} of type {go_type}")


def _check_message(message: Any) -> None:
    _check_type({"message": message}, "message", dict, "messages", "api.Message")
    for key in _STRINGS:
        _check_type(message, key, str, f"messages.{key}", "string")
    for image in message.get("images") or ():
        try:
            base64.b64decode(image, validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise Refused(400, "illegal base64 data at input byte 0") from error
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        path = "messages.tool_calls.function"
        _check_type(function, "name", str, f"{path}.name", "string")
        _check_type(function, "arguments", dict, f"{path}.arguments", "api.ToolCallFunctionArguments")


def _check_tool(tool: Any) -> None:
    _check_type({"tool": tool}, "tool", dict, "tools", "api.Tool")
    function = tool.get("function") or {}
    _check_type(function, "name", str, "tools.function.name", "string")
    _check_type(function, "parameters", dict, "tools.function.parameters", "api.ToolFunctionParameters")


def kept_indices(pieces: Sequence[str], messages: Sequence[Any], window: int) -> Sequence[int]:
    """Which messages the model sees: the oldest are dropped until the rest fits.

    Every system message is kept, and the last message whatever its size; calls and results are not kept together.
    `pieces` are the rendered tools and messages.
    """
    sizes = [len(piece) for piece in pieces[len(pieces) - len(messages) :]]
    left = sum(len(piece) for piece in pieces)
    dropped: set[int] = set()
    for index, message in enumerate(messages[:-1]):
        if left // CHARS_PER_TOKEN <= window:
            break
        if message.get("role") != "system":
            dropped.add(index)
            left -= sizes[index]
    return [index for index in range(len(messages)) if index not in dropped]
