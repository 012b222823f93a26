"""What stays and what may go: the groups of the core, system messages in front, the last ones at the end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.context import groups
from aaa.errors import WireError
from aaa.wire.openai_chat import message_from_dict, messages_from_dicts
from aimu.context.layout import layout_of, skeletons
from tests.aimu.talk import any_messages, assistant, call, result, system, user
from tests.strategies import message_dicts


@given(any_messages())
def test_groups_are_those_of_the_whole_messages(messages):
    assert groups(skeletons(messages)) == groups(messages_from_dicts(messages))


@given(st.lists(message_dicts(), max_size=6))
def test_odd_messages_are_read_as_the_core_reads_them(messages):
    read, light = messages_from_dicts(messages), skeletons(messages)
    assert [(m.role, m.tool_call_id, [c.id for c in m.tool_calls]) for m in light] == [
        (m.role, m.tool_call_id, [c.id for c in m.tool_calls]) for m in read
    ]


@given(any_messages(), st.integers(0, 8), st.booleans())
def test_every_message_has_one_place(messages, keep_last, keep_system):
    layout = layout_of(messages, keep_last=keep_last, keep_system=keep_system)
    assert sorted([*layout.front, *layout.older, *layout.tail]) == list(range(len(messages)))
    assert layout.without(0) == list(range(len(messages)))


def test_the_tail_is_pushed_out_to_the_edge_of_a_group():
    messages = [user("1"), call("a", "b"), result("a"), result("b"), user("2")]
    assert layout_of(messages, keep_last=2).tail == [1, 2, 3, 4]
    assert layout_of(messages, keep_last=1).tail == [4]
    assert layout_of(messages, keep_last=0).tail == []


def test_system_messages_do_not_use_up_the_tail():
    messages = [user("1"), assistant("2"), system("3"), system("4")]
    layout = layout_of(messages, keep_last=2)
    assert (layout.front, layout.tail) == ([2, 3], [0, 1])


def test_a_system_message_inside_a_group_stays_when_the_group_goes():
    messages = [call("a"), system("now"), result("a"), user("1"), user("2")]
    assert layout_of(messages, keep_last=2).without(1) == [1, 3, 4]


def test_without_keep_system_they_are_messages_like_any_other():
    layout = layout_of([system("1"), user("2"), user("3")], keep_last=1, keep_system=False)
    assert (layout.front, layout.groups, layout.tail) == ([], [[0], [1]], [2])


def test_a_negative_tail_is_refused():
    with pytest.raises(ValueError, match="keep_last must not be negative, got -1"):
        layout_of([], keep_last=-1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": "no role"},
        {"role": ""},
        {"role": None},
        "text",
        {"role": "assistant", "tool_calls": "text"},
        {"role": "assistant", "tool_calls": 0},
        {"role": "assistant", "tool_calls": ["text"]},
    ],
)
def test_what_the_core_refuses_is_refused_in_the_same_words(wrong):
    with pytest.raises(WireError) as here:
        skeletons([user("1"), wrong])
    with pytest.raises(WireError) as there:
        message_from_dict(wrong, index=1)
    assert str(here.value) == str(there.value)
