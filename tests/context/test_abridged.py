"""JSON in fewer characters that is still JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.context.abridged import JsonAbridger, parsed

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**40), 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.text(max_size=4).map(lambda text: text * 500),
    st.sampled_from(('"\\\n\x00' * 200, "\ud800 lone", "\U0001f600" * 300)),
)
keys = st.one_of(st.text(max_size=8), st.sampled_from(("path", "[...]", "k" * 400)))
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6),
        st.lists(leaves, max_size=2).map(lambda items: items * 60),
        st.dictionaries(keys, inner, max_size=6),
    ),
    max_leaves=30,
)
objects = st.dictionaries(keys, values, max_size=8)
containers = st.one_of(st.lists(values, max_size=8), objects)


def abridged(value, max_chars):
    return JsonAbridger(value).abridged(max_chars)


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@given(containers, st.integers(200, 3000))
def test_what_is_abridged_is_json_of_the_same_type_and_no_longer_than_asked_for(value, max_chars):
    text = abridged(value, max_chars)
    assert text is not None
    assert len(text) <= max_chars
    assert type(json.loads(text)) is type(value)


@given(containers)
def test_what_is_short_enough_is_not_changed(value):
    assert json.loads(abridged(value, len(compact(value)))) == value


@given(containers, st.integers(200, 1000))
def test_what_was_abridged_is_short_enough(value, max_chars):
    text = abridged(value, max_chars)
    assert abridged(json.loads(text), max_chars) == text


@given(containers, st.lists(st.integers(1, 3000), max_size=6))
def test_lengths_tried_before_change_nothing(value, lengths):
    abridger = JsonAbridger(value)
    assert [abridger.abridged(length) for length in lengths] == [abridged(value, length) for length in lengths]


@given(objects, st.integers(200, 1000))
def test_an_object_keeps_all_its_keys_in_their_order(value, max_chars):
    assert list(json.loads(JsonAbridger(value).with_all_keys(max_chars))) == list(value)


@given(containers)
def test_json_is_read_and_written_again_without_change(value):
    assert parsed(f" {json.dumps(value)}\n") == value


@pytest.mark.parametrize("text", ["", "3", '"text"', "null", "{", "[1] [2]", '{"a":NaN}', "[1e999]", "[" * 5000, "x{}"])
def test_other_text_is_not_read(text):
    assert parsed(text) is None


def test_small_fields_stay_and_large_ones_say_what_is_missing():
    value = {"path": "a.md", "mode": 420, "content": "line " * 1000, "ok": True}
    short = json.loads(abridged(value, 300))
    assert short | {"content": ""} == value | {"content": ""}
    assert "characters cut" in short["content"]
    assert short["content"].startswith("line ")


def test_a_long_list_keeps_whole_items_of_its_start_and_end():
    rows = [{"id": number, "name": f"row {number}"} for number in range(5000)]
    short = json.loads(abridged({"total": 5000, "rows": rows}, 500))
    assert short["total"] == 5000
    (note,) = [position for position, item in enumerate(short["rows"]) if isinstance(item, str)]
    assert short["rows"][:note] == rows[:note]
    assert short["rows"][note + 1 :] == rows[note + 1 - len(short["rows"]) :]
    assert short["rows"][note] == f"[... {5001 - len(short['rows']):,} items cut ...]"
    assert note > len(short["rows"]) - note > 1


def test_an_object_with_many_keys_says_how_many_are_missing():
    value = {f"file_{number}.py": number for number in range(900)}
    short = json.loads(abridged(value, 400))
    note = short.pop("[...]")
    assert note == f"[... {900 - len(short)} keys cut ...]"
    assert short.items() <= value.items()


def test_a_key_of_the_same_name_as_the_note_is_no_other():
    value = {"[...]": "mine", **{f"file_{number}.py": number for number in range(900)}}
    short = json.loads(abridged(value, 400))
    assert short["[...]"] == "mine"
    assert "keys cut" in short["[...]."]


def test_what_is_nested_too_deeply_is_left_to_others():
    value: list = []
    for _ in range(5000):
        value = [value]
    assert abridged(value, 200) is None


class Items(list):
    """A list that counts how many of its items were looked at."""

    seen = 0

    def __iter__(self):
        for item in super().__iter__():
            self.seen += 1
            yield item


def test_no_more_is_looked_at_than_is_needed():
    items = Items(["x" * 50] * 100_000)
    abridged(items, 1000)
    assert items.seen < 200
