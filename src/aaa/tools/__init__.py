"""Tools a model may call: functions with a schema, a registry of them, and the handler that runs them.

    @tool def lookup(topic: str) -> str ──▶ Tool ──▶ ToolRegistry ──▶ ToolHandler.attach(engine)

pydantic checks arguments and writes schemas; it is loaded by the first `@tool`, not by importing this package.
"""

from aaa.tools.context import ToolContext
from aaa.tools.failure import ToolFailure
from aaa.tools.handler import ToolHandler
from aaa.tools.registry import ToolRegistry
from aaa.tools.tool import Tool, tool

__all__ = ["Tool", "ToolContext", "ToolFailure", "ToolHandler", "ToolRegistry", "tool"]
