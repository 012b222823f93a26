"""The context core for plain code: synchronous functions over plain lists of dict messages.

`aaa` manages context inside an asynchronous, durable runtime, on typed messages. Many agents are a short loop that
keeps `messages: list[dict]` in OpenAI's format and calls the provider directly. This package is for them: the same
counting, the same strategies and the same guarantees, as functions that take such a list and return a new one; and a
client and a small agent that keep their conversation that way (`aimu.models`, `aimu.agents`).

It does nothing twice that `aaa` does, and `aaa` never imports it::

    your loop  ->  aimu (list[dict], no async)  ->  aaa.context, aaa.wire, aaa.tools, aaa.llm
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aimu.context import (
    Fitter,
    check_messages,
    clear_tool_results,
    count_tokens,
    fit_messages,
    repair_messages,
    summarize_messages,
    trim_messages,
    truncate_tool_results,
)
from aimu.events import ContextCompacted

if TYPE_CHECKING:
    from aimu.models import client

__all__ = [
    "ContextCompacted",
    "Fitter",
    "check_messages",
    "clear_tool_results",
    "client",
    "count_tokens",
    "fit_messages",
    "repair_messages",
    "summarize_messages",
    "trim_messages",
    "truncate_tool_results",
]


def __getattr__(name: str) -> Any:
    """What is loaded when it is first used, so that `import aimu` loads no model and no tools."""
    if name == "client":
        return import_module("aimu.models").client
    if name in ("agents", "models"):
        return import_module(f"aimu.{name}")
    raise AttributeError(f"module 'aimu' has no attribute {name!r}")
