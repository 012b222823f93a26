"""What is pinned stays as it is, whoever says so."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.context import (
    ClearToolResults,
    ContextPolicy,
    DropOldest,
    FitterState,
    HeuristicCounter,
    PromptFitter,
    Summarize,
    SummaryBook,
    TruncateToolResults,
)
from aaa.errors import ContextFloorError
from aaa.messages import Message, ToolCall, pair
from tests.strategies import conversations, policy_specs

RULE = "RULE-7: no network."


def is_rule(message):
    return message.text.startswith("RULE")


def strategies_of(name):
    summarize = Summarize(summarize=lambda text, previous: "S", keep_tokens_ratio=0)
    return {"truncate": TruncateToolResults(20), "clear": ClearToolResults(0), "drop": DropOldest()}.get(
        name, summarize
    )


def turns(count):
    messages = [Message("user", "task")]
    for number in range(count):
        call = ToolCall(str(number), "read")
        messages += [Message("assistant", None, (call,)), Message("tool", "x" * 200, (), str(number))]
    return messages


def policy_of(*names, window=400, **settings):
    chosen = [strategies_of(name) for name in names]
    return ContextPolicy(window, reserve_output=0, strategies=chosen, counter=HeuristicCounter(), **settings)


@pytest.mark.parametrize(
    "names", [(), ("truncate",), ("clear",), ("summarize",), ("drop",), ("clear", "summarize", "drop")]
)
@pytest.mark.parametrize("sticky", [False, True])
def test_a_message_that_the_policy_pins_is_in_every_prompt_once(names, sticky):
    policy, book = policy_of(*names, pin=is_rule, sticky=sticky), SummaryBook()
    messages = [Message("user", "task"), Message("user", RULE), *turns(20)[1:]]
    for length in range(2, len(messages) + 1):
        prompt = asyncio.run(policy.prepare(messages[:length], book=book)).messages
        assert [m for m in prompt if m is messages[1]] == [messages[1]]
    assert messages[1].pinned is False


def test_a_result_that_the_policy_pins_stays_with_its_call():
    messages = turns(12)
    messages[4] = Message("tool", RULE + "!" * 150, (), "1")
    prompt = asyncio.run(policy_of("clear", "drop", pin=is_rule).prepare(messages)).messages
    assert prompt[1] is messages[3] or prompt[2] is messages[3]
    assert any(m is messages[4] for m in prompt)


def test_the_plan_of_a_policy_that_pins_applies_to_the_callers_own_list():
    policy, messages = policy_of("drop", pin=is_rule), [*turns(1), Message("user", RULE), *turns(9)[1:]]
    prepared = asyncio.run(policy.prepare(messages))
    assert prepared.plan.apply(messages) == list(prepared.messages)
    assert not any(m.pinned for m in prepared.messages)


def test_a_list_that_grows_is_pinned_as_it_grows_and_its_beginning_is_not_looked_at_again():
    seen = []
    policy = policy_of("drop", window=10_000, pin=lambda message: bool(seen.append(message)))
    fitter = PromptFitter(policy)
    messages = turns(5)
    for length in range(1, len(messages) + 1):
        fitter.fit_sync(messages[:length])
    assert len(seen) == len(messages)


def test_a_dict_says_that_it_is_pinned_and_the_key_is_not_sent():
    messages = [{"role": "user", "content": "task"}, {"role": "user", "content": RULE, "pinned": True, "own": 1}]
    messages += [{"role": "assistant", "content": f"{n}" * 300} for n in range(9)]
    prompt = asyncio.run(policy_of("drop").prepare(messages)).messages
    assert {"role": "user", "content": RULE, "own": 1} in prompt
    assert prompt[0] is messages[0]
    assert prompt[-1] is messages[-1]
    assert messages[1]["pinned"] is True


@pytest.mark.parametrize("value", [True, False])
def test_the_key_is_not_sent_where_nothing_is_to_be_done_either(value):
    messages = [{"role": "user", "content": "hi", "pinned": value}, {"role": "assistant", "content": "ho"}]
    prompt = asyncio.run(policy_of().prepare(messages)).messages
    assert prompt == [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    assert prompt[1] is messages[1]


def test_a_key_of_that_name_that_says_something_else_is_the_callers_own():
    messages = [{"role": "user", "content": "hi", "pinned": "by ann"}]
    assert asyncio.run(policy_of().prepare(messages)).messages is messages


@given(conversations(pinned=False), policy_specs(), st.integers(0, 6))
def test_whatever_a_policy_pins_is_there_unchanged_and_in_order(messages, spec, every):
    chosen = {id(m) for n, m in enumerate(messages) if n % 7 == every}
    policy = spec.build()
    policy = ContextPolicy(
        spec.window,
        reserve_output=spec.reserve,
        strategies=policy.strategies,
        counter=policy.counter,
        sticky=spec.sticky,
        keep_recent=spec.keep_recent,
        pin=lambda message: id(message) in chosen,
    )
    fitter = PromptFitter(policy)
    try:
        prompt = fitter.fit_sync(messages)
    except ContextFloorError:
        return
    rest = iter(prompt.messages)
    assert all(any(mine is m for mine in rest) for m in messages if id(m) in chosen)
    assert len(pair(prompt.messages).orphans) <= len(pair(messages).orphans)
    again = PromptFitter(policy, FitterState.from_json(fitter.state.to_json()))
    assert again.fit_sync(messages).messages is not None
