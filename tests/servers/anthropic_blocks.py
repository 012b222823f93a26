"""When Anthropic refuses a message by itself: its keys, the types of its blocks, names, ids, empty text."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from tests.servers.turn import Refused

__all__ = ["NAME", "check_known", "check_message", "check_system", "invalid", "text_blocks"]

_BLOCK_KEYS: Mapping[str, set[str]] = {
    "text": {"text", "cache_control", "citations"},
    "image": {"source", "cache_control"},
    "document": {"source", "cache_control", "citations", "context", "title"},
    "tool_use": {"id", "name", "input", "cache_control", "caller", "toolset_name"},
    "tool_result": {"tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
}
_OTHER_BLOCKS = re.compile(
    r"search_result|tool_reference|server_tool_use|mcp_tool_use|compaction|container_upload|connector_text|\w+_tool_result"
)
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def invalid(message: str) -> Refused:
    return Refused(400, message, type="invalid_request_error")


def text_blocks(content: Any) -> list[dict[str, Any]]:
    """Content as blocks, whichever way it was sent."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def check_known(value: Mapping[str, Any], known: Collection[str], at: str = "") -> None:
    for key in value:
        if key not in known:
            raise invalid(f"{at}{key}: Extra inputs are not permitted")


def check_system(system: Any) -> None:
    for index, block in enumerate(text_blocks(system) if system else ()):
        _check_block(block, f"system.{index}")
        _check_text(block, "system")


def check_message(message: Any, index: int) -> None:
    """One message by itself; what it stands beside is checked elsewhere."""
    at = f"messages.{index}"
    for key in ("role", "content"):
        if not isinstance(message, dict) or key not in message:
            raise invalid(f"{at}.{key}: Field required")
    check_known(message, ("role", "content"), f"{at}.")
    if not isinstance(message["content"], str | list):
        raise invalid(f"{at}.content: Input should be a valid list")
    if not message["content"]:
        raise invalid(f"{at}: all messages must have non-empty content except for the optional final assistant message")
    for number, block in enumerate(text_blocks(message["content"])):
        _check_block(block, f"{at}.content.{number}")
        _check_text(block, "messages")
        _check_place(block, message["role"], at)


def _check_place(block: Mapping[str, Any], role: str, at: str) -> None:
    if block["type"] in ("tool_use", "thinking", "redacted_thinking") and role != "assistant":
        raise invalid(f"{at}: `{block['type']}` blocks can only be in `assistant` messages")
    if block["type"] == "tool_result" and role != "user":
        raise invalid(f"{at}: `tool_result` blocks can only be in `user` messages")


def _check_block(block: Any, at: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        raise invalid(f"{at}.type: Field required")
    if kind not in _BLOCK_KEYS:
        if not _OTHER_BLOCKS.fullmatch(kind):
            expected = ", ".join(f"'{name}'" for name in _BLOCK_KEYS)
            raise invalid(
                f"{at}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {expected}"
            )
        return
    check_known(block, {"type", *_BLOCK_KEYS[kind]}, f"{at}.{kind}.")
    if kind in _CHECKS:
        _CHECKS[kind](block, f"{at}.{kind}")


def _check_text(block: Mapping[str, Any], where: str) -> None:
    if block["type"] == "text":
        if not isinstance(block.get("text"), str) or not block["text"]:
            raise invalid(f"{where}: text content blocks must be non-empty")
        if not block["text"].strip():
            raise invalid(f"{where}: text content blocks must contain non-whitespace text")


def _check_use(block: Mapping[str, Any], at: str) -> None:
    for key, pattern in (("id", _ID), ("name", NAME)):
        if key not in block:
            raise invalid(f"{at}.{key}: Field required")
        if not pattern.fullmatch(str(block[key])):
            raise invalid(f"{at}.{key}: String should match pattern '^{pattern.pattern}$'")
    if not isinstance(block.get("input"), dict):
        raise invalid(f"{at}.input: Input should be a valid dictionary")


def _check_result(block: Mapping[str, Any], at: str) -> None:
    if not _ID.fullmatch(str(block.get("tool_use_id", ""))):
        raise invalid(f"{at}.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if block.get("is_error") and not block.get("content"):
        raise invalid(f"{at}: content cannot be empty if `is_error` is true")
    if isinstance(block.get("content"), list):
        for number, inner in enumerate(block["content"]):
            _check_block(inner, f"{at}.content.{number}")
            _check_text(inner, "messages")


def _check_image(block: Mapping[str, Any], at: str) -> None:
    source = block.get("source") or {}
    if source.get("type") == "base64" and source.get("media_type") not in _IMAGES:
        listed = ", ".join(f"'{name}'" for name in _IMAGES[:-1])
        raise invalid(f"{at}.source.base64.media_type: Input should be {listed} or '{_IMAGES[-1]}'")


def _check_signed(block: Mapping[str, Any], at: str) -> None:
    for key in ("thinking", "signature"):
        if key not in block:
            raise invalid(f"{at}.{key}: Field required")


_CHECKS = {"tool_use": _check_use, "tool_result": _check_result, "image": _check_image, "thinking": _check_signed}
