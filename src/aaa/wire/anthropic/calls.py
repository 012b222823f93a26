"""Calls and results in Anthropic's format.

tool_use       ◀──▶  ToolCall
tool_result    ◀──▶  Message of role "tool"
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aaa.messages import Message, ToolCall
from aaa.wire.anthropic.blocks import block_from_part, content_from_blocks, list_of_blocks, string_in
from aaa.wire.anthropic.hints import hints_of, laid_over, unwritten, with_hints
from aaa.wire.arguments import object_or_wrapped, text_of
from aaa.wire.lossless import Fields, compact, mapping

__all__ = ["block_from_call", "block_from_result", "call_from_block", "result_from_block"]


def call_from_block(block: Mapping[str, Any]) -> ToolCall:
    """A call; its input is kept as JSON text.

    A text (what a model wrote before it was cut off) or a list is kept as its text, and null as {}: Anthropic refuses
    them, so that they are not written as they were read but as every call's arguments are.

    Raises:
        WireError: no id, no name, or an input that is none of these.
    """
    call = ToolCall(string_in(block, "id"), string_in(block, "name"), _arguments(block.get("input")))
    hints = unwritten(block, {"type": "tool_use", "id": call.id, "name": call.name}, "input")
    return replace(call, extra=with_hints("", hints)) if hints else call


def _arguments(given: Any) -> str:
    if given is None or isinstance(given, str):
        return given or "{}"
    if isinstance(given, list):
        return compact(given)
    return text_of(mapping(given, "the input of a tool_use block"))


def block_from_call(call: ToolCall) -> Fields:
    """The block of a call."""
    fields: Fields = {
        "type": "tool_use",
        "id": call.id,
        "name": call.name,
        "input": object_or_wrapped(call.arguments_json),
    }
    return laid_over(fields, hints_of(call.extra))


def result_from_block(block: Mapping[str, Any]) -> Message:
    """A result, with the keys it had besides its content.

    Raises:
        WireError: no id, or content of a wrong type.
    """
    call_id, given = string_in(block, "tool_use_id"), block.get("content")
    is_null = "content" in block and given is None
    is_listed = "content" in block and not isinstance(given, str | None)
    content = content_from_blocks(list_of_blocks(given)) if is_listed else given
    hints = unwritten(block, {"type": "tool_result", "tool_use_id": call_id}, "content")
    if is_listed and isinstance(content, str):
        hints["list"] = True
    if is_null:
        hints["null"] = True
    return Message("tool", content, tool_call_id=call_id, extra=with_hints("", hints))


def block_from_result(message: Message) -> Fields:
    """The block of a result."""
    hints = hints_of(message.extra)
    fields: Fields = {"type": "tool_result", "tool_use_id": message.tool_call_id or ""}
    match message.content:
        case None:
            fields |= {"content": None} if "null" in hints else {}
        case str(text):
            fields["content"] = [{"type": "text", "text": text}] if text and "list" in hints else text
        case parts:
            blocks = (block_from_part(part, takes_media=True) for part in parts)
            fields["content"] = [block for block in blocks if block is not None]
    return laid_over(fields, hints)
