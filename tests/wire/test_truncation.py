"""A server that cuts a prompt without a word is found out, and one that is only frugal with its counts is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.messages import Usage
from aaa.wire.truncation import NOTHING_SEEN, seen, silent_truncation


def called(calls, *, cached_reported=False, window=None):
    """The overflow found at each call, given (estimate, read) of each."""
    found, state = [], NOTHING_SEEN
    for estimate, read in calls:
        usage = Usage(read, 40)
        overflow = silent_truncation(estimate, usage, cached_reported=cached_reported, window=window, before=state)
        state = seen(state, estimate, usage, is_cut=overflow is not None)
        found.append(overflow)
    return found


def is_found(calls, **more):
    return [overflow is not None for overflow in called(calls, **more)]


def test_half_a_window_and_a_few_tokens_is_what_ollama_leaves():
    (overflow,) = called([(15_750, 2_051)])

    assert (overflow.kind, overflow.limit, overflow.requested) == ("silent", 2_051, 15_750)
    assert is_found([(160_689, 16_387)]) == [True]


def test_with_a_known_window_the_cut_is_told_at_once():
    (overflow,) = called([(66_200, 32_770)], window=65_536)

    assert overflow.limit == 65_536
    assert is_found([(40_000, 32_500)], window=32_768) == [True]


def test_half_a_known_window_is_nothing_when_the_whole_would_have_fitted():
    assert is_found([(20_000, 16_380)], window=32_768, cached_reported=True) == [False]


def test_fewer_tokens_than_the_new_messages_have_is_a_cut_whatever_is_cached():
    whole, cut = called([(4_000, 3_974), (30_000, 2_060)])

    assert whole is None
    assert cut.limit == 3_974
    assert is_found([(600, 590), (30_000, 4_090)]) == [False, True]


def test_the_same_number_for_a_growing_prompt_is_a_cut():
    assert is_found([(4_000, 3_900), (9_000, 5_500), (9_400, 5_500)]) == [False, False, True]


def test_less_twice_in_a_row_for_a_growing_prompt_is_a_cut():
    calls = [(8_000, 8_000), (10_000, 7_900), (12_000, 7_800), (12_500, 7_700)]

    assert is_found(calls) == [False, False, True, True]
    assert is_found(calls, cached_reported=True) == [False, False, True, True]


def test_less_once_is_thinking_that_was_dropped():
    assert is_found([(50_000, 50_000), (51_000, 21_000), (52_000, 22_000)], cached_reported=True) == [False] * 3


def test_a_server_that_counts_only_what_is_new_cuts_nothing():
    calls, estimate = [(4_000, 3_950)], 4_000
    for _ in range(200):
        estimate += 400
        calls.append((estimate, 400))

    assert not any(is_found(calls))


def test_a_server_that_counts_everything_cuts_nothing_however_wrong_the_estimate():
    for error in (0.5, 0.7, 1.0, 1.3, 1.6):
        assert not any(is_found([(int(read * error), read) for read in range(500, 60_000, 251)], window=65_536))


def test_a_prompt_that_we_made_smaller_cuts_nothing():
    assert is_found([(30_000, 30_000), (8_000, 8_100), (8_500, 8_600)]) == [False] * 3


@pytest.mark.parametrize("usage", [None, Usage(), Usage(0, 300)])
def test_usage_that_is_missing_or_zero_shows_nothing(usage):
    state = seen(NOTHING_SEEN, 4_000, Usage(3_900, 10))

    assert silent_truncation(50_000, usage, cached_reported=False, before=state) is None
    assert seen(state, 50_000, usage) == state


def test_far_below_alone_is_not_enough():
    assert is_found([(15_750, 2_500)]) == [False]


def test_an_empty_reply_cut_for_its_length_is_a_second_sign():
    usage = Usage(2_500, 0, 2_500)

    assert silent_truncation(15_750, usage, cached_reported=False, finish_reason="length") is not None
    assert silent_truncation(15_750, Usage(2_500, 200), cached_reported=False, finish_reason="length") is None


def test_what_was_cut_is_not_what_later_calls_are_measured_by():
    state = seen(NOTHING_SEEN, 4_000, Usage(4_400, 10))
    after = seen(state, 30_000, Usage(2_051, 10), is_cut=True)

    assert (after.whole_sent, after.whole_read, after.most) == (4_000, 4_400, 4_400)
    assert (after.sent, after.read) == (30_000, 2_051)


def test_what_a_server_adds_of_its_own_is_no_cut_when_it_weighs_less():
    """27,000 tokens of instructions and tools that the estimate does not know."""
    calls = [(estimate, 27_000 + estimate * 8 // 10) for estimate in range(600, 150_000, 397)]

    assert not any(is_found(calls, cached_reported=True))


TOKENS = st.integers(0, 300_000)


@given(st.lists(st.tuples(TOKENS, TOKENS), max_size=12), st.booleans(), st.none() | TOKENS)
def test_a_cut_is_only_found_below_what_was_sent(calls, cached_reported, window):
    state = NOTHING_SEEN
    for estimate, read in calls:
        usage = Usage(read, 1)
        overflow = silent_truncation(estimate, usage, cached_reported=cached_reported, window=window, before=state)
        if overflow is not None:
            assert overflow.kind == "silent"
            assert overflow.limit > 0
            assert 0 < read < max(estimate, state.whole_read + estimate - state.whole_sent, state.whole_read)
        state = seen(state, estimate, usage, is_cut=overflow is not None)
