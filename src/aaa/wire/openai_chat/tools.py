"""Tools that a provider runs, in a request to another provider: they mean nothing there, and are left out.

Whatever format a tool was read from, its extra has the keys of OpenAI's chat format at the top: a `type` that is
neither "function" nor "custom" says that the provider runs it, a native key whose provider that is.
"""

import json
from collections.abc import Iterable

from aaa.messages import ToolSpec
from aaa.wire.openai_chat.messages import tool_to_dict
from aaa.wire.openai_chat.notes import warn_once

__all__ = ["tools_for"]

_ABSENT = "aaa:absent"


def tools_for(format: str, tools: Iterable[ToolSpec]) -> list[ToolSpec]:
    """The tools that can be sent in `format` ("" for the chat format); a warning tells of each that cannot."""
    sent: list[ToolSpec] = []
    for spec in tools:
        if _is_run_by_another(spec, format):
            warn_once("the tool %s is run by another provider; left out", spec.name)
        else:
            sent.append(spec)
    return sent


def _is_run_by_another(spec: ToolSpec, format: str) -> bool:
    if "aaa:" not in spec.extra or tool_to_dict(spec).get("type", "function") in ("function", "custom"):
        return False
    owners = {key for key in json.loads(spec.extra) if key.startswith("aaa:") and key != _ABSENT}
    return bool(owners) and f"aaa:{format}" not in owners
