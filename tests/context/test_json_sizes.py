"""Sizes of values as JSON, for one limit after another."""

from hypothesis import given
from hypothesis import strategies as st

from aaa.context.json_sizes import JsonSizes
from tests.context.test_abridged import Items, compact, values


@given(values, st.lists(st.integers(0, 3000), min_size=1, max_size=6))
def test_a_size_is_exact_up_to_the_limit_whatever_was_asked_before(value, limits):
    sizes, exact = JsonSizes(), len(compact(value))
    for limit in limits:
        size = sizes.size(value, limit)
        assert size == exact if exact <= limit else size > limit


def test_a_container_is_measured_once():
    rows = Items(["x" * 50] * 100)
    sizes = JsonSizes()
    exact = len(compact(list(rows)))
    rows.seen = 0
    assert [sizes.size(rows, limit) for limit in range(exact, exact + 20)] == [exact] * 20
    assert rows.seen == 100
