"""Which faults pass, and how long to wait."""

import asyncio

import pytest

from aaa.errors import ContextOverflowError
from aaa.llm import RetryPolicy


class StatusError(Exception):
    def __init__(self, status_code, retry_after=None):
        self.status_code = status_code
        if retry_after is not None:
            self.retry_after = retry_after


POLICY = RetryPolicy(max_attempts=4, initial_seconds=0.5, factor=2.0, max_seconds=3.0)


@pytest.mark.parametrize(
    ("attempt", "seconds"),
    [(1, 0.5), (2, 1.0), (3, 2.0), (4, None), (5, None)],
)
def test_waits_grow_until_the_attempts_are_used_up(attempt, seconds):
    assert POLICY.seconds_before(attempt, TimeoutError()) == seconds


def test_no_wait_is_longer_than_the_longest():
    policy = RetryPolicy(max_attempts=10, initial_seconds=1.0, factor=3.0, max_seconds=5.0)
    assert [policy.seconds_before(attempt, TimeoutError()) for attempt in (1, 2, 3, 9)] == [1.0, 3.0, 5.0, 5.0]


@pytest.mark.parametrize("factor", [1.0, 2.0, 1e300])
def test_many_attempts_do_not_overflow(factor):
    policy = RetryPolicy(max_attempts=1_000_000, factor=factor)
    for attempt in (1, 2, 100, 2_000, 999_999):
        wait = policy.seconds_before(attempt, TimeoutError())
        assert wait is not None
        assert 0 <= wait <= policy.max_seconds


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (TimeoutError(), True),
        (ConnectionError(), True),
        (ConnectionResetError(), True),
        (asyncio.IncompleteReadError(b"", 1), True),
        *((StatusError(status), True) for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
        *((StatusError(status), False) for status in (400, 401, 403, 404, 413, 422)),
        (StatusError(None), False),
        (StatusError("429"), False),
        (ValueError(), False),
        (OSError(), False),
        (ContextOverflowError(), False),
        (asyncio.CancelledError(), False),
    ],
)
def test_what_passes_by_itself_is_tried_again_and_nothing_else(error, passes):
    assert (POLICY.seconds_before(1, error) is not None) == passes


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [(0, 0.5), (0.2, 0.5), (2, 2), (3.0, 3.0), (3.1, None), ("2", 0.5), (None, 0.5)],
)
def test_the_server_is_waited_for_if_it_does_not_ask_for_too_long(retry_after, seconds):
    assert POLICY.seconds_before(1, StatusError(429, retry_after)) == seconds


@pytest.mark.parametrize(
    "settings",
    [{"max_attempts": 0}, {"initial_seconds": -1}, {"factor": 0.5}, {"max_seconds": -1}],
)
def test_numbers_that_make_no_sense_are_refused(settings):
    with pytest.raises(ValueError, match="must hold"):
        RetryPolicy(**settings)
