"""Tool results made smaller; everything else is the caller's own."""

import copy
import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aimu
from aaa.errors import WireError
from tests.aimu.talk import any_messages, call, result, turns, user

PLACEHOLDER = "[tool result removed to save context]"


@given(any_messages(), st.integers(0, 5))
def test_only_old_results_are_cleared(messages, keep_last):
    before = copy.deepcopy(messages)
    cleared = aimu.clear_tool_results(messages, keep_last=keep_last)
    assert messages == before
    results = [i for i, m in enumerate(messages) if m["role"] == "tool"]
    old = set(results[: max(len(results) - keep_last, 0)])
    assert len(cleared) == len(messages)
    for index, (new, given_message) in enumerate(zip(cleared, messages, strict=True)):
        if new is not given_message:
            assert index in old
            assert new == {**given_message, "content": cleared_content(given_message["content"])}


def cleared_content(content):
    """A list stays a list; where it was one part, that keeps its own keys, a cache breakpoint among them."""
    if not isinstance(content, list):
        return PLACEHOLDER
    own = content[0] if len(content) == 1 and content[0]["type"] == "text" else {}
    return [{**own, "type": "text", "text": PLACEHOLDER}]


@given(any_messages(), st.sampled_from((1, 40, 300, 8000)))
def test_only_long_results_are_cut(messages, max_chars):
    before = copy.deepcopy(messages)
    cut = aimu.truncate_tool_results(messages, max_chars=max_chars)
    assert messages == before
    for new, given_message in zip(cut, messages, strict=True):
        if new is not given_message:
            assert new["role"] == "tool"
            assert {**new, "content": None} == {**given_message, "content": None}
        if new["role"] == "tool" and isinstance(new["content"], str):
            assert len(new["content"]) <= max_chars


def test_the_last_four_stay_by_default():
    messages = turns(6)
    cleared = aimu.clear_tool_results(messages)
    assert [m["content"] == PLACEHOLDER for m in cleared if m["role"] == "tool"] == [True] * 2 + [False] * 4
    assert all(a is b for a, b in zip(cleared, messages, strict=True) if a["role"] != "tool")


def test_a_result_no_larger_than_the_placeholder_stays():
    messages = [call("a"), result("a", "ok")]
    assert aimu.clear_tool_results(messages, keep_last=0)[1] is messages[1]


def test_another_placeholder_is_used():
    assert aimu.clear_tool_results([call("a"), result("a", "x" * 99)], keep_last=0, placeholder="gone")[1] == result(
        "a", "gone"
    )


def test_a_cut_result_keeps_start_and_end_and_says_what_is_missing():
    (cut,) = aimu.truncate_tool_results([result("a", "A" * 500 + "Z" * 500)], max_chars=100, head=0.5)
    assert cut["content"].startswith("A")
    assert cut["content"].endswith("Z")
    assert "characters cut" in cut["content"]
    assert len(cut["content"]) <= 100


def test_what_no_provider_sees_stays_with_a_changed_result():
    when = datetime.datetime.now(datetime.UTC)
    (cut,) = aimu.truncate_tool_results([result("a", "x" * 99) | {"timestamp": when, "x_mine": 1}], max_chars=10)
    assert cut["timestamp"] is when
    assert cut["x_mine"] == 1
    assert "provenance" not in cut


def test_two_places_of_one_dict_are_changed_each_for_itself():
    same = result("a", "x" * 200)
    messages = [call("a"), same, call("a"), same]
    cleared = aimu.clear_tool_results(messages, keep_last=1)
    assert [m["content"] for m in cleared if m["role"] == "tool"] == [PLACEHOLDER, "x" * 200]
    assert cleared[3] is same


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (lambda: aimu.clear_tool_results([], keep_last=-1), "keep_last must not be negative"),
        (lambda: aimu.clear_tool_results([], placeholder=" "), "placeholder must not be empty"),
        (lambda: aimu.truncate_tool_results([], max_chars=0), "max_chars must be at least 1"),
        (lambda: aimu.truncate_tool_results([], head=2), "head must be between 0 and 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, problem):
    with pytest.raises(ValueError, match=problem):
        wrong()


def test_a_message_that_cannot_be_read_is_named():
    with pytest.raises(WireError, match="message 1"):
        aimu.clear_tool_results([user("1"), {"role": 5}])
