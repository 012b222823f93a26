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
from aaa.context.groups import groups
from aaa.context.plan import Plan
from aaa.context.policy import ContextPolicy, Prepared
from aaa.context.strategies import ClearToolResults, DropOldest, Strategy, Summarize, TruncateToolResults
from aaa.context.summaries import SummaryBook, SummaryRecord
from aaa.context.transcript import Transcript
from aaa.context.work import Work

__all__ = [
    "AdditiveCounter",
    "CalibratedCounter",
    "ClearToolResults",
    "ContextPolicy",
    "DropOldest",
    "Edit",
    "FitterState",
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
    "counter_for",
    "groups",
]
