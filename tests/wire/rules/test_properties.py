"""Any conversation, any provider: what a repair leaves, keeps, and reports; where it is safe to cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.messages import Message, pair
from aaa.wire.rules import MISSING_RESULT, Rules
from aaa.wire.rules.answers import answers
from tests.strategies import conversations
from tests.wire.rules.checks import assert_cuts_are_safe, assert_repair_is_right, repairable
from tests.wire.rules.histories import histories
from tests.wire.rules.profiles import EACH_RULE, PROFILES

any_profile = st.sampled_from(sorted(PROFILES)).map(PROFILES.__getitem__)
any_rule = st.sampled_from(sorted(EACH_RULE)).map(EACH_RULE.__getitem__)
any_conversation = st.one_of(conversations(max_chars=100), histories())


@pytest.mark.parametrize("half", [0, 1])  # each profile is drawn in one of them, whatever hypothesis likes best
@given(data=st.data())
def test_a_repair_leaves_no_violation_loses_no_word_and_changes_nothing_twice(half, data):
    names = sorted(PROFILES)[half::2]
    assert_repair_is_right(PROFILES[data.draw(st.sampled_from(names))], data.draw(any_conversation))


@given(any_rule, any_conversation)
def test_each_rule_alone_is_right_too(rule, messages):
    repaired, _ = rule.repair(messages)
    assert repairable(rule.violations(repaired)) == []
    again, none = rule.repair(repaired)
    assert none == []
    assert all(one is two for one, two in zip(again, repaired, strict=True))


@given(any_profile, any_conversation)
def test_a_safe_cut_breaks_nothing(rules, messages):
    assert_cuts_are_safe(rules, messages)


@given(any_profile, any_conversation, st.integers(0, 9), st.integers(0, 9))
def test_an_edit_is_repaired_like_everything_else(rules, messages, start, length):
    repaired, repairs = rules.repair(messages, edited_from=start, edited_until=start + length)
    assert repairable(rules.violations(repaired)) == []
    assert rules.repair(messages, edited_from=start, edited_until=start + length) == (repaired, repairs)
    again, none = rules.repair(repaired)
    assert (again, none) == (repaired, [])


@given(any_profile, any_conversation)
def test_what_was_repaired_stays_so_when_the_conversation_goes_on(rules, messages):
    """The prefix of the later request is the earlier request, so that it is read from the cache."""
    asked = [*messages, Message("user", "and now?")]
    before, _ = rules.repair(asked)
    later, _ = rules.repair(
        [*asked, Message("assistant", "this", extra='{"reasoning_content":""}'), Message("user", "x")]
    )
    assert later[: len(before)] == before


@given(any_profile, any_conversation)
def test_messages_that_are_in_no_repair_are_the_same_objects(rules, messages):
    repaired, repairs = rules.repair(messages)
    named = {repair.index for repair in repairs}
    kept = {id(message) for message in repaired}
    merged = {int(repair.detail.removeprefix("into ")) for repair in repairs if repair.action == "merged"}
    assert all(id(messages[index]) in kept for index in range(len(messages)) if index not in named | merged)


@given(any_conversation)
def test_one_call_has_one_result_and_each_belongs_where_pairing_says(messages):
    found = answers(messages)
    assert len(set(found.results.values())) == len(found.results)
    assert all(messages[index].role == "tool" for index in found.owners)
    if not any(message.content == MISSING_RESULT for message in messages):
        assert found.owners == pair(messages).call_of


def test_there_are_no_two_profiles_with_one_name_and_no_rule_without_one():
    assert all(rule.name for rules in PROFILES.values() for rule in rules.rules)
    assert isinstance(PROFILES["anthropic"], Rules)
