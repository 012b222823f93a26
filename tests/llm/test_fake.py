"""The fake model: a function or a script, ids that are unique in a run, usage that is counted."""

import asyncio

import pytest

from aaa.algos import ToolLoop
from aaa.context import ContextPolicy, DropOldest, HeuristicCounter
from aaa.llm import FakeLLMClient, LLMHandler
from aaa.llm.fake import text, together, tool_call
from aaa.messages import LLMRequest, LLMResponse, Message, ToolCall, ToolSpec, Usage
from aaa.runtime import Engine
from aaa.tools import ToolHandler, ToolRegistry, tool
from tests.runtime.making import ask, bounded

REQUEST = LLMRequest(tuple(ask("hello")), (ToolSpec("look", "Look."),))


def replies(client, *requests):
    async def all_of_them():
        return [await client.complete(request) for request in requests]

    return asyncio.run(all_of_them())


def test_it_replies_from_a_script_one_item_a_call_and_keeps_what_it_was_asked():
    client = FakeLLMClient([text("one"), text("two")])
    assert [reply.message.text for reply in replies(client, REQUEST, REQUEST)] == ["one", "two"]
    assert client.requests == [REQUEST, REQUEST]


def test_a_script_that_is_used_up_says_how_long_it_was():
    with pytest.raises(IndexError, match="has 1 replies, this is call 2"):
        replies(FakeLLMClient([text("one")]), REQUEST, REQUEST)


def test_it_raises_what_the_script_holds():
    client = FakeLLMClient([TimeoutError("slow"), text("one")])
    with pytest.raises(TimeoutError, match="slow"):
        replies(client, REQUEST)
    assert replies(client, REQUEST)[0].message.text == "one"


def test_it_replies_from_a_function_sync_or_async():
    async def later(request):
        await asyncio.sleep(0)
        return text(f"{len(request.messages)} later")

    assert (
        replies(FakeLLMClient(lambda request: text(f"{len(request.messages)} now")), REQUEST)[0].message.text == "1 now"
    )
    assert replies(FakeLLMClient(later), REQUEST)[0].message.text == "1 later"


def test_a_text_ends_the_turn_and_calls_come_together():
    assert text("done") == LLMResponse(Message("assistant", "done"), finish_reason="stop")
    both = together(tool_call("look", topic="x"), tool_call("look", topic="y"), content="looking")
    assert both.finish_reason == "tool_calls"
    assert both.message.text == "looking"
    assert [(call.id, call.arguments) for call in both.message.tool_calls] == [
        ("", {"topic": "x"}),
        ("", {"topic": "y"}),
    ]


def test_calls_get_ids_and_keep_those_they_have():
    given = LLMResponse(Message("assistant", None, (ToolCall("mine", "look"), ToolCall("", "look"))))
    (reply,) = replies(FakeLLMClient([given]), REQUEST)
    first, second = (call.id for call in reply.message.tool_calls)
    assert first == "mine"
    assert second.startswith("call_")


def test_usage_is_counted_where_a_reply_has_none_and_a_price_makes_a_cost_of_it():
    client = FakeLLMClient([text("one"), LLMResponse(Message("assistant", "x"), Usage(5, 2)), text("two")])
    assert not client.knows_cost
    counted, given, _ = replies(client, REQUEST, REQUEST, REQUEST)
    counter = HeuristicCounter()
    assert counted.usage.prompt_tokens == counter.count(REQUEST.messages, REQUEST.tools)
    assert counted.usage.completion_tokens == counter.count([counted.message])
    assert (given.usage, given.cost) == (Usage(5, 2), None)
    priced = FakeLLMClient([LLMResponse(Message("assistant", "x"), Usage(5, 2))], price_per_token=0.5)
    assert priced.knows_cost
    assert replies(priced, REQUEST)[0].cost == pytest.approx(3.5)


@pytest.mark.parametrize("strategies", [[DropOldest()], None], ids=["drop", "summarize"])
def test_ids_are_unique_in_a_run_though_the_prompt_no_longer_holds_the_earlier_calls(strategies):
    async def scenario():
        asked = []

        @tool
        async def look(topic: str) -> str:
            return f"{topic}: " + "lorem ipsum " * 150

        def model(request):
            asked.append(request)
            return tool_call("look", topic=str(len(asked))) if len(asked) <= 12 else text("done")

        summarizer = None if strategies else FakeLLMClient(lambda _: text("so far"))
        policy = ContextPolicy(1_500, reserve_output=0, keep_recent=0, strategies=strategies, summarizer=summarizer)
        registry = ToolRegistry([look])
        async with Engine() as engine:
            LLMHandler(FakeLLMClient(model), context=policy).attach(engine)
            ToolHandler(registry).attach(engine)
            outcome = await engine.run(ToolLoop(registry), {"task": "x"}, run_id="r")
            log = await engine.store.read("r")
        ids = [
            call["id"]
            for event in log
            if event.type == "aaa.llm.completed"
            for call in event.data["message"].get("tool_calls", ())
        ]
        assert outcome.status == "done"
        assert len(ids) == 12
        assert len(set(ids)) == 12
        held = [sum(len(message.tool_calls) for message in request.messages) for request in asked]
        assert any(count < number for number, count in enumerate(held))

    bounded(scenario())


def test_a_request_that_holds_no_calls_any_more_gets_a_new_id():
    client = FakeLLMClient(lambda _: tool_call("look"))
    summarised = LLMRequest((*REQUEST.messages, Message("user", "the record so far", kind="summary")))
    ids = [reply.message.tool_calls[0].id for reply in replies(client, REQUEST, summarised)]
    assert len(set(ids)) == 2
