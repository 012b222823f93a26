"""The kinds of items in OpenAI's Responses format, and on whose side of the conversation each stands.

| item | is |
|---|---|
| message of role "assistant" | content of an assistant message |
| function_call, custom_tool_call | a call of an assistant message |
| function_call_output, custom_tool_call_output | a message of role "tool" |
| message of another role | a message of that role |
| what a client says beside messages (`compaction_trigger`, …) | a message of the user, of this one opaque part |
| every other: reasoning, compaction, calls the provider runs, references | an opaque part of an assistant message |

Source: OpenAI's API reference and SDK types 3.57, November 2026.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from aaa.wire.lossless import string_of
from aaa.wire.openai_chat.notes import warn_once

__all__ = ["CALLS", "CLIENT_CALLS", "Side", "kind_of", "side_of", "waits_for_client"]

Side = Literal["message", "result", "reply", "client"]

CALLS = {"function_call": "arguments", "custom_tool_call": "input"}  # and where the model's text for it stands
_RESULTS = tuple(f"{kind}_output" for kind in CALLS)
_CLIENTS = ("compaction_trigger", "mcp_approval_response", "additional_tools", "configuration_update")
_KNOWN = ("reasoning", "compaction", "item_reference", "mcp_list_tools", "mcp_approval_request", "program")
_KNOWN_ENDINGS = ("_call", "_output")

CLIENT_CALLS = ("computer_call", "local_shell_call", "shell_call", "apply_patch_call")
"""Calls that a client answers by an item of their own, of the type `…_output`."""

_FOR_THE_CLIENT = (*CLIENT_CALLS, "mcp_approval_request")


def kind_of(item: Mapping[str, Any]) -> str:
    """The type of an item; what has none is a message if it has a role, else a reference."""
    kind = string_of(item.get("type"))
    if kind is not None:
        return kind
    return "message" if "role" in item else "item_reference"


def side_of(item: Mapping[str, Any]) -> Side:
    """Where an item stands; one of an unknown type is taken for the model's, and warned of once."""
    kind, role = kind_of(item), item.get("role")
    if kind == "message":
        is_said_by_others = isinstance(role, str) and role not in ("", "assistant", "tool")
        return "message" if is_said_by_others else "reply"
    if kind in _RESULTS:
        return "result"
    if kind in _CLIENTS:
        return "client"
    if kind not in CALLS and kind not in _KNOWN and not kind.endswith(_KNOWN_ENDINGS):
        warn_once("an item of the unknown type %s is kept, and sent back as it came", kind)
    return "reply"


def waits_for_client(output: Sequence[Mapping[str, Any]]) -> str | None:
    """The type of a call in a reply that its client must answer, and that is none of a tool; None if there is none."""
    answered = {item.get("call_id") for item in output if kind_of(item).endswith("_output")}
    waiting = [item for item in output if kind_of(item) in _FOR_THE_CLIENT and item.get("call_id") not in answered]
    return kind_of(waiting[0]) if waiting else None
