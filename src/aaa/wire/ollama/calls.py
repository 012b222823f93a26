"""Ollama's tool calls; only newer servers give them an id.

{"id": "call_a1", "function": {"name": "read", "arguments": {"path": "a.py"}, "index": 0}}
"""

from collections.abc import Mapping
from typing import Any

from aaa.errors import WireError
from aaa.messages import ToolCall
from aaa.wire.arguments import object_or_wrapped, text_of
from aaa.wire.lossless import Fields, mapping, native, with_native
from aaa.wire.made_ids import CallIds

__all__ = ["FORMAT", "call_from", "call_to"]

FORMAT = "ollama"


def call_from(given: Mapping[str, Any], ids: CallIds) -> ToolCall:
    """Read a call.

    Raises:
        WireError: no name, or arguments that are no object.
    """
    function = mapping(given.get("function"), "the function of a tool call")
    name, call_id, arguments = function.get("name"), given.get("id"), function.get("arguments")
    if not isinstance(name, str):
        raise WireError("a tool call needs a name (a string)")
    has_id = isinstance(call_id, str) and bool(call_id)
    read = {"name"} if arguments is None else {"name", "arguments"}
    note = {
        "made": not has_id,
        "call": {key: value for key, value in given.items() if key != "function" and not (has_id and key == "id")},
        "function": {key: value for key, value in function.items() if key not in read},
        "no_arguments": arguments is None,
    }
    text = text_of(mapping(arguments or {}, "the arguments of a tool call"))
    kept = {key: value for key, value in note.items() if value}
    return ToolCall(ids.id_of(name, call_id if has_id else None), name, text, with_native("", FORMAT, kept))


def call_to(call: ToolCall) -> Fields:
    """Write a call."""
    note = native(call.extra, FORMAT)
    function: Fields = {"name": call.name}
    if (arguments := object_or_wrapped(call.arguments_json)) or not note.get("no_arguments"):
        function["arguments"] = arguments
    fields: Fields = {"function": note.get("function", {}) | function}
    if call.id and not note.get("made"):
        fields["id"] = call.id
    return note.get("call", {}) | fields
