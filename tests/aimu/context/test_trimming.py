"""Trimming: as little as needed, groups whole, what must stay stays."""

import copy
import logging
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aimu
from aaa.context import CalibratedCounter, HeuristicCounter, groups
from aaa.wire.openai_chat import messages_from_dicts
from aimu.context.layout import layout_of
from tests.aimu.talk import any_messages, assistant, call, result, subsequence_of, system, turns, user
from tests.strategies import JoinedCounter


def calibrated():
    counter = CalibratedCounter()
    counter.observe(None, 100, 77)
    return counter


COUNTERS = {
    "estimate": lambda: None,
    "text": lambda: lambda text: 3 + len(text) // 5,
    "words": lambda: lambda text: len(text.split()),
    "uneven": lambda: lambda text: len(text) % 97,  # not even growing with the text
    "heuristic": HeuristicCounter,
    "calibrated": calibrated,
    "joined": JoinedCounter,
}


@st.composite
def cases(draw):
    """Any messages, a budget around their size, and settings."""
    messages = draw(any_messages())
    counter = COUNTERS[draw(st.sampled_from(sorted(COUNTERS)))]()
    whole = aimu.count_tokens(messages, counter=counter)
    budget = draw(st.one_of(st.integers(-1, whole + 1), st.just(0)))
    settings = {"keep_last": draw(st.integers(0, 6)), "keep_system": draw(st.booleans()), "counter": counter}
    return messages, budget, settings


def is_kept_system(message, settings):
    return settings["keep_system"] and message["role"] in ("system", "developer")


@given(cases())
def test_the_result_is_a_subsequence_once_system_messages_are_in_front(case):
    messages, budget, settings = case
    before = copy.deepcopy(messages)
    trimmed = aimu.trim_messages(messages, budget, **settings)
    assert messages == before
    assert trimmed is not messages
    front = [m for m in messages if is_kept_system(m, settings)]
    rest = [m for m in messages if not is_kept_system(m, settings)]
    if len(trimmed) == len(messages):
        assert all(a is b for a, b in zip(trimmed, messages, strict=True))
    else:
        assert all(a is b for a, b in zip(trimmed, front, strict=False))
        assert subsequence_of(trimmed[len(front) :], rest)


@given(cases())
def test_groups_are_never_split_and_go_oldest_first(case):
    messages, budget, settings = case
    kept = {id(m) for m in aimu.trim_messages(messages, budget, **settings)}
    fates = []
    for start, end in groups(messages_from_dicts(messages)):
        fate = {id(m) in kept for m in messages[start:end] if not is_kept_system(m, settings)}
        assert len(fate) < 2
        fates += fate
    assert fates == sorted(fates)


@given(cases())
def test_the_last_messages_and_system_messages_stay(case):
    messages, budget, settings = case
    kept = {id(m) for m in aimu.trim_messages(messages, budget, **settings)}
    rest = [m for m in messages if not is_kept_system(m, settings)]
    assert all(id(m) in kept for m in messages if is_kept_system(m, settings))
    assert all(id(m) in kept for m in rest[len(rest) - min(settings["keep_last"], len(rest)) :])


@given(cases())
def test_trimming_twice_is_trimming_once(case):
    messages, budget, settings = case
    once = aimu.trim_messages(messages, budget, **settings)
    twice = aimu.trim_messages(once, budget, **settings)
    assert len(once) == len(twice)
    assert all(a is b for a, b in zip(once, twice, strict=True))


@given(cases())
def test_it_fits_or_nothing_more_may_go(case):
    messages, budget, settings = case
    trimmed = aimu.trim_messages(messages, budget, **settings)
    layout = layout_of(messages, keep_last=settings["keep_last"], keep_system=settings["keep_system"])
    must_stay = len(layout.front) + len(layout.tail)
    assert aimu.count_tokens(trimmed, counter=settings["counter"]) <= budget or len(trimmed) == must_stay


