"""What a run puts into a conversation, and what it does not put there twice."""

import pytest

from aimu.agents.tasks import instructed, is_instruction, with_task
from tests.aimu.talk import assistant, call, result, system, user

SUMMARY = system("Summary of earlier conversation:\nthey talked")


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [user("other")],
        [user("task"), assistant("done")],
        [user("task"), call("a"), result("a"), assistant("done")],
        [user("task"), call("a"), result("a"), user("other"), call("b"), result("b")],
        [call("a"), result("a")],
    ],
)
def test_a_task_that_is_not_open_is_asked(messages):
    assert with_task(messages, "task") == [*messages, user("task")]


@pytest.mark.parametrize(
    "messages",
    [
        [user("task")],
        [user("task"), call("a"), result("a")],
        [user("other"), assistant("done"), user("task"), call("a"), result("a"), call("b"), result("b")],
    ],
)
def test_a_task_that_is_open_is_not_asked_twice(messages):
    found = with_task(messages, "task")
    assert found == messages
    assert found is not messages


def test_instructions_stand_in_front_where_there_are_none():
    assert instructed([user("1")], "brief", is_new=False) == [system("brief"), user("1")]
    assert instructed([SUMMARY, user("1")], "brief", is_new=False) == [system("brief"), SUMMARY, user("1")]
    assert instructed([user("1")], None, is_new=False) == [user("1")]


def test_instructions_that_are_there_stay_unless_new_ones_take_their_place():
    messages = [system("long"), user("1"), system("later")]
    assert instructed(messages, "brief", is_new=False) == messages
    assert instructed(messages, "brief", is_new=True) == [system("brief"), user("1"), system("later")]
    assert instructed(messages, "long", is_new=True)[0] is messages[0]


def test_a_summary_is_no_instruction():
    assert is_instruction(system("brief"))
    assert is_instruction({"role": "developer", "content": "brief"})
    assert not is_instruction(SUMMARY)
    assert not is_instruction(user("1"))
