"""A call as an item of OpenAI's Responses format.

A custom tool takes text where a function takes JSON. That a call is one is told by the keys that OpenAI's chat format
has for it, which stand in the call's extra whichever of the two formats it was read from.
"""

import json

from aaa.messages import ToolCall
from aaa.wire.lossless import Fields

__all__ = ["call_fields", "is_custom"]


def is_custom(call: ToolCall) -> bool:
    """Whether the call is one of a custom tool."""
    return '"custom"' in call.extra and json.loads(call.extra).get("type") == "custom"


def call_fields(call: ToolCall) -> Fields:
    """The item of a call, without what its notes add."""
    if is_custom(call):
        return {"type": "custom_tool_call", "call_id": call.id, "name": call.name, "input": call.arguments_json}
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments_json}
