"""Prompts that are valid for a provider as well as small."""

import pytest

from aaa.context import CalibratedCounter, ContextPolicy, HeuristicCounter, PromptFitter
from aaa.errors import ClientSetupError, ContextFloorError
from aaa.messages import Message, ToolCall
from aaa.wire.rules import MISSING_RESULT, rules_for

CALL = ToolCall("a", "read")


def fitted(messages, provider="anthropic", **settings):
    settings = {"reserve_output": 0} | settings
    return PromptFitter(ContextPolicy(settings.pop("window", 4_000), **settings)).fit_sync(messages, provider=provider)


def test_a_valid_conversation_comes_back_as_it_is():
    messages = [Message("user", "hi"), Message("assistant", None, (CALL,)), Message("tool", "r", tool_call_id="a")]
    prompt = fitted(messages)
    assert prompt.messages is messages
    assert prompt.report is None


def test_what_is_changed_is_in_the_plan_and_in_the_report():
    prompt = fitted([Message("user", "hi"), Message("assistant", None, (CALL,)), Message("user", "and?")])
    assert [message.role for message in prompt.messages] == ["user", "assistant", "tool", "user"]
    assert prompt.messages[2].content == MISSING_RESULT
    (repair,) = prompt.plan.repairs
    assert (repair.action, repair.index) == ("added", 1)
    told = {"rule": repair.rule, "action": "added", "index": 1, "detail": repair.detail}
    assert list(prompt.report["repairs"]) == [told]


def test_dicts_stay_the_callers_own_and_new_ones_are_dicts():
    messages = [{"role": "assistant", "content": "hello"}, {"role": "user", "content": "hi", "mine": 1}]
    prompt = fitted(messages)
    assert prompt.messages[0]["role"] == "user"
    assert prompt.messages[1] is messages[0]
    assert prompt.messages[2] is messages[1]


def test_a_policy_may_name_its_provider_itself():
    policy = ContextPolicy(4_000, reserve_output=0, provider="anthropic")
    prompt = PromptFitter(policy).fit_sync([Message("assistant", "hello")])
    assert rules_for("anthropic").violations(prompt.messages) == []


def test_an_unknown_provider_is_named():
    with pytest.raises(ClientSetupError, match="nobody"):
        fitted([Message("user", "hi")], provider="nobody")


@pytest.mark.parametrize("sticky", [True, False])
def test_room_is_made_for_what_a_repair_adds(sticky):
    """Each lost result is answered by a line; the lines alone would be above the budget."""
    talk = [Message("user", "go")]
    for number in range(60):
        talk += [Message("assistant", "x" * 60, (ToolCall(f"c{number}", "look"),)), Message("user", "on")]
    budget = HeuristicCounter().count(talk, ()) + 20
    prompt = fitted(talk, window=budget, trigger=1.0, target=1.0, sticky=sticky)
    assert prompt.plan.tokens_after <= budget
    assert HeuristicCounter().count(prompt.messages, ()) == prompt.plan.tokens_after
    assert rules_for("anthropic").violations(prompt.messages) == []


def test_where_there_is_no_room_the_error_adds_up():
    call = Message("assistant", None, (CALL,))
    with pytest.raises(ContextFloorError) as raised:
        fitted([call], window=HeuristicCounter().count([call], ()), trigger=1.0, target=1.0)
    error = raised.value
    assert error.head_tokens + error.tools_tokens + error.tail_tokens == error.needed_tokens > error.budget_tokens


def test_one_message_that_stands_twice_is_counted_twice():
    empty = Message("user", "")
    prompt = fitted([empty, empty, Message("user", "hi")], "alibaba")
    assert HeuristicCounter().count(prompt.messages, ()) == prompt.plan.tokens_after


def test_the_size_with_repairs_is_rounded_once():
    counter = CalibratedCounter()
    counter.ratios[None] = 0.4
    messages = [Message("system", ""), Message("user", "")]
    for window in range(5, 12):
        try:
            prompt = fitted(messages, "perplexity", window=window, counter=counter, trigger=0.1, target=0.1)
        except ContextFloorError:
            continue
        assert prompt.plan.tokens_after <= window


def test_a_reported_size_and_a_repair_together_stay_within_the_budget():
    fitter = PromptFitter(ContextPolicy(200, reserve_output=0, trigger=0.1, target=0.1, strategies=[]))
    messages = [Message("assistant", None, (CALL,)), Message("system", "be brief")]
    fitter.fit_sync(messages[:1], provider="alibaba")
    fitter.record(90)
    prompt = fitter.fit_sync(messages, provider="alibaba")
    assert prompt.plan.tokens_after <= 200


@pytest.mark.parametrize("provider", [None, "anthropic"])
def test_what_was_reported_is_in_the_size_of_a_prompt_that_extends_it(provider):
    fitter = PromptFitter(ContextPolicy(4_000, reserve_output=0, counter=HeuristicCounter()))
    talk = [Message("user", "x" * 800)]
    sent = fitter.fit_sync(talk, provider=provider).plan
    fitter.record(500)
    grown = fitter.fit_sync([*talk, Message("assistant", "y"), Message("user", "z")], provider=provider).plan
    assert grown.tokens_after == grown.tokens_before == grown.kept_prefix_tokens
    assert grown.tokens_after == 500 + grown.raw_tokens - sent.raw_tokens


def test_after_a_cut_a_prompt_is_no_longer_measured_by_the_report_on_what_it_was():
    settings = {"reserve_output": 0, "trigger": 0.1, "target": 0.1, "keep_recent": 1, "sticky": True}
    fitter = PromptFitter(ContextPolicy(664, counter=HeuristicCounter(), **settings))
    lost = [ToolCall(name, "run", '{"a":1}' * 40) for name in "abcd"]
    talk = [Message("system", "x" * 800), Message("assistant", None, (lost[0],))]
    fitter.fit_sync(talk, provider="mistral")
    fitter.record(1_400)
    grown = [*talk, Message("assistant", "see", tuple(lost[1:])), Message("user", "on")]
    assert fitter.fit_sync(grown, provider="mistral").plan.tokens_after <= 664


def test_with_previous_response_id_a_result_is_no_orphan():
    messages = [Message("tool", "r", tool_call_id="call_1")]
    fitter = PromptFitter(ContextPolicy(8_000))
    chained = fitter.fit_sync(messages, provider="openai-responses", params={"previous_response_id": "resp_1"})
    assert chained.messages is messages
    alone = PromptFitter(ContextPolicy(8_000)).fit_sync(messages, provider="openai-responses")
    assert [message.role for message in alone.messages] != ["tool"]
