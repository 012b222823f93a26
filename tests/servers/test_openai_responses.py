"""The Responses server: the official SDK can talk to it, and it refuses what OpenAI refuses."""

import json
from typing import Any

import openai
import pytest

from tests.servers.asking import bounded, post
from tests.servers.openai_responses import OpenAIResponsesServer
from tests.servers.replies import (
    calls,
    cut,
    half_stream,
    image,
    overflow,
    overloaded,
    rate_limit,
    refusal,
    stream_error,
    text,
)

PATH = "/v1/responses"
ASK = [{"role": "user", "content": "hi"}]
MODEL = "gpt-5"
TOOL = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}, "strict": False}
CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "a lamp"}
SEALED = {"store": False, "include": ["reasoning.encrypted_content"]}
LONG = [{"role": "user", "content": "x" * 4000}]


def client(server: OpenAIResponsesServer) -> Any:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.key, max_retries=0)


def plain(server: OpenAIResponsesServer, **body: Any) -> Any:
    with client(server) as sdk:
        return sdk.responses.create(**{"model": MODEL, "input": ASK, **body})


def streamed(server: OpenAIResponsesServer, **body: Any) -> list[Any]:
    with client(server) as sdk, sdk.responses.create(**{"model": MODEL, "input": ASK, **body}, stream=True) as stream:
        return list(stream)


async def plain_async(server: OpenAIResponsesServer) -> Any:
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.key, max_retries=0) as sdk:
        return await sdk.responses.create(model=MODEL, input="hi")


async def streamed_async(server: OpenAIResponsesServer) -> list[Any]:
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.key, max_retries=0) as sdk:
        return [event async for event in await sdk.responses.create(model=MODEL, input="hi", stream=True)]


def answer(server: OpenAIResponsesServer, items: list[Any], **body: Any) -> tuple[int, str]:
    given = post(server, PATH, {"model": MODEL, "input": items, **body})
    return given.status, given.body.get("error", None) and given.body["error"]["message"]


def test_a_reply_is_the_same_with_and_without_streaming_sync_and_async() -> None:
    with OpenAIResponsesServer(lambda _: text("Hello, friend.")) as server:
        assert plain(server).output_text == "Hello, friend."
        assert streamed(server)[-1].response.output_text == "Hello, friend."
        assert bounded(lambda: plain_async(server)).output_text == "Hello, friend."
        assert bounded(lambda: streamed_async(server))[-1].response.output_text == "Hello, friend."
        assert len(server.turns) == 4


def test_a_stream_names_its_events_and_numbers_them() -> None:
    with OpenAIResponsesServer([calls(("look", {"at": "x"}), text="Hm.", thinking="so")]) as server:
        sent = post(server, PATH, {"model": MODEL, "input": ASK, "stream": True, "reasoning": {"summary": "auto"}})
        frames = [frame.split("\n") for frame in sent.text.strip().split("\n\n")]
        events = [json.loads(data.removeprefix("data: ")) for _, data in frames]
        assert [name.removeprefix("event: ") for name, _ in frames] == [event["type"] for event in events]
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        assert [event["item"]["type"] for event in events if event["type"] == "response.output_item.done"] == [
            "reasoning",
            "message",
            "function_call",
        ]


def test_parallel_calls_are_taken_back_with_their_results() -> None:
    with OpenAIResponsesServer([calls(("look", {}), ("go", {"to": "x"}), thinking="so"), text("done")]) as server:
        output = [item.to_dict() for item in plain(server, tools=[TOOL], **SEALED).output]
        results = [{**OUTPUT, "call_id": item["call_id"]} for item in output if item["type"] == "function_call"]
        assert plain(server, input=[*ASK, *output, *results], tools=[TOOL], **SEALED).output_text == "done"
        assert server.refused == []


def test_a_reasoning_item_and_the_item_after_it_stay_together() -> None:
    with OpenAIResponsesServer(lambda _: calls(("look", {}), ("go", {}), thinking="so")) as server:
        reasoning, first, second = (item.to_dict() for item in plain(server, **SEALED).output)
        results = [{**OUTPUT, "call_id": item["call_id"]} for item in (first, second)]
        without_id = [{key: value for key, value in item.items() if key != "id"} for item in (first, second)]
        alone = f"Item '{first['id']}' of type 'function_call' was provided without its required 'reasoning' item: "
        assert answer(server, [*ASK, first, second, *results])[1] == alone + f"'{reasoning['id']}'."
        bare = f"Item '{reasoning['id']}' of type 'reasoning' was provided without its required following item."
        assert answer(server, [*ASK, reasoning]) == (400, bare)
        assert answer(server, [*ASK, reasoning, *ASK, first, second, *results]) == (400, bare)
        assert answer(server, [*ASK, *without_id, *results])[0] == 200
        assert answer(server, [*ASK, reasoning, *without_id, *results])[0] == 200


