"""The policy over plain dicts, call by call."""

import datetime

import pytest

import aimu
from aaa.context import ContextPolicy, HeuristicCounter, PromptFitter
from aaa.errors import StateError
from tests.aimu.talk import call, result, subsequence_of, turns


def test_a_whole_policy_may_be_given_but_then_alone():
    policy = ContextPolicy(1_500, reserve_output=0)
    assert aimu.Fitter(policy).policy is policy
    assert len(aimu.fit_messages(turns(40), policy)) < 81
    with pytest.raises(ValueError, match="a whole policy was given"):
        aimu.Fitter(policy, sticky=True)


def test_what_was_left_out_stays_out():
    fitter, messages = aimu.Fitter(1_500), turns(12)
    first = fitter.fit(messages)
    assert fitter.plan is not None
    assert fitter.plan.applied
    more = [*messages, call("new"), result("new", "short")]
    assert fitter.fit(more) == [*first, *more[-2:]]


def test_the_callers_own_objects_are_kept_with_what_no_provider_sees():
    when = datetime.datetime.now(datetime.UTC)
    messages = [m | {"timestamp": when} for m in turns(12)]
    fitted = aimu.Fitter(1_500).fit(messages)
    own = {id(m) for m in messages}
    assert subsequence_of([m for m in fitted if id(m) in own], messages)
    changed = [m for m in fitted if id(m) not in own and m["role"] == "tool"]
    assert changed
    assert all(m["timestamp"] is when and "provenance" not in m for m in changed)


def test_usage_makes_the_next_estimate_better():
    fitter, messages = aimu.Fitter(5_000), turns(30)
    fitter.fit(messages[:21])
    fitter.record({"prompt_tokens": 2 * fitter.plan.raw_tokens})
    fitter.fit(messages)
    without = aimu.Fitter(5_000)
    without.fit(messages)
    assert fitter.plan.tokens_before > 1.5 * without.plan.tokens_before
    fitter.record(None)


def test_another_fitter_goes_on_from_what_was_saved():
    fitter, messages = aimu.Fitter(1_500), turns(12)
    fitter.fit(messages)
    fitter.record(700)
    again = aimu.Fitter(1_500, state=fitter.to_json())
    more = [*messages, *turns(14)[-4:]]
    assert again.fit(more) == fitter.fit(more)
    assert again.to_json() == fitter.to_json()


def test_a_state_that_is_none_is_refused():
    with pytest.raises(StateError):
        aimu.Fitter(1_500, state="not a state")


def test_pressure_cuts_deeper():
    messages = turns(12)
    fitter = aimu.Fitter(1_500)
    gentle = fitter.fit(messages)
    assert aimu.count_tokens(fitter.fit(messages, pressure=0.7)) < aimu.count_tokens(gentle)


def test_it_gives_what_the_fitter_of_aaa_gives():
    messages = turns(30)
    ours = aimu.Fitter(2_000, counter=HeuristicCounter())
    theirs = PromptFitter(ContextPolicy(2_000, reserve_output=0, sticky=True, counter=HeuristicCounter()))
    for length in range(1, len(messages) + 1, 4):
        assert ours.fit(messages[:length]) == theirs.fit_sync(messages[:length]).messages
        ours.record(300)
        theirs.record(300)
