"""With `sticky=True` what the user said stays verbatim, as far as there is room for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.context import ContextPolicy, DropOldest, HeuristicCounter, PromptFitter, Summarize
from aaa.errors import ContextFloorError
from aaa.messages import Message
from tests.strategies import conversations, policy_specs

COUNTER = HeuristicCounter(1.0, 0, 0)  # a token a character


def asked(number, chars=40):
    return Message("user", f"wish {number}" + "." * chars)


def answered(number, chars=400):
    return Message("assistant", f"answer {number}" + "x" * chars)


def talk(count, chars=40):
    return [Message("user", "task"), *(m for n in range(count) for m in (asked(n, chars), answered(n)))]


def policy_of(strategy, window=3000, **settings):
    settings = {"sticky": True, "keep_recent": 2, "counter": COUNTER} | settings
    return ContextPolicy(window, reserve_output=0, strategies=[strategy], **settings)


def summarising(seen=None):
    def summarize(text, previous):
        (seen if seen is not None else []).append(text)
        return "S"

    return Summarize(summarize=summarize, keep_tokens_ratio=0)


def wishes_in(prompt):
    return [int(m.text.split()[1].split(".")[0]) for m in prompt.messages if m.text.startswith("wish")]


@pytest.mark.parametrize("strategy", [DropOldest(), summarising()])
def test_short_user_messages_stay_where_all_else_goes(strategy):
    messages = talk(7)
    prompt = PromptFitter(policy_of(strategy)).fit_sync(messages)
    assert prompt.plan.applied
    assert wishes_in(prompt) == [0, 1, 2, 3, 4, 5, 6]
    assert sum(m.text.startswith("answer") for m in prompt.messages) < 7


@pytest.mark.parametrize("strategy", [DropOldest(), summarising()])
def test_the_newest_stay_within_a_tenth_of_the_budget(strategy):
    fitter = PromptFitter(policy_of(strategy))
    messages = []
    for turn in range(1, 60):
        messages = talk(turn)
        prompt = fitter.fit_sync(messages)
    wishes = wishes_in(prompt)
    assert wishes == list(range(wishes[0], 59))
    assert len(wishes) >= 6


@pytest.mark.parametrize("strategy", [DropOldest(), summarising()])
def test_a_long_user_message_is_no_rule_and_goes(strategy):
    messages = [Message("user", "task"), asked(0), asked(1, 1100), *talk(30)[1:]]
    prompt = PromptFitter(policy_of(strategy, 15_000)).fit_sync(messages)
    assert messages[1] in prompt.messages
    assert messages[2] not in prompt.messages


def test_what_does_not_fit_into_the_tenth_any_more_is_in_the_next_summary():
    seen = []
    fitter = PromptFitter(policy_of(summarising(seen)))
    for turn in range(1, 60):
        fitter.fit_sync(talk(turn))
    text = "\n".join(seen)
    missing = [n for n in range(59) if f"wish {n}." not in text]
    assert missing == wishes_in(fitter.fit_sync(talk(59)))


def test_without_sticky_drop_oldest_drops_as_documented():
    prompt = PromptFitter(policy_of(DropOldest(), sticky=False)).fit_sync(talk(7))
    assert 0 not in wishes_in(prompt)


def test_the_floor_gives_them_up_last_and_says_so():
    messages = [Message("user", "task"), asked(0), answered(0), asked(1), Message("assistant", "y" * 920)]
    prompt = PromptFitter(policy_of(DropOldest(), 1000)).fit_sync(messages)
    assert prompt.report["floor"][-1] == "users_dropped"
    assert [edit.action for edit in prompt.plan.edits if edit.index in (1, 3)] == ["drop", "drop"]
    assert "left out to save context" in prompt.messages[1].text


@given(conversations(max_turns=8), policy_specs(sticky=True), st.booleans())
def test_no_user_word_is_missing_without_an_edit_and_something_that_stands_for_it(messages, spec, sticky):
    policy = spec.build()
    policy.sticky = sticky
    try:
        prompt = PromptFitter(policy).fit_sync(messages)
    except ContextFloorError as error:
        tail = error.head_tokens + error.tools_tokens + error.tail_tokens
        if not tail == error.needed_tokens > error.budget_tokens:
            pytest.fail(str(error))
        return
    there = {id(m) for m in prompt.messages}
    missing = {n for n, m in enumerate(messages) if m.role == "user" and id(m) not in there}
    dropped = {e.index for e in prompt.plan.edits if e.action == "drop" and e.marked}
    summarised = {n for e in prompt.plan.edits if e.action == "summarize" for n in range(e.index, e.stop)}
    assert missing <= dropped | summarised
    kinds = [m.kind for m in prompt.messages if isinstance(m, Message)]
    assert not missing & dropped or "marker" in kinds
    left_out = any(e.action == "summarize" and e.replacement is None for e in prompt.plan.edits)
    assert not missing - dropped or "summary" in kinds or left_out
