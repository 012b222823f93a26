"""When OpenAI's Chat Completions API refuses a body."""

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

__all__ = ["check_messages", "check_tools"]

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_KEYS: Mapping[str, set[str]] = {
    "assistant": {"content", "refusal", "name", "audio", "function_call", "tool_calls", "annotations"},
    "tool": {"content", "tool_call_id", "name"},
}
_PARTS: Mapping[str, tuple[str, ...]] = {
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
}
_LONGEST_ID = 40
_MOST_CALLS = 128
_MOST_TOOLS = 128


def check_tools(body: Mapping[str, Any]) -> None:
    if body.get("tools") is None:
        for key in ("tool_choice", "parallel_tool_calls"):
            if body.get(key) is not None:
                message = f"Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified."
                raise invalid(message, key)
        return
    for index, tool in enumerate(check_array(body["tools"], "tools", _MOST_TOOLS)):
        at = f"tools[{index}]"
        check_text(tool, "type", at)
        if tool["type"] == "function":
            _check_function(tool, at)


def _check_function(tool: dict[str, Any], at: str) -> None:
    check_known(tool, {"type", "function"}, at)
    function = tool.get("function")
    if not isinstance(function, dict):
        path = f"{at}.function"
        raise invalid(f"Missing required parameter: '{path}'.", path, "missing_required_parameter")
    name = check_name(function, f"{at}.function")
    check_known(function, {"name", "description", "parameters", "strict"}, f"{at}.function")
    check_parameters(function.get("parameters"), name, f"{at}.function")


def check_messages(messages: list[Any], extra: set[str] | None) -> None:
    """`extra` are keys besides OpenAI's that an assistant message may have; None allows any key anywhere."""
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        if not isinstance(message, dict):
            raise invalid(f"Invalid type for '{at}': expected an object.", at, "invalid_type")
        role = check_text(message, "role", at)
        if role not in _ROLES:
            supported = ", ".join(f"'{name}'" for name in _ROLES[:-1])
            message_text = f"Invalid value: '{role}'. Supported values are: {supported}, and '{_ROLES[-1]}'."
            raise invalid(message_text, f"{at}.role", "invalid_value")
        if extra is not None:
            check_known(message, {"role", *_KEYS.get(role, {"content", "name"}), *extra}, at)
        _check_content(message, index)
        _check_calls(message, at)
    _check_pairing(messages)


def _check_content(message: dict[str, Any], index: int) -> None:
    content = message.get("content")
    if content is None:
        has_other = message["role"] == "assistant" and any(
            message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio")
        )
        if not has_other:
            at = f"messages.[{index}].content"
            raise invalid("Invalid value for 'content': expected a string, got null.", at)
    elif not isinstance(content, str):
        for number, part in enumerate(check_array(content, f"messages[{index}].content")):
            _check_part(part, message["role"], index, number)


def _check_part(part: Any, role: str, index: int, number: int) -> None:
    at = f"messages[{index}].content[{number}]"
    kind = check_text(part if isinstance(part, dict) else {}, "type", at)
    allowed = _PARTS.get(role, ("text",))
    if kind == "image_url" and kind not in allowed:
        raise invalid(
            f"Invalid 'messages[{index}]'. Image URLs are only allowed for messages with role 'user', but this message "
            f"with role '{role}' contains an image URL.",
            f"messages[{index}]",
            "invalid_value",
        )
    if kind not in allowed:
        supported = " and ".join(f"'{name}'" for name in allowed)
        raise invalid(f"Invalid value: '{kind}'. Supported values are: {supported}.", at, "invalid_value")
    if kind in ("text", "refusal"):
        check_text(part, kind, at)


def _check_calls(message: dict[str, Any], at: str) -> None:
    if message["role"] == "tool":
        check_text(message, "tool_call_id", at)
    if message.get("tool_calls") is None:
        return
    for number, call in enumerate(check_array(message["tool_calls"], f"{at}.tool_calls", _MOST_CALLS)):
        path = f"{at}.tool_calls[{number}]"
        check_length(check_text(call, "id", path), f"{path}.id", _LONGEST_ID)
        if check_text(call, "type", path) == "function":
            function = call.get("function") or {}
            check_name(function, f"{path}.function")
            check_text(function, "arguments", f"{path}.function")


def _check_pairing(messages: list[dict[str, Any]]) -> None:
    """Results stand right after the call, one for each, and nowhere else."""
    called: list[str] = []
    answered: dict[str, int] = {}
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            _check_result(message["tool_call_id"], index, called, answered)
        else:
            _check_answered(called, answered, index)
            called = [call["id"] for call in message.get("tool_calls") or ()]
            answered = {}
    _check_answered(called, answered, len(messages))


def _check_result(id: str, index: int, called: list[str], answered: dict[str, int]) -> None:
    if not called:
        raise invalid(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
            "'tool_calls'.",
            f"messages.[{index}].role",
        )
    at = f"messages.[{index}].tool_call_id"
    if id not in called:
        raise invalid(f"Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message.", at)
    if id in answered:
        raise invalid(
            f"Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{answered[id]}] and "
            f"messages[{index}].",
            at,
        )
    answered[id] = index


def _check_answered(called: list[str], answered: dict[str, int], index: int) -> None:
    missing = [id for id in called if id not in answered]
    if missing:
        raise invalid(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)}",
            f"messages.[{index}].role",
        )
