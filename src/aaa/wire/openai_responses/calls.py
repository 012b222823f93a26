"""A call, or its result, as an item of OpenAI's Responses format.

A custom tool takes text where a function takes JSON. That a call is one is told by the keys that OpenAI's chat format
has for it, which stand in the call's extra whichever of the two formats it was read from.
"""

import json
from typing import Any

from aaa.messages import Message, ToolCall
from aaa.wire.lossless import Fields

__all__ = ["call_fields", "custom_ids_in", "result_fields"]


def custom_ids_in(message: Message) -> set[str]:
    """The ids of calls of custom tools, whose results have a type of their own."""
    return {call.id for call in message.tool_calls if _is_custom(call)}


def call_fields(call: ToolCall) -> Fields:
    """The item of a call, without what its notes add."""
    if _is_custom(call):
        return {"type": "custom_tool_call", "call_id": call.id, "name": call.name, "input": call.arguments_json}
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments_json}


def result_fields(call_id: str | None, output: Any, *, is_custom: bool) -> Fields:
    """The item of a result, without what its notes add."""
    kind = "custom_tool_call_output" if is_custom else "function_call_output"
    return {"type": kind, "call_id": call_id or "", "output": output}


def _is_custom(call: ToolCall) -> bool:
    return '"custom"' in call.extra and json.loads(call.extra).get("type") == "custom"
