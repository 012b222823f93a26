"""Compactions that do not help are held back: too soon after the last one, or for too little."""

import asyncio

import pytest

from aaa.context import (
    ClearToolResults,
    ContextPolicy,
    DropOldest,
    FitterState,
    HeuristicCounter,
    PromptFitter,
    Summarize,
    SummaryBook,
)
from aaa.context.breaker import Breaker, Futile, least_gain
from aaa.messages import Message, ToolCall

COUNTER = HeuristicCounter(1.0, 0, 0)  # a token a character


class Summarizer:
    """Answers with `text`, and counts how often it was asked."""

    def __init__(self, text="S", *, fails=False):
        self.text = text
        self.fails = fails
        self.calls = 0

    def __call__(self, text, previous):
        self.calls += 1
        if self.fails:
            raise OSError("gone")
        return self.text


def said(chars, name="x"):
    return Message("user", name * chars)


def policy_of(summarizer, *others, window=1000, keep_recent=1, **settings):
    strategies = [Summarize(summarize=summarizer, keep_tokens_ratio=0), *others]
    return ContextPolicy(
        window, reserve_output=0, strategies=strategies, counter=COUNTER, keep_recent=keep_recent, **settings
    )


def turns(chars, count):
    return [said(10, "t"), *(said(chars, "abcdefghijklmnopqrstuvwxyz"[n % 26]) for n in range(count))]


@pytest.mark.parametrize("sticky", [False, True])
def test_there_is_at_most_one_summary_in_three_calls_while_the_prompt_fits(sticky):
    summarizer = Summarizer()
    fitter = PromptFitter(policy_of(summarizer, trigger=0.3, target=0.05, sticky=sticky))
    asked = []
    for length in range(4, 24):
        before = summarizer.calls
        prompt = fitter.fit_sync(turns(120, length))
        asked.append(summarizer.calls > before)
        assert prompt.plan.tokens_after <= 1000
        if not asked[-1] and prompt.plan.tokens_before > 300 and prompt.plan.held_back:
            assert prompt.report["held_back"][0].startswith("summarize: the last summary was ")
    assert any(asked)
    assert not any(sum(asked[n : n + 3]) > 1 for n in range(len(asked)))


def test_a_summary_is_written_before_its_time_where_the_prompt_would_not_fit():
    summarizer = Summarizer()
    fitter = PromptFitter(policy_of(summarizer))
    fitter.fit_sync(turns(300, 3))
    fitter.fit_sync(turns(300, 7))
    assert summarizer.calls == 2


def test_nothing_is_dropped_only_to_fill_the_wait():
    fitter = PromptFitter(policy_of(Summarizer(), DropOldest(), trigger=0.5, target=0.3))
    fitter.fit_sync(turns(200, 5))
    prompt = fitter.fit_sync(turns(200, 8))
    assert prompt.plan.held_back
    assert [m.text for m in prompt.messages[-3:]] == [m.text for m in turns(200, 8)[-3:]]


def test_a_summary_that_freed_too_little_is_not_asked_for_again_until_the_prompt_has_grown():
    summarizer = Summarizer("s" * 200)
    fitter = PromptFitter(policy_of(summarizer, trigger=0.3, target=0.1))
    start = [said(10, "t"), said(260, "a"), said(300, "b")]
    fitter.fit_sync(start)  # 260 become 237: 23 of 1,000
    assert summarizer.calls == 1
    assert fitter.state.breaker.futile == (Futile("summarize", 23, 547),)
    messages = start
    for number in range(8):
        messages = [*messages, said(5, "cdefghijk"[number])]
        prompt = fitter.fit_sync(messages)
    assert summarizer.calls == 1
    assert prompt.report["held_back"] == [
        "summarize: freed 23 tokens the last time, and the prompt has grown by 40 since"
    ]
    fitter.fit_sync([*messages, said(60, "z")])
    assert summarizer.calls == 2