def test_encrypted_reasoning_is_read_by_any_server_of_the_account_and_no_other() -> None:
    with OpenAIResponsesServer([text("ok", thinking="so")]) as server:
        output = [item.to_dict() for item in plain(server, **SEALED).output]
    with OpenAIResponsesServer(["fine"]) as later:
        assert answer(later, [*ASK, *output, *ASK])[0] == 200
        status, message = answer(later, [*ASK, {**output[0], "id": "rs_other"}, output[1], *ASK])
        assert (status, message.endswith("item_id did not match the target item id.")) == (400, True)
    with OpenAIResponsesServer(["fine"], account="another") as other:
        status, message = answer(other, [*ASK, *output, *ASK])
        assert (status, "could not be verified" in message) == (400, True)


def test_what_was_not_stored_is_not_found() -> None:
    with OpenAIResponsesServer(lambda _: text("ok", thinking="so")) as server:
        kept, lost = plain(server), plain(server, store=False)
        assert plain(server, previous_response_id=kept.id, input="more").output_text == "ok"
        assert server.turns[-1].prompt_tokens > server.turns[0].prompt_tokens
        status, message = answer(server, ASK, previous_response_id=lost.id)
        assert (status, message) == (400, f"Previous response with id '{lost.id}' not found.")
        status, message = answer(server, [*ASK, *(item.to_dict() for item in lost.output)])
        assert (status, message.startswith(f"Item with id '{lost.output[0].id}' not found.")) == (404, True)
        assert answer(server, [*ASK, {"type": "item_reference", "id": kept.output[1].id}])[0] == 400
        references = [{"type": "item_reference", "id": item.id} for item in kept.output]
        assert answer(server, [*ASK, *references, *ASK])[0] == 200


def test_other_replies_have_their_own_items_and_statuses() -> None:
    script = [refusal("No."), image(b"png"), cut(calls(("look", {"at": "x"}))), "a long text " * 20]
    with OpenAIResponsesServer(script) as server:
        refused, drawn, broken, long = (plain(server, max_output_tokens=16) for _ in range(4))
        assert refused.output[0].content[0].refusal == "No."
        assert drawn.output[0].result == "cG5n"
        assert (broken.status, broken.output[0].arguments) == ("incomplete", '{"at"')
        assert (long.incomplete_details.reason, len(long.output_text)) == ("max_output_tokens", 64)


def test_faults_come_as_the_sdk_knows_them() -> None:
    with OpenAIResponsesServer([rate_limit(), overloaded(), overflow(), half_stream()]) as server:
        for kind in (openai.RateLimitError, openai.InternalServerError, openai.BadRequestError):
            with pytest.raises(kind):
                plain(server)
        with pytest.raises(openai.APIConnectionError):
            streamed(server)


def test_an_overflow_has_no_numbers() -> None:
    with OpenAIResponsesServer([], window=1000) as server:
        text = "Your input exceeds the context window of this model. Please adjust your input and try again."
        assert answer(server, LONG) == (400, text)
        assert server.refused == []
        assert len(server.overflows) == 1


@pytest.mark.parametrize("failure", ["failed", "error"])
def test_an_overflow_of_a_stream_comes_inside_it(failure: Any) -> None:
    with OpenAIResponsesServer([stream_error()], window=1000, stream_failure=failure) as server:
        last = streamed(server, input=LONG)[-1]
        error = last.response.error if failure == "failed" else last
        assert error.code == "context_length_exceeded"
        assert streamed(server)[-1].type == last.type


def test_an_overflow_of_a_stream_may_also_be_nested_or_a_status() -> None:
    with (
        OpenAIResponsesServer([], window=1000, stream_failure="nested") as nested,
        OpenAIResponsesServer([], window=1000, stream_failure="status") as plainly,
    ):
        with pytest.raises(openai.APIError, match="exceeds the context window"):
            streamed(nested, input=LONG)
        with pytest.raises(openai.BadRequestError):
            streamed(plainly, input=LONG)