@given(cases())
def test_no_less_could_have_been_dropped(case):
    """With the newest of the dropped groups put back it would not fit."""
    messages, budget, settings = case
    trimmed = aimu.trim_messages(messages, budget, **settings)
    layout = layout_of(messages, keep_last=settings["keep_last"], keep_system=settings["keep_system"])
    kept = Counter(map(id, trimmed))
    gone = sum(1 for group in layout.groups if id(messages[group[0]]) not in kept)
    assert [messages[i] for i in layout.without(gone)] == trimmed
    if gone:
        more = [messages[i] for i in layout.without(gone - 1)]
        assert aimu.count_tokens(more, counter=settings["counter"]) > budget


@pytest.mark.parametrize("counter", [len, JoinedCounter()])
def test_a_counter_of_whole_texts_is_asked_a_logarithm_of_times(counter):
    asked = []

    def counted(text):
        asked.append(text)
        return len(text)

    class Counted(JoinedCounter):
        def count(self, messages, tools=()):
            asked.append(messages)
            return super().count(messages, tools)

    messages = turns(512, chars=10)
    used = counted if callable(counter) else Counted()
    aimu.trim_messages(messages, aimu.count_tokens(messages, counter=counter) // 2, counter=used)
    assert 2 <= len(asked) <= 12
    asked.clear()
    aimu.trim_messages(messages, 10**9, counter=used)
    assert len(asked) == 1


def test_a_conversation_as_large_as_the_budget_fits():
    messages = [user("x" * 40) for _ in range(5)]
    for kept in range(2, 6):
        assert aimu.trim_messages(messages, aimu.count_tokens(messages[:kept])) == messages[:kept]


@pytest.mark.parametrize("counter", [None, len, HeuristicCounter(), calibrated(), JoinedCounter()])
def test_a_conversation_with_images_fits_when_its_count_does(counter):
    url = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAA="
    image = {"type": "image_url", "image_url": {"url": url}}
    messages = [user([image] * 3), assistant("seen"), user("next")]
    assert aimu.trim_messages(messages, aimu.count_tokens(messages, counter=counter), counter=counter) == messages


def test_a_result_that_came_late_goes_and_stays_with_its_call():
    messages = [user("go"), call("a"), user("hurry"), result("a"), assistant("done"), user("next")]
    assert aimu.trim_messages(messages, 1, keep_last=2) == messages[4:]
    assert aimu.trim_messages(messages, 1, keep_last=3) == messages[1:]


def test_an_id_that_comes_back_pairs_with_its_nearest_call():
    messages = [call("0"), result("0"), call("0"), result("0"), user("next")]
    assert aimu.trim_messages(messages, 1, keep_last=2) == messages[2:]


def test_a_call_without_result_and_a_result_without_call_stand_alone():
    messages = [call("a"), user("hm"), result("lost"), user("next")]
    assert aimu.trim_messages(messages, 1, keep_last=1) == messages[3:]
    assert aimu.trim_messages(messages, 1, keep_last=2) == messages[2:]


def test_system_messages_come_first_in_their_order_when_anything_is_dropped():
    messages = [system("1"), user("x" * 400), system("2"), user("next")]
    assert aimu.trim_messages(messages, 60) == messages
    small = aimu.trim_messages(messages, 60, keep_last=1)
    assert small == [messages[0], messages[2], messages[3]]


def test_without_keep_system_a_system_message_may_go():
    messages = [system("x" * 400), user("next")]
    assert aimu.trim_messages(messages, 60, keep_last=1, keep_system=False) == messages[1:]


def test_what_must_stay_is_returned_with_a_warning_of_both_numbers(caplog):
    messages = [user("a" * 400), user("b" * 400)]
    with caplog.at_level(logging.WARNING, "aimu.context"):
        assert aimu.trim_messages(messages, 50, keep_last=1) == messages[1:]
    (record,) = caplog.records
    assert str(aimu.count_tokens(messages[1:])) in record.getMessage()
    assert "the limit is 50" in record.getMessage()


def test_a_conversation_that_fits_says_nothing(caplog):
    assert aimu.trim_messages([user("a")], 50) == [user("a")]
    assert aimu.trim_messages([], 0) == []
    assert not caplog.records
