"""Strategies for limits beside the window: repeats, bytes, single messages, arguments, spared tools."""

import asyncio
import json

import pytest

from aaa.context import ClearToolResults, ContextPolicy, DropOldest, HeuristicCounter
from aaa.context.strategies import CollapseRepeats, CutMessages, DropMedia, ShortenCalls
from aaa.errors import ContextFloorError
from aaa.messages import Message, OpaquePart, TextPart, ToolCall

USER = Message("user", "task")


def applied(messages, strategy, keep_recent=0):
    always = {"trigger": 1e-9, "target": 1e-9, "keep_recent": keep_recent}
    policy = ContextPolicy(1_000_000, reserve_output=0, strategies=[strategy], **always)
    return list(asyncio.run(policy.prepare(messages)).messages)


def polled(number, tool="sh", said="pending"):
    call = ToolCall(f"p{number}", tool, '{"c":"check"}')
    return [Message("assistant", None, (call,)), Message("tool", said, tool_call_id=call.id)]


def image(size):
    data = json.dumps({"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * size}})
    return OpaquePart("image_url", data)


def test_equal_calls_in_a_row_are_folded_to_the_first_and_the_last():
    rows = [message for n in range(9) for message in polled(n)]
    prompt = applied([USER, *rows], CollapseRepeats(), keep_recent=3)
    assert [call.id for message in prompt for call in message.tool_calls] == ["p0", "p7", "p8"]
    assert "12 earlier messages" in prompt[3].text


def test_calls_with_another_result_between_are_no_row():
    rows = [message for n in range(6) for message in polled(n, said=f"state {n % 2}")]
    assert applied([USER, *rows], CollapseRepeats()) == [USER, *rows]


def test_the_oldest_images_become_notes_until_the_bytes_fit():
    shots = [Message("user", (TextPart(f"shot {n}"), image(10_000))) for n in range(5)]
    prompt = applied([USER, *shots], DropMedia(max_bytes=35_000))
    assert [any(isinstance(part, OpaquePart) for part in m.content) for m in prompt[1:]] == [False] * 2 + [True] * 3
    assert [m.content[0] for m in prompt[1:]] == [m.content[0] for m in shots]
    assert "10,000 characters of image/png" in prompt[1].content[1].text


def test_no_message_is_longer_than_its_limit_results_and_the_tail_included():
    messages = [USER, *polled(1, said="{} " * 5000), Message("user", "w" * 5000)]
    prompt = applied(messages, CutMessages(300), keep_recent=3)
    assert max(map(HeuristicCounter().count_message, prompt)) <= 300
    assert "characters cut" in prompt[-1].text


def test_old_arguments_are_cut_leaf_by_leaf():
    arguments = json.dumps({"path": "a.md", "mode": 420, "content": "line " * 200})
    messages = [USER, Message("assistant", None, (ToolCall("c", "write", arguments),)), *polled(1)[1:]]
    messages[2] = Message("tool", "ok", tool_call_id="c")
    found = applied(messages, ShortenCalls(200))[1].tool_calls[0].arguments
    assert (found["path"], found["mode"]) == ("a.md", 420)
    assert "characters cut" in found["content"]


def test_results_of_spared_tools_are_not_cleared():
    messages = [USER, *polled(1, "load_guide", "rule " * 99), *polled(2, said="z" * 500), *polled(3, said="z" * 500)]
    prompt = applied(messages, ClearToolResults(1).sparing("load_guide"))
    assert prompt[2] is messages[2]
    assert "removed" in prompt[4].text


def test_a_cleared_list_of_parts_stays_a_list():
    call = ToolCall("c", "read", "{}")
    result = Message("tool", (TextPart("x" * 500),), tool_call_id="c")
    prompt = applied([USER, Message("assistant", None, (call,)), result], ClearToolResults(0))
    assert prompt[2].content == (TextPart("[tool result removed to save context]"),)


def test_where_the_marker_alone_is_too_much_it_is_left_out_unless_a_user_spoke():
    class Messages:
        def count(self, messages, tools=()):
            return len(messages)

    rows = [message for n in range(3) for message in polled(n)]
    policy = ContextPolicy(3, reserve_output=0, trigger=1.0, target=1.0, counter=Messages(), strategies=[DropOldest()])
    prompt = asyncio.run(policy.prepare([USER, *rows]))
    assert prompt.messages == [USER, *rows[-2:]]
    assert prompt.plan.floor[-1] == "marker_left_out"
    with pytest.raises(ContextFloorError):
        asyncio.run(policy.prepare([USER, Message("user", "more"), *rows]))
