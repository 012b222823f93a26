"""Head and groups of small conversations."""

import pytest

from aaa.context.groups import groups, head_length
from tests.messages.talk import talk


@pytest.mark.parametrize(
    ("line", "ranges"),
    [
        ("", []),
        ("u", [(0, 1)]),
        ("s u a u", [(0, 1), (1, 2), (2, 3), (3, 4)]),
        ("u a:x t:x a", [(0, 1), (1, 3), (3, 4)]),
        ("a:x,y t:x t:y u", [(0, 3), (3, 4)]),
        ("a:x,y t:y t:x", [(0, 3)]),
        ("a:x u t:x a", [(0, 3), (3, 4)]),
        ("a:x t:x a:x t:x", [(0, 2), (2, 4)]),
        ("a:0 t:0 a:0 t:0 u a:0 t:0", [(0, 2), (2, 4), (4, 5), (5, 7)]),
        ("a:x a:y t:x t:y u", [(0, 4), (4, 5)]),
        ("a:x a:y t:y t:x u", [(0, 4), (4, 5)]),
        ("a:x a:y t:x a:z t:y t:z", [(0, 6)]),
        ("a:x u", [(0, 1), (1, 2)]),
        ("a:x,y t:x u", [(0, 2), (2, 3)]),
        ("t:x u", [(0, 1), (1, 2)]),
        ("t:x a:x t:x", [(0, 1), (1, 3)]),
        ("a:x t:x t:x u", [(0, 3), (3, 4)]),
        ("a:x t:x u t:x", [(0, 2), (2, 3), (3, 4)]),
        ("a:x u a:x t:x", [(0, 1), (1, 2), (2, 4)]),
    ],
)
def test_a_call_stands_with_its_results_and_any_other_message_alone(line, ranges):
    assert groups(talk(line)) == ranges


@pytest.mark.parametrize(
    ("start", "ranges"),
    [
        (0, [(0, 1), (1, 2), (2, 4), (4, 5)]),
        (2, [(2, 4), (4, 5)]),
        (3, [(3, 4), (4, 5)]),
        (5, []),
    ],
)
def test_groups_from_a_start_have_the_indices_of_the_whole(start, ranges):
    assert groups(talk("s u a:x t:x u"), start) == ranges


@pytest.mark.parametrize(
    ("line", "length"),
    [
        ("", 0),
        ("u", 1),
        ("u u", 1),
        ("s", 1),
        ("s u", 2),
        ("s u u a", 2),
        ("s d s u a", 4),
        ("s a u", 1),
        ("a u", 0),
        ("t:x s u", 0),
        ("u s", 1),
    ],
)
def test_the_head_is_the_leading_system_messages_and_the_task_after_them(line, length):
    assert head_length(talk(line)) == length
