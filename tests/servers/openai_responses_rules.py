"""When OpenAI's Responses API refuses the items of an input, one by one: their types, keys, ids and parts."""

from collections.abc import Mapping
from typing import Any

from tests.servers.openai_checks import (
    check_array,
    check_known,
    check_length,
    check_name,
    check_parameters,
    check_text,
    invalid,
)

__all__ = ["check_item", "check_tools", "check_top"]

_TOP = {
    "background",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
}
_ROLES = ("assistant", "system", "developer", "user")
_PARTS: Mapping[str, tuple[str, ...]] = {
    "assistant": ("output_text", "refusal"),
    "": ("input_text", "input_image", "input_file", "input_audio"),
}
_ITEM_KEYS: Mapping[str, set[str]] = {
    "message": {"type", "role", "content", "id", "status", "phase"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status", "caller", "namespace", "async"},
    "function_call_output": {"type", "id", "call_id", "output", "status", "caller", "name", "namespace"},
    "reasoning": {"type", "id", "summary", "content", "encrypted_content", "status"},
    "item_reference": {"type", "id"},
}
_OTHER_ITEMS = {
    "custom_tool_call",
    "custom_tool_call_output",
    "web_search_call",
    "file_search_call",
    "computer_call",
    "computer_call_output",
    "image_generation_call",
    "code_interpreter_call",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "compaction",
    "compaction_trigger",
    "tool_search_call",
    "tool_search_output",
    "additional_tools",
    "program",
    "program_output",
}
_ID_PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
_LONGEST_CALL_ID = 64
_LONGEST_OUTPUT = 10_485_760
_LEAST_OUTPUT = 16


def check_top(body: Mapping[str, Any]) -> None:
    check_known(dict(body), _TOP)
    asked = body.get("max_output_tokens")
    if asked is not None and asked < _LEAST_OUTPUT:
        raise invalid(
            f"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {_LEAST_OUTPUT}, but got "
            f"{asked} instead.",
            "max_output_tokens",
            "integer_below_min_value",
        )
    if not body.get("input") and not body.get("previous_response_id"):
        raise invalid(
            "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.",
            code="missing_required_parameter",
        )


def check_tools(body: Mapping[str, Any]) -> None:
    for index, tool in enumerate(body.get("tools") or ()):
        at = f"tools[{index}]"
        if check_text(tool, "type", at) == "function":
            name = check_name(tool, at)
            check_parameters(tool.get("parameters"), name, at)


def check_item(item: Any, index: int) -> None:
    at = f"input[{index}]"
    if not isinstance(item, dict):
        raise invalid(f"Invalid type for '{at}': expected an object.", at, "invalid_type")
    kind = item.get("type") or ("message" if "role" in item else "")
    if kind in _OTHER_ITEMS:
        return
    if kind not in _ITEM_KEYS:
        raise invalid(f"Invalid value: '{kind}'.", f"{at}.type", "invalid_value")
    check_known(item, _ITEM_KEYS[kind], at)
    _check_id(item, kind, at)
    _CHECKS[kind](item, at)


def _check_id(item: dict[str, Any], kind: str, at: str) -> None:
    prefix = _ID_PREFIXES.get(kind)
    if prefix and item.get("id") is not None and not str(item["id"]).startswith(prefix):
        raise invalid(
            f"Invalid '{at}.id': '{item['id']}'. Expected an ID that begins with '{prefix}'.",
            f"{at}.id",
            "invalid_value",
        )


def _check_message(item: dict[str, Any], at: str) -> None:
    role = check_text(item, "role", at)
    if role not in _ROLES:
        supported = "'assistant', 'system', 'developer', and 'user'"
        message = f"Invalid value: '{role}'. Supported values are: {supported}."
        raise invalid(message, f"{at}.role", "invalid_value")
    if isinstance(item.get("content"), list):
        for number, part in enumerate(check_array(item["content"], f"{at}.content")):
            _check_part(part, role, f"{at}.content[{number}]")
    else:
        check_text(item, "content", at)


def _check_part(part: Any, role: str, at: str) -> None:
    kind = check_text(part if isinstance(part, dict) else {}, "type", at)
    allowed = _PARTS.get(role, _PARTS[""])
    if kind not in allowed:
        supported = ", ".join(f"'{name}'" for name in allowed[:-1])
        message = f"Invalid value: '{kind}'. Supported values are: {supported} and '{allowed[-1]}'."
        raise invalid(message, at, "invalid_value")
    if kind in ("input_text", "output_text"):
        check_text(part, "text", at)


def _check_call(item: dict[str, Any], at: str) -> None:
    _check_call_id(item, at)
    check_name(item, at)
    check_text(item, "arguments", at)


def _check_output(item: dict[str, Any], at: str) -> None:
    _check_call_id(item, at)
    if isinstance(item.get("output"), list):
        for number, part in enumerate(check_array(item["output"], f"{at}.output")):
            _check_part(part, "", f"{at}.output[{number}]")
    else:
        check_length(check_text(item, "output", at), f"{at}.output", _LONGEST_OUTPUT)


def _check_call_id(item: dict[str, Any], at: str) -> None:
    id = check_text(item, "call_id", at)
    check_length(id, f"{at}.call_id", _LONGEST_CALL_ID)
    if not id:
        raise invalid(
            f"Invalid '{at}.call_id': empty string. Expected a string with minimum length 1, but got an empty string "
            "instead.",
            f"{at}.call_id",
            "empty_string",
        )


def _check_reasoning(item: dict[str, Any], at: str) -> None:
    if not isinstance(item.get("summary"), list):
        path = f"{at}.summary"
        raise invalid(f"Missing required parameter: '{path}'.", path, "missing_required_parameter")


def _check_reference(item: dict[str, Any], at: str) -> None:
    check_text(item, "id", at)


_CHECKS = {
    "message": _check_message,
    "function_call": _check_call,
    "function_call_output": _check_output,
    "reasoning": _check_reasoning,
    "item_reference": _check_reference,
}