def test_truncation_drops_the_beginning_without_a_word() -> None:
    with OpenAIResponsesServer(["ok"], window=1000) as server:
        assert plain(server, input=LONG, truncation="auto").usage.input_tokens == 1000


def test_input_tokens_are_counted_as_they_are_used() -> None:
    with OpenAIResponsesServer(["ok"]) as server:
        body = {"model": MODEL, "input": ASK, "instructions": "Be brief.", "tools": [TOOL]}
        counted = post(server, f"{PATH}/input_tokens", body).body
        assert counted == {"object": "response.input_tokens", "input_tokens": plain(server, **body).usage.input_tokens}


def test_the_key_and_the_model_are_checked_first() -> None:
    with OpenAIResponsesServer([], models=["gpt-4.1"]) as server:
        assert post(server, PATH, {"model": MODEL, "input": "hi"}, authorization=None).status == 401
        assert post(server, PATH, {"model": MODEL, "input": "hi"}).status == 404


REFUSALS = [
    ([OUTPUT], "No tool call found for function call output with call_id c1."),
    ([OUTPUT, CALL], "No tool call found for function call output with call_id c1."),
    ([*ASK, CALL], "No tool output found for function call c1."),
    ([{**CALL, "id": "call_1"}, OUTPUT], "Invalid 'input[0].id': 'call_1'. Expected an ID that begins with 'fc'."),
    ([{**CALL, "id": "fc_1"}, {**CALL, "id": "fc_1"}, OUTPUT], "Duplicate item found with id fc_1."),
    ([{**CALL, "call_id": "c" * 65}], "string too long. Expected a string with maximum length 64"),
    ([{**CALL, "call_id": ""}], "Invalid 'input[0].call_id': empty string."),
    ([{**CALL, "name": "a b"}], "Invalid 'input[0].name': string does not match pattern."),
    (
        [{**CALL, "arguments": {}}],
        "Invalid type for 'input[0].arguments': expected a string, but got an object instead.",
    ),
    ([CALL, {**OUTPUT, "output": None}], "Invalid type for 'input[1].output'"),
    ([{"role": "user", "content": []}], "Invalid 'input[0].content': empty array."),
    ([{"role": "tool", "content": "x"}], "Invalid value: 'tool'. Supported values are: 'assistant',"),
    ([{"role": "user", "content": "x", "metadata": {}}], "Unknown parameter: 'input[0].metadata'."),
    (
        [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}],
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    ),
    ([{"type": "tool_use"}], "Invalid value: 'tool_use'."),
    (
        [{"type": "reasoning", "id": "rs_1", "encrypted_content": "x"}],
        "Missing required parameter: 'input[0].summary'.",
    ),
]


@pytest.mark.parametrize(("items", "expected"), REFUSALS)
def test_an_input_is_refused_for_each_rule(items: list[Any], expected: str) -> None:
    with OpenAIResponsesServer([]) as server:
        status, message = answer(server, items)
        assert status == 400
        assert expected in message


OPTIONS = [
    ({"input": []}, 'One of "input" or "previous_response_id"'),
    ({"messages": ASK}, "Unknown parameter: 'messages'."),
    ({"max_output_tokens": 5}, "Expected a value >= 16, but got 5 instead."),
    ({"tools": [{"type": "function", "function": {"name": "look"}}]}, "Missing required parameter: 'tools[0].name'."),
    ({"tools": [{**TOOL, "parameters": {"type": "array"}}]}, "Invalid schema for function 'look'"),
]


@pytest.mark.parametrize(("body", "expected"), OPTIONS)
def test_options_are_refused_for_each_rule(body: dict[str, Any], expected: str) -> None:
    with OpenAIResponsesServer([]) as server:
        status, message = answer(
            server, **{"items": ASK, **({"items": body.pop("input")} if "input" in body else {}), **body}
        )
        assert status == 400
        assert expected in message


def test_reasoning_made_elsewhere_can_be_let_through() -> None:
    with OpenAIResponsesServer(["ok"], accepts_foreign=True) as server:
        reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "made elsewhere"}
        assert answer(server, [*ASK, reasoning, {"role": "assistant", "content": "x"}, *ASK])[0] == 200