def test_the_next_strategy_is_taken_where_one_is_held_back_for_too_little():
    fitter = PromptFitter(policy_of(Summarizer("s" * 200), DropOldest(), trigger=0.3, target=0.25, sticky=True))
    fitter.fit_sync([said(10, "t"), said(260, "a"), said(20, "b"), said(300, "c")])
    messages = [said(10, "t"), said(260, "a"), said(20, "b"), said(300, "c"), said(9, "d")]
    prompt = fitter.fit_sync(messages)
    assert prompt.plan.tokens_after <= 1000


def test_a_summarizer_that_fails_is_not_asked_at_every_call():
    summarizer = Summarizer(fails=True)
    policy, book = policy_of(summarizer, trigger=0.3, target=0.1), SummaryBook()
    for length in range(4, 10):
        prepared = asyncio.run(policy.prepare(turns(90, length), book=book))
        assert prepared.messages == turns(90, length)
    assert 1 <= summarizer.calls <= 2
    assert book.records == []


def test_a_sticky_edit_that_frees_too_little_waits():
    def turn(number, chars):
        call = ToolCall(str(number), "read")
        return [Message("assistant", None, (call,)), Message("tool", "r" * chars, (), str(number))]

    policy = ContextPolicy(
        1000,
        reserve_output=0,
        strategies=[ClearToolResults(0, "-")],
        counter=HeuristicCounter(1.0, 0, 0),
        keep_recent=1,
        trigger=0.5,
        target=0.1,
        sticky=True,
    )
    fitter = PromptFitter(policy)
    messages, cleared = [said(600, "t")], 0
    for number in range(16):
        messages += turn(number, 20)
        prompt = fitter.fit_sync(messages)
        cleared += bool(prompt.plan.applied)
    assert cleared <= 8  # of 16: a turn brings 26 tokens, and 50 must have come
    assert prompt.plan.tokens_after <= 1000


def test_the_recomputed_default_is_exempt():
    policy, book = ContextPolicy(1000, reserve_output=0, counter=COUNTER, trigger=0.3, target=0.2), SummaryBook()
    for length in range(5, 12):
        prepared = asyncio.run(policy.prepare(turns(100, length), book=book))
        assert "held_back" not in (prepared.report or {})
    assert book.breaker == Breaker()


def test_after_an_overflow_nothing_is_held_back():
    summarizer = Summarizer()
    fitter = PromptFitter(policy_of(summarizer, trigger=0.3, target=0.2))
    fitter.fit_sync(turns(120, 5))
    fitter.fit_sync(turns(120, 7), pressure=0.5)
    assert summarizer.calls == 2


def test_a_saved_state_holds_back_as_the_fitter_does():
    def outcomes(*, reload):
        policy = policy_of(Summarizer(), DropOldest(), trigger=0.3, target=0.05, sticky=True)
        fitter = PromptFitter(policy)
        for length in range(4, 20):
            yield fitter.fit_sync(turns(100, length)).plan
            if reload:
                fitter = PromptFitter(policy, FitterState.from_json(fitter.state.to_json()))

    assert list(outcomes(reload=False)) == list(outcomes(reload=True))


def test_a_plan_that_is_not_used_counts_for_nothing():
    policy, book = policy_of(Summarizer(), trigger=0.3, target=0.1), SummaryBook()
    asyncio.run(policy.plan(turns(120, 5), book=book))
    assert book.breaker == Breaker()


def test_the_count_of_calls_ends_when_it_says_nothing_any_more():
    breaker = Breaker().after(has_asked=True, gains={"summarize": 500}, raw_tokens=900, least_tokens=50)
    assert (breaker.since_summary, breaker.futile) == (0, ())
    quiet = {"has_asked": False, "gains": {}, "raw_tokens": 900, "least_tokens": 50}
    assert breaker.too_soon()
    assert breaker.after(**quiet).too_soon()
    assert breaker.after(**quiet).after(**quiet) == Breaker()
    assert least_gain(8_000) == 400
