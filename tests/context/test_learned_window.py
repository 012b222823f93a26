"""A window that a provider has shown to be smaller than the policy says."""

import pytest

from aaa.context import ContextPolicy, FitterState, PromptFitter
from aaa.messages import Message

TALK = [Message("user" if number % 2 == 0 else "assistant", "word " * 100) for number in range(40)]


def test_later_prompts_fit_the_learned_window():
    fitter = PromptFitter(ContextPolicy(100_000, reserve_output=500))
    assert fitter.fit_sync(TALK).report is None
    fitter.learn_window(None, 3_000)
    prompt = fitter.fit_sync(TALK)
    assert prompt.plan is not None
    assert prompt.plan.tokens_after <= 2_500


def test_it_holds_for_its_model_only_and_never_grows():
    policy = ContextPolicy(100_000, reserve_output=500)
    fitter = PromptFitter(policy)
    fitter.learn_window("small", 3_000)
    fitter.learn_window("small", 50_000)
    assert fitter.fit_sync(TALK, model="large").report is None
    assert fitter.fit_sync(TALK, model="small").report is not None


@pytest.mark.parametrize("tokens", [0, -1])
def test_a_window_of_nothing_teaches_nothing(tokens):
    fitter = PromptFitter(ContextPolicy(100_000))
    fitter.learn_window(None, tokens)
    assert fitter.fit_sync(TALK).report is None


def test_a_window_below_the_reserve_keeps_half_of_itself_for_the_prompt():
    settings = ContextPolicy(100_000, reserve_output=4096).settings(None, learned_tokens=2_000)
    assert (settings.window_tokens, settings.reserve_tokens, settings.budget_tokens) == (2_000, 1_000, 1_000)


def test_a_window_above_the_policys_changes_nothing():
    policy = ContextPolicy(100_000)
    assert policy.settings(None, learned_tokens=200_000) == policy.settings(None)


def test_it_is_saved_with_the_state():
    fitter = PromptFitter(ContextPolicy(100_000))
    fitter.learn_window("m", 3_000)
    state = FitterState.from_json(fitter.state.to_json())
    assert state.windows == (("m", 3_000),)
    assert PromptFitter(ContextPolicy(100_000), state).fit_sync(TALK, model="m").report is not None
