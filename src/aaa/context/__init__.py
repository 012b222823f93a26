"""Fit conversations into a model's window: counters, transcript, strategies, policy, plan, summaries.

`PromptFitter` is the door into a loop of your own, `ContextPolicy` the rules behind it. Knows no engine and no HTTP.
"""

from aaa.context.counters import (
    AdditiveCounter,
    CalibratedCounter,
    HeuristicCounter,
    ModelCounter,
    TiktokenCounter,
    TokenCounter,
    counter_for,
)
from aaa.context.edits import Edit
from aaa.context.fitter import FitterState, PromptFitter
from aaa.context.gauge import Gauge
from aaa.context.groups import awaits_results, groups
from aaa.context.plan import Plan
from aaa.context.policy import ContextPolicy, Prepared
from aaa.context.shorten import shortened
from aaa.context.strategies import (
    ClearToolResults,
    CollapseRepeats,
    DropOldest,
    Strategy,
    Summarize,
    TruncateToolResults,
)
from aaa.context.summaries import SummaryBook, SummaryRecord
from aaa.context.thinking import without_old_thinking
from aaa.context.transcript import Transcript
from aaa.context.work import Work

__all__ = [
    "AdditiveCounter",
    "CalibratedCounter",
    "ClearToolResults",
    "CollapseRepeats",
    "ContextPolicy",
    "DropOldest",
    "Edit",
    "FitterState",
    "Gauge",
    "HeuristicCounter",
    "ModelCounter",
    "Plan",
    "Prepared",
    "PromptFitter",
    "Strategy",
    "Summarize",
    "SummaryBook",
    "SummaryRecord",
    "TiktokenCounter",
    "TokenCounter",
    "Transcript",
    "TruncateToolResults",
    "Work",
    "awaits_results",
    "counter_for",
    "groups",
    "shortened",
    "without_old_thinking",
]
