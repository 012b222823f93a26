"""How a prompt is made smaller: one strategy, one file, cheapest and least lossy first."""

from aaa.context.strategies.clear import ClearToolResults
from aaa.context.strategies.collapse import CollapseRepeats
from aaa.context.strategies.drop import DropOldest
from aaa.context.strategies.limit import CutMessages
from aaa.context.strategies.media import DropMedia
from aaa.context.strategies.protocol import Strategy, SyncStrategy
from aaa.context.strategies.shorten import ShortenCalls
from aaa.context.strategies.summarize import Summarize
from aaa.context.strategies.truncate import TruncateToolResults

__all__ = [
    "ClearToolResults",
    "CollapseRepeats",
    "CutMessages",
    "DropMedia",
    "DropOldest",
    "ShortenCalls",
    "Strategy",
    "Summarize",
    "SyncStrategy",
    "TruncateToolResults",
]
