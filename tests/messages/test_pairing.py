"""Which result answers which call."""

import pytest

from aaa.messages import Message, ToolCall, pair
from tests.messages.talk import talk


@pytest.mark.parametrize(
    ("line", "call_of", "unanswered", "orphans"),
    [
        ("", {}, (), ()),
        ("s u a u", {}, (), ()),
        ("u a:x t:x", {2: 1}, (), ()),
        ("u a:x,y t:y t:x", {2: 1, 3: 1}, (), ()),
        ("a:x a:y t:x t:y", {2: 0, 3: 1}, (), ()),
    ],
)
def test_a_result_belongs_to_the_call_of_its_id(line, call_of, unanswered, orphans):
    pairing = pair(talk(line))
    assert (pairing.call_of, pairing.unanswered, pairing.orphans) == (call_of, unanswered, orphans)


def test_a_result_belongs_to_the_nearest_open_call_when_an_earlier_one_was_never_answered():
    pairing = pair(talk("a:x u a:x t:x"))
    assert pairing.call_of == {3: 2}
    assert pairing.unanswered == ((0, "x"),)


def test_an_id_that_comes_back_is_another_call():
    assert pair(talk("a:x t:x a:y t:y a:x t:x")).call_of == {1: 0, 3: 2, 5: 4}


def test_a_recorder_that_writes_one_id_every_turn_is_paired_turn_by_turn():
    pairing = pair(talk("u " + "a:0 t:0 " * 5))
    assert pairing.call_of == {2: 1, 4: 3, 6: 5, 8: 7, 10: 9}
    assert (pairing.unanswered, pairing.orphans) == ((), ())


def test_two_calls_of_one_id_in_one_message_take_two_results():
    pairing = pair(talk("a:x,x t:x t:x"))
    assert pairing.call_of == {1: 0, 2: 0}
    assert (pairing.unanswered, pairing.orphans) == ((), ())


def test_two_calls_of_one_id_with_one_result_leave_one_unanswered():
    assert pair(talk("a:x,x t:x u")).unanswered == ((0, "x"),)


def test_other_messages_between_call_and_result_do_not_separate_them():
    assert pair(talk("a:x u a s t:x")).call_of == {4: 0}


def test_a_result_before_its_call_is_an_orphan_and_the_call_unanswered():
    pairing = pair(talk("t:x a:x u"))
    assert (pairing.call_of, pairing.unanswered, pairing.orphans) == ({}, ((1, "x"),), (0,))


def test_calls_without_results_are_listed_in_order():
    assert pair(talk("a:z,b u a:a")).unanswered == ((0, "b"), (0, "z"), (2, "a"))


def test_results_without_calls_are_listed_in_order():
    assert pair(talk("u t:y a:x t:x t:q")).orphans == (1, 4)


@pytest.mark.parametrize(
    ("line", "call_of"),
    [
        ("a:x t:x t:x", {1: 0, 2: 0}),
        ("a:x,y t:x t:y t:x", {1: 0, 2: 0, 3: 0}),
        ("a:x t:x t:x t:x", {1: 0, 2: 0, 3: 0}),
    ],
)
def test_a_second_result_with_only_results_between_belongs_to_the_call_just_answered(line, call_of):
    pairing = pair(talk(line))
    assert (pairing.call_of, pairing.orphans) == (call_of, ())


@pytest.mark.parametrize("line", ["a:x t:x u t:x", "a:x t:x a t:x", "a:x t:x a:y t:x", "a:x u t:x t:x"])
def test_a_second_result_after_another_message_is_an_orphan(line):
    assert pair(talk(line)).orphans == (3,)


def test_pairing_from_a_start_knows_nothing_of_what_is_before_it_and_keeps_the_indices():
    messages = talk("a:x t:x a:y t:y a:z")
    pairing = pair(messages, start=1)
    assert (pairing.call_of, pairing.unanswered, pairing.orphans) == ({3: 2}, ((4, "z"),), (1,))
    assert pair(messages, start=3).orphans == (3,)
    assert pair(messages, start=5) == pair([])


def test_a_result_without_an_id_belongs_to_a_call_without_one():
    messages = [Message("assistant", None, (ToolCall("", "look"),)), Message("tool", "seen")]
    assert pair(messages).call_of == {1: 0}


def test_only_tool_messages_are_results():
    assert pair([*talk("a:x"), Message("user", "x", tool_call_id="x")]).unanswered == ((0, "x"),)
