"""The policy over plain dicts, at once."""

import asyncio
import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aimu
from aaa.context import ContextPolicy, HeuristicCounter, Plan
from aaa.errors import ContextFloorError, WireError
from aaa.messages import ToolSpec
from aaa.tools import tool
from aaa.wire.openai_chat import message_to_dict, messages_from_dicts
from aimu.context import EstimateCounter
from tests.aimu.fakes import TextModel
from tests.aimu.talk import any_messages, turns, user
from tests.strategies import conversations


@given(any_messages(), st.integers(50, 3000))
def test_what_is_fitted_fits_by_our_own_count(messages, budget):
    before = copy.deepcopy(messages)
    try:
        fitted = aimu.fit_messages(messages, budget)
    except ContextFloorError:
        return
    assert messages == before
    assert fitted is not messages
    assert EstimateCounter().count(messages_from_dicts(fitted)) <= budget
    if not any(isinstance(m["content"], list) for m in fitted if "content" in m):  # the bytes of images do not count
        assert aimu.count_tokens(fitted) <= budget


@given(any_messages(max_turns=4), st.integers(50, 3000))
def test_it_is_the_policy_of_aaa(messages, budget):
    policy = ContextPolicy(budget, reserve_output=0, counter=HeuristicCounter())
    try:
        expected = asyncio.run(policy.prepare(messages)).messages
    except ContextFloorError:
        with pytest.raises(ContextFloorError):
            aimu.fit_messages(messages, budget, counter=HeuristicCounter())
        return
    assert aimu.fit_messages(messages, budget, counter=HeuristicCounter()) == expected


@given(conversations(pinned=False))
def test_the_estimate_as_a_counter_is_never_below_the_estimate(messages):
    plain = [message_to_dict(m) for m in messages if not isinstance(m.content, tuple)]
    assert EstimateCounter().count(messages_from_dicts(plain)) >= aimu.count_tokens(plain)


def test_the_bytes_of_an_image_count_nothing():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    messages = [user([{"type": "text", "text": "what is this?"}, image])]
    assert aimu.fit_messages(messages, 200) == messages


def test_a_small_conversation_comes_back_as_it_is():
    messages = turns(2)
    fitted = aimu.fit_messages(messages, 10_000)
    assert fitted is not messages
    assert all(a is b for a, b in zip(fitted, messages, strict=True))


def test_the_plan_is_what_would_be_done_as_data():
    messages = turns(20)
    plan = aimu.fit_messages(messages, 1_500, plan=True)
    assert isinstance(plan, Plan)
    assert plan.tokens_before > 1_500 >= plan.tokens_after
    assert plan.applied[0].startswith("clear_tool_results")
    assert {edit.action for edit in plan.edits} <= {"replace", "drop", "insert"}


def test_with_a_client_the_oldest_is_summarised():
    model = TextModel("read many pages")
    fitted = aimu.fit_messages(turns(40), 2_500, client=model)
    assert any("read many pages" in str(m["content"]) for m in fitted)
    assert model.prompts


def test_tools_count_in_every_form():
    messages = turns(6)

    @tool
    def read(path: str) -> str:
        """Read a file."""
        return path

    as_dict = {"type": "function", "function": {"name": "read", "description": "x" * 2000, "parameters": {}}}
    for tools in ([read], [read.spec], [as_dict], [ToolSpec("read")]):
        plan = aimu.fit_messages(messages, 10_000, tools=tools, plan=True)
        assert plan.tokens_before > aimu.fit_messages(messages, 10_000, plan=True).tokens_before


def test_a_function_of_a_text_may_count():
    messages = turns(20)
    fitted = aimu.fit_messages(messages, 6_000, counter=len, tools=[ToolSpec("read")])
    assert aimu.count_tokens(fitted, counter=len) <= 6_000


def test_what_cannot_fit_says_so_with_numbers():
    with pytest.raises(ContextFloorError) as raised:
        aimu.fit_messages([user("x" * 10_000)], 100)
    assert raised.value.budget_tokens == 100


def test_a_message_that_cannot_be_read_is_named():
    with pytest.raises(WireError, match="message 1"):
        aimu.fit_messages([user("1"), {"content": "no role"}], 1_000)
