"""Algorithms: ordinary Python over the effects of a run."""

from aaa.algos.tool_loop import ToolLoop

__all__ = ["ToolLoop"]
