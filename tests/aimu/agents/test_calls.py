"""The calls of a turn, run through the registry and the handler of `aaa.tools`."""

import asyncio

import pytest

from aaa.errors import ToolDefinitionError
from aaa.messages import ToolCall
from aaa.tools import ToolContext, ToolFailure, tool
from aimu.agents.calls import CallRunner, not_run


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def later(text: str) -> str:
    return text.upper()


@tool(name="refuse")
def refusing() -> str:
    raise ToolFailure("not today")


def broken() -> str:
    raise ValueError("it broke")


def who(context: ToolContext) -> str:
    return f"{context.call_id} {context.attempt} {context.idempotency_key}"


def results(*calls, run_id="run", turn=1):
    answers = []
    CallRunner([add, later, refusing, broken, who]).run(calls, answers, run_id=run_id, turn=turn)
    return answers


@pytest.mark.parametrize(
    ("call", "content"),
    [
        (ToolCall("1", "add", '{"a": 1, "b": 2}'), "3"),
        (ToolCall("1", "add", '{"a": "1", "b": 2}'), "3"),
        (ToolCall("1", "later", '{"text": "x"}'), "X"),
        (ToolCall("1", "refuse"), "Error: not today"),
        (ToolCall("1", "broken"), "Error: ValueError: it broke"),
        (ToolCall("1", "who"), "1 1 run:1.0"),
    ],
)
def test_a_call_is_answered_with_what_came_of_it(call, content):
    assert results(call) == [{"role": "tool", "content": content, "tool_call_id": "1"}]


def test_wrong_arguments_and_unknown_tools_are_told_to_the_model():
    wrong, unknown = results(ToolCall("1", "add", '{"a": 1}'), ToolCall("2", "nothing"))
    assert "b: it is missing" in wrong["content"]
    assert "there is no tool 'nothing'" in unknown["content"]
    assert unknown["tool_call_id"] == "2"


def test_calls_run_one_after_the_other_in_their_order():
    order = []

    def note(number: int) -> str:
        order.append(number)
        return "ok"

    async def note_later(number: int) -> str:
        await asyncio.sleep(0)
        order.append(number)
        return "ok"

    calls = [ToolCall(str(n), ("note", "note_later")[n % 2], f'{{"number": {n}}}') for n in range(6)]
    answers = []
    CallRunner([note, note_later]).run(calls, answers, run_id="run", turn=1)
    assert order == list(range(6))
    assert [answer["tool_call_id"] for answer in answers] == ["0", "1", "2", "3", "4", "5"]


def test_each_call_has_a_key_of_its_own():
    def keys(**where):
        return [answer["content"].split()[2] for answer in results(ToolCall("1", "who"), ToolCall("1", "who"), **where)]

    assert len({*keys(), *keys(turn=2), *keys(run_id="other")}) == 6


def test_it_works_inside_an_event_loop():
    async def inside():
        return results(ToolCall("1", "later", '{"text": "x"}'))

    assert asyncio.run(inside())[0]["content"] == "X"


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ToolDefinitionError, match="there is a tool 'add' already"):
        CallRunner([add, add])


def test_a_call_that_was_not_run_says_why():
    assert not_run([ToolCall("1", "add")], "no time") == [
        {"role": "tool", "content": "Error: no time", "tool_call_id": "1"}
    ]
