"""One conversation through every window, format and setting, call by call as its agent's calls were."""

from collections.abc import Sequence
from itertools import product

from aaa.context import ContextPolicy, PromptFitter
from aaa.errors import ContextFloorError
from tests.sweep.formats import FORMATS
from tests.sweep.promises import Case, wrong_with, wrong_with_refusal
from tests.sweep.talk import Talk, call_lengths
from tests.sweep.tally import Tally

__all__ = ["MOST_CALLS", "WINDOWS", "sweep"]

WINDOWS = (4_000, 8_000, 64_000)
MOST_CALLS = 12
"""Calls of one conversation with one format, window and setting."""


def sweep(
    talk: Talk, windows: Sequence[int] = WINDOWS, *, most_calls: int = MOST_CALLS
) -> dict[tuple[str, int, bool], Tally]:
    """What came of every call of a conversation, by format, window and whether edits stay in force."""
    lengths = call_lengths(talk.messages, most_calls)
    return {
        (name, window, is_sticky): _swept(talk, lengths, Case(talk, 0, FORMATS[name], window, is_sticky))
        for name, window, is_sticky in product(FORMATS, windows, (False, True))
    }


def _swept(talk: Talk, lengths: Sequence[int], setting: Case) -> Tally:
    policy = ContextPolicy(setting.window, reserve_output=0, sticky=setting.is_sticky, provider=setting.format.provider)
    fitter, tally = PromptFitter(policy), Tally()
    for number, length in enumerate(lengths, 1):
        case = Case(talk, length, setting.format, setting.window, setting.is_sticky)
        where = f"{talk.id}, call {number} of {length} messages, {case.window:,}, {case.format.name}"
        _call(fitter, case, tally, where + ", sticky" * case.is_sticky)
    tally.end_conversation()
    return tally


def _call(fitter: PromptFitter, case: Case, tally: Tally, where: str) -> None:
    given = case.given
    try:
        prompt = fitter.fit_sync(given, tools=case.talk.tools, model=case.format.model)
    except ContextFloorError as error:
        tally.add_refusal()
        tally.add_wrong(wrong_with_refusal(case, error), where)
        return
    assert prompt.plan is not None
    tally.add_prompt(prompt.plan, case.window)
    tally.add_wrong(wrong_with(case, prompt), where)
    if given != case.given:
        tally.add_wrong(["the caller's list was changed"], where)
