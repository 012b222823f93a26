"""Text cut to its start and end."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.context.shorten import most, shortened
from aaa.messages import OpaquePart, TextPart

TEXT = "".join(f"<{number:05}>" for number in range(1500))  # 10,500 characters, no two places alike
IMAGE = OpaquePart("image_url", "{}" * 500)
NOTE = re.compile(r"\n\[\.\.\. ([\d,]+) characters cut \.\.\.\]\n")


def texts_of(parts):
    return [part.text for part in parts if isinstance(part, TextPart)]


@pytest.mark.parametrize("text", ["", "a", "a" * 100])
def test_text_that_is_short_enough_is_returned_itself(text):
    assert shortened(text, 100) is text


def test_parts_that_are_short_enough_together_are_returned_themselves():
    parts = (TextPart("a" * 60), IMAGE, TextPart("b" * 40))
    assert shortened(parts, 100) is parts


@pytest.mark.parametrize("max_chars", [40, 50, 99, 100, 101, 500, 1000, 1500, 5000, 9999, 10_000, 10_400, 10_499])
@pytest.mark.parametrize("head", [0.0, 0.3, 0.7, 1.0])
def test_cut_text_is_never_longer_than_asked_for_and_wastes_little(max_chars, head):
    cut = shortened(TEXT, max_chars, head)
    assert max_chars - 2 <= len(cut) <= max_chars


@pytest.mark.parametrize("max_chars", [60, 100, 1000, 9500, 10_480])
@pytest.mark.parametrize("head", [0.0, 0.3, 0.7, 1.0])
def test_the_start_and_the_end_are_kept_and_the_note_says_how_much_is_missing(max_chars, head):
    start, missing, end = NOTE.split(shortened(TEXT, max_chars, head))
    assert TEXT.startswith(start)
    assert TEXT.endswith(end)
    assert int(missing.replace(",", "")) == len(TEXT) - len(start) - len(end)
    assert len(start) == int((len(start) + len(end)) * head)


@pytest.mark.parametrize("max_chars", range(40))
def test_a_cap_too_small_for_the_note_keeps_the_start(max_chars):
    cut = shortened(TEXT, max_chars)
    assert len(cut) <= max_chars
    assert TEXT.startswith(cut) or NOTE.search(cut)


@pytest.mark.parametrize("max_chars", [0, 5, 40, 100, 1000, 10_499])
def test_cutting_again_changes_nothing(max_chars):
    cut = shortened(TEXT, max_chars)
    assert shortened(cut, max_chars) is cut
    parts = shortened((TextPart(TEXT), IMAGE, TextPart(TEXT)), max_chars)
    assert shortened(parts, max_chars) is parts


@pytest.mark.parametrize("length", [101, 131, 135, 1031, 1100, 10_030, 100_100])
def test_a_note_whose_number_gains_digits_stays_within_the_cap(length):
    assert len(shortened("x" * length, 100)) <= 100


def test_the_longest_of_several_text_parts_are_cut_to_one_length():
    short, long, longer = TextPart("a" * 50), TextPart(TEXT[:2000]), TextPart(TEXT)
    first, second, third = texts_of(shortened((short, long, longer), 1050))
    assert first == short.text
    assert 498 <= len(second) == len(third) <= 500


def test_parts_together_are_never_longer_than_asked_for():
    for count in (1, 2, 3, 7):
        for max_chars in (0, 10, 99, 100, 1000):
            parts = shortened(tuple(TextPart(TEXT) for _ in range(count)), max_chars)
            assert sum(map(len, texts_of(parts))) <= max_chars


def test_a_part_that_is_short_enough_and_one_that_is_no_text_stay_the_same_objects():
    short = TextPart("a")
    parts = shortened((short, IMAGE, TextPart(TEXT)), 200)
    assert parts[0] is short
    assert parts[1] is IMAGE


def test_what_a_part_carries_besides_its_text_is_kept():
    (part,) = shortened((TextPart(TEXT, '{"cache_control":{}}'),), 200)
    assert part.extra == '{"cache_control":{}}'
    assert len(part.text) <= 200


@given(st.integers(0, 40), st.integers(0, 50))
def test_the_most_that_holds_is_found_without_asking_for_much_more(total, limit):
    asked = []

    def holds(number):
        asked.append(number)
        return number <= limit

    assert most(total, holds) == min(total, limit)
    assert max(asked, default=0) <= max(2 * limit, 1)
