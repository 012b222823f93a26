"""How full the window is, and whether a call is under way."""

import asyncio

import pytest

from aaa.context import ContextPolicy, PromptFitter, awaits_results
from aaa.messages import Message, ToolCall

USER = Message("user", "u" * 350)


def called(*ids):
    return Message("assistant", None, tuple(ToolCall(call_id, "read", "{}") for call_id in ids))


def result(call_id):
    return Message("tool", "r", tool_call_id=call_id)


def test_a_window_may_be_more_than_full():
    gauge = PromptFitter(ContextPolicy(50, reserve_output=0)).gauge([USER])
    assert (gauge.tokens, gauge.used_percent, gauge.free_tokens) == (104, 208, -54)
    assert gauge.needs_compaction


def test_what_was_reported_last_counts_and_the_estimate_of_what_is_new():
    fitter = PromptFitter(ContextPolicy(1000, reserve_output=0))
    asyncio.run(fitter.fit([USER]))
    fitter.record(150)
    assert fitter.gauge([USER, Message("assistant", "")]).tokens == 150 + 6  # 4, by the ratio that was learned


def test_an_estimate_that_the_reply_disproves_bounds_nothing():
    wide = PromptFitter(ContextPolicy(10_000_000, reserve_output=0))
    asyncio.run(wide.fit([Message("user", "w" * 3_500_000)]))
    fitter = PromptFitter(ContextPolicy(1000, reserve_output=0), wide.state)
    fitter.record(150)
    assert fitter.state.anchor.reported == 150


def test_only_the_newest_calls_can_be_under_way():
    assert awaits_results([USER, called("a", "b"), result("a")])
    assert not awaits_results([USER, called("a", "b"), result("a"), result("b")])
    assert not awaits_results([USER, called("lost"), USER, called("new"), result("new")])
    assert not awaits_results([USER])
    assert awaits_results([USER, called("ask"), USER])
    assert not awaits_results([USER, called("lost"), USER, Message("assistant", "ok"), USER])


@pytest.mark.parametrize(
    ("prompt", "wanted", "largest", "tokens"),
    [(100, 50, None, 50), (980, 50, None, 20), (900, 500, 64, 64), (2500, 500, None, 0)],
)
def test_output_is_asked_for_as_far_as_there_is_room(prompt, wanted, largest, tokens):
    assert ContextPolicy(1000, reserve_output=0).settings(None).output_for(prompt, wanted, largest=largest) == tokens
