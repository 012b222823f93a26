"""How a prompt is made smaller: one strategy, one file, cheapest and least lossy first."""

from aaa.context.strategies.clear import ClearToolResults
from aaa.context.strategies.collapse import CollapseRepeats
from aaa.context.strategies.drop import DropOldest
from aaa.context.strategies.protocol import Strategy, SyncStrategy
from aaa.context.strategies.summarize import Summarize
from aaa.context.strategies.truncate import TruncateToolResults

__all__ = [
    "ClearToolResults",
    "CollapseRepeats",
    "DropOldest",
    "Strategy",
    "Summarize",
    "SyncStrategy",
    "TruncateToolResults",
]
