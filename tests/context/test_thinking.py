"""Leaving out what was thought in earlier turns."""

from aaa.context import without_old_thinking
from aaa.messages import Message, OpaquePart, TextPart, ToolCall

OPEN = OpaquePart("thinking", '{"type":"thinking","thinking":"t","signature":"s"}', "anthropic")
HIDDEN = OpaquePart("redacted_thinking", '{"type":"redacted_thinking","data":"R"}', "anthropic")
USER = Message("user", "u")


def said(*thoughts, calls=()):
    return Message("assistant", (*thoughts, TextPart("a")), calls)


def test_both_kinds_go_from_all_but_the_last_message():
    messages = [USER, said(OPEN, HIDDEN), USER, said(OPEN), USER]
    assert without_old_thinking(messages) == [USER, said(), USER, said(OPEN), USER]


def test_a_loop_of_calls_under_way_keeps_all_its_thinking():
    call = ToolCall("c", "read", "{}")
    result = Message("tool", "r", tool_call_id="c")
    loop = [said(OPEN, calls=(call,)), result, said(OPEN, calls=(call,)), result]
    assert without_old_thinking([USER, said(HIDDEN), USER, *loop]) == [USER, said(), USER, *loop]


def test_a_message_that_only_thought_goes_as_a_whole():
    assert without_old_thinking([USER, Message("assistant", (OPEN,)), USER, said(OPEN)]) == [USER, USER, said(OPEN)]
