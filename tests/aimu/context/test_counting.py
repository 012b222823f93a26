"""Counting, by the estimate and by anything else."""

import copy
import datetime
import doctest

import pytest
from hypothesis import given

import aimu
import aimu.context.counting
from aaa.context import CalibratedCounter, HeuristicCounter
from aaa.errors import WireError
from aaa.messages import Message
from tests.aimu.talk import any_messages, assistant, call, result, specified_text, user


@given(any_messages())
def test_the_estimate_is_a_quarter_of_the_text_of_the_messages(messages):
    assert aimu.count_tokens(messages) == len(specified_text(messages)) // 4


@given(any_messages())
def test_counting_changes_nothing(messages):
    before = copy.deepcopy(messages)
    aimu.count_tokens(messages)
    aimu.count_tokens(messages, counter=HeuristicCounter())
    assert messages == before


def test_the_example_is_right():
    assert doctest.testmod(aimu.context.counting) == (0, 1)


def test_nothing_has_no_tokens():
    assert aimu.count_tokens([]) == 0


def test_what_no_provider_sees_does_not_count_whatever_it_is():
    dressed = user("hello") | {
        "timestamp": datetime.datetime.now(datetime.UTC),
        "thinking": "x" * 999,
        "provenance": {},
    }
    assert aimu.count_tokens([dressed]) == aimu.count_tokens([user("hello")])


def test_the_order_of_keys_does_not_matter():
    assert aimu.count_tokens([{"content": "é", "role": "user"}]) == aimu.count_tokens(
        [{"role": "user", "content": "é"}]
    )


def test_text_beyond_ascii_counts_as_its_escapes():
    assert aimu.count_tokens([user("é" * 40)]) - aimu.count_tokens([user("e" * 40)]) == 50


def test_a_function_is_given_the_whole_text_once():
    texts = []
    messages = [user("one two"), assistant("three") | {"timestamp": 1}]

    def words(text):
        texts.append(text)
        return len(text.split())

    assert aimu.count_tokens(messages, counter=words) == len(specified_text(messages).split())
    assert texts == [specified_text(messages)]


def test_a_counter_of_aaa_counts_messages():
    messages = [user("hello"), call("1"), result("1") | {"timestamp": object()}]
    same = [user("hello"), call("1"), result("1")]
    assert aimu.count_tokens(messages, counter=HeuristicCounter()) == aimu.count_tokens(
        same, counter=HeuristicCounter()
    )
    assert aimu.count_tokens([user("hello")], counter=HeuristicCounter()) == 4 + 2


def test_a_calibrated_counter_counts_calibrated():
    counter = CalibratedCounter()
    counter.observe(None, 100, 200)
    assert aimu.count_tokens([user("hello")], counter=counter) == 12


def test_what_cannot_count_is_refused():
    with pytest.raises(TypeError, match="counter must be a function of a text"):
        aimu.count_tokens([user("hello")], counter=4)


def test_an_object_of_an_sdk_inside_a_message_counts_as_the_data_it_holds():
    class Call:
        def model_dump(self, **_):
            return {"id": "1"}

    held, plain = assistant(None) | {"tool_calls": [Call()]}, assistant(None) | {"tool_calls": [{"id": "1"}]}
    assert aimu.count_tokens([held]) == aimu.count_tokens([plain])


@pytest.mark.parametrize("wrong", [user({1, 2}), user(object()), {"role": "user", 1: "a", "b": 2}, Message("user"), 4])
def test_a_message_that_is_no_json_is_named(wrong):
    with pytest.raises(WireError, match="message 1: "):
        aimu.count_tokens([user("hello"), wrong])


@pytest.mark.parametrize(
    ("counter", "expected"),
    [
        (str.split, "must return how many tokens a text has, got list"),
        (HeuristicCounter, "must be a function of a text .* got <class"),
        ("cl100k_base", "must be a function of a text"),
    ],
    ids=["tokens", "a class", "a name"],
)
def test_a_counter_that_does_not_count_is_refused(counter, expected):
    messages = [user("one two"), assistant("three"), user("four")]
    for function in (aimu.count_tokens, lambda m, counter: aimu.trim_messages(m, 1, counter=counter)):
        with pytest.raises(TypeError, match=expected):
            function(messages, counter=counter)


def test_a_counter_may_return_any_number():
    assert aimu.count_tokens([user("one two")], counter=lambda text: len(text) / 2) == 19.0
