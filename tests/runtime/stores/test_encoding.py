"""Events as rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.errors import StoreError
from aaa.messages import Message, ToolCall
from aaa.runtime.events import Event
from aaa.runtime.stores.encoding import Row, decode_event, encode_event
from tests.runtime.stores.making import event

SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
TEXT = st.text(st.sampled_from('a\xe9\0"\\\u2028\U0001f600\ud800\udfff'))  # lone surrogates too
VALUES = st.recursive(SCALARS | TEXT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=8)


def escaped(value):
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case list():
            return [escaped(item) for item in value]
        case dict():
            return {escaped(key): escaped(item) for key, item in value.items()}
        case _:
            return value


@given(st.dictionaries(TEXT, VALUES), TEXT)
def test_any_data_comes_back_with_lone_surrogates_escaped(data, id):
    row = encode_event(Event(type="x", data=data, id=id, at=0.5))
    read = decode_event(row, "run", 3, 2)
    assert read.data == escaped(data)
    assert (read.id, read.run_id, read.seq, read.epoch, read.at) == (escaped(id), "run", 3, 2, 0.5)


def test_messages_are_stored_as_plain_data():
    message = Message("assistant", "caf\xe9", (ToolCall("1", "read", '{"path": "a"}'),))
    calls = [{"id": "1", "name": "read", "arguments_json": '{"path": "a"}'}]
    read = decode_event(encode_event(event("e", message=message)), "run", 1, 0)
    assert read.data == {"message": {"role": "assistant", "content": "caf\xe9", "tool_calls": calls}}


def test_messages_with_lone_surrogates_are_stored_too():
    read = decode_event(encode_event(event("e", message=Message("tool", "\ud83d"))), "run", 1, 0)
    assert read.data == {"message": {"role": "tool", "content": "\\ud83d"}}


@pytest.mark.parametrize("value", [object(), {1: {2j: 3}}, {"a": {"b": object()}}])
def test_data_without_a_json_form_is_refused(value):
    with pytest.raises(StoreError, match="the data of an event of type x has no JSON form"):
        encode_event(event("e", "x", value=value))


def test_data_nested_without_end_is_refused():
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(StoreError, match="has no JSON form"):
        encode_event(event("e", "x", value=loop))


@pytest.mark.parametrize("at", [float("nan"), float("inf")])
def test_a_time_that_is_no_number_is_refused(at):
    with pytest.raises(StoreError, match="must be finite"):
        encode_event(event("e", at=at))


@pytest.mark.parametrize("data", [b"{", b"[1]", b"\xff"])
def test_a_damaged_row_says_which(data):
    with pytest.raises(StoreError, match="event 4 of run 'run' holds no JSON object"):
        decode_event(Row("id", "x", 1.0, 1, data), "run", 4, 0)
