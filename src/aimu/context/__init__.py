"""Context management over plain lists of messages in OpenAI's chat format.

    count_tokens                                how large is it?
    trim_messages, summarize_messages           drop what is oldest, or have it summarised
    clear_tool_results, truncate_tool_results   make tool results smaller
    fit_messages, Fitter                        all of it, by a policy; call by call
    check_messages, repair_messages             would a provider take it?

Functions of data: a list goes in, a new list comes out; the list and its dicts are never changed, and what is kept are
the caller's own objects. The work is done by `aaa.context`.
"""

from aimu.context.checking import check_messages, repair_messages
from aimu.context.counters import Counter, EstimateCounter
from aimu.context.counting import count_tokens
from aimu.context.fitter import Fitter, PolicySettings
from aimu.context.fitting import fit_messages
from aimu.context.results import clear_tool_results, truncate_tool_results
from aimu.context.summarizing import summarize_messages
from aimu.context.trimming import trim_messages

__all__ = [
    "Counter",
    "EstimateCounter",
    "Fitter",
    "PolicySettings",
    "check_messages",
    "clear_tool_results",
    "count_tokens",
    "fit_messages",
    "repair_messages",
    "summarize_messages",
    "trim_messages",
    "truncate_tool_results",
]
