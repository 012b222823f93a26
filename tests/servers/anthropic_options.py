"""When Anthropic refuses what stands around the messages: options, tools, cache breakpoints."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.anthropic_blocks import NAME, check_known, check_system, invalid

__all__ = ["breakpoints", "check_breakpoints", "check_options", "check_tools"]

_TOP = {
    "billing_policy",
    "cache_control",
    "compaction",
    "container",
    "context_management",
    "diagnostics",
    "fallbacks",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
}
_TOOL_KEYS = {
    "type",
    "name",
    "description",
    "input_schema",
    "cache_control",
    "strict",
    "defer_loading",
    "allowed_callers",
    "input_examples",
    "eager_input_streaming",
}
_MOST_BREAKPOINTS = 4
_LEAST_BUDGET = 1024


def check_options(body: Mapping[str, Any], *, counts_only: bool) -> None:
    check_known(body, _TOP)
    asked = body.get("max_tokens")
    if asked is None and not counts_only:
        raise invalid("max_tokens: Field required")
    if asked is not None and (not isinstance(asked, int) or asked < 0):
        raise invalid("max_tokens: Input should be a valid integer")
    if not isinstance(body.get("messages"), list):
        raise invalid(
            "messages: Field required" if "messages" not in body else "messages: Input should be a valid list"
        )
    check_system(body.get("system"))
    _check_thinking(body.get("thinking") or {"type": "disabled"}, body)


def _check_thinking(thinking: Mapping[str, Any], body: Mapping[str, Any]) -> None:
    kind = thinking.get("type")
    if kind not in ("enabled", "disabled", "adaptive"):
        raise invalid(
            f"thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags: 'adaptive', "
            "'disabled', 'enabled'"
        )
    if kind == "enabled" and thinking.get("budget_tokens", 0) < _LEAST_BUDGET:
        raise invalid(f"thinking.enabled.budget_tokens: Input should be greater than or equal to {_LEAST_BUDGET}")
    if kind == "enabled" and body.get("max_tokens") is not None and body["max_tokens"] <= thinking["budget_tokens"]:
        raise invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if kind != "disabled" and (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
        raise invalid("Thinking may not be enabled when tool_choice forces tool use.")
    if kind != "disabled" and body.get("temperature") not in (None, 1):
        raise invalid("`temperature` may only be set to 1 when thinking is enabled.")


def check_tools(body: Mapping[str, Any]) -> None:
    tools = body.get("tools") or []
    if body.get("tool_choice") is not None and not tools:
        raise invalid("tool_choice may only be specified while providing `tools`.")
    for index, tool in enumerate(tools):
        if tool.get("type", "custom") == "custom":
            _check_custom_tool(tool, f"tools.{index}.custom")
    names = [tool.get("name") for tool in tools]
    if len(set(names)) < len(names):
        raise invalid("tools: Tool names must be unique.")


def _check_custom_tool(tool: Mapping[str, Any], at: str) -> None:
    for key in ("name", "input_schema"):
        if key not in tool:
            raise invalid(f"{at}.{key}: Field required")
    check_known(tool, _TOOL_KEYS, f"{at}.")
    if not NAME.fullmatch(str(tool["name"])):
        raise invalid(f"{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    schema = tool["input_schema"]
    if not isinstance(schema, dict) or "type" not in schema:
        raise invalid(f"{at}.input_schema.type: Field required")
    if schema["type"] != "object":
        raise invalid(f"{at}.input_schema.type: Input should be 'object'")


def breakpoints(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every `cache_control` in a value, in order."""
    if isinstance(value, dict):
        if value.get("cache_control"):
            yield value["cache_control"]
        for key, inner in value.items():
            if key not in ("cache_control", "input", "input_schema"):
                yield from breakpoints(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from breakpoints(inner)


def check_breakpoints(body: Mapping[str, Any]) -> None:
    found = list(breakpoints([body.get("tools"), body.get("system"), body["messages"]]))
    found += [body["cache_control"]] if body.get("cache_control") else []
    if len(found) > _MOST_BREAKPOINTS:
        raise invalid(
            f"A maximum of {_MOST_BREAKPOINTS} blocks with cache_control may be provided. Found {len(found)}."
        )
    lifetimes = [mark.get("ttl", "5m") for mark in found]
    if "1h" in lifetimes[lifetimes.index("5m") if "5m" in lifetimes else len(lifetimes) :]:
        raise invalid("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.")
