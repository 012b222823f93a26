"""The Messages server: the official SDK can talk to it, and it refuses what Anthropic refuses."""

from typing import Any

import anthropic
import pytest

from tests.servers.anthropic import AnthropicServer
from tests.servers.anthropic_thinking import BINDING_BETA
from tests.servers.asking import bounded, post
from tests.servers.replies import (
    auth_error,
    calls,
    cut,
    empty,
    half_stream,
    overflow,
    overloaded,
    rate_limit,
    refusal,
    stream_error,
    text,
)

PATH = "/v1/messages"
MODEL = "claude-sonnet-5-5"
ASK = {"role": "user", "content": "hi"}
BODY: dict[str, Any] = {"model": MODEL, "max_tokens": 2000, "messages": [ASK]}
TOOL = {"name": "look", "input_schema": {"type": "object", "properties": {}}}
USE = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a lamp"}
TEXT = {"type": "text", "text": "so"}
MARK = {"cache_control": {"type": "ephemeral"}}
THINK = {"type": "enabled", "budget_tokens": 1024}


def client(server: AnthropicServer) -> Any:
    return anthropic.Anthropic(base_url=server.url, api_key=server.key, max_retries=0)


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def answer(server: AnthropicServer, *messages: Any, **body: Any) -> tuple[int, str]:
    """(status, error message) of a conversation."""
    given = post(server, PATH, {**BODY, "messages": list(messages), **body})
    return given.status, given.body.get("error", {}).get("message", "")


async def both_async(server: AnthropicServer) -> tuple[str, str]:
    async with anthropic.AsyncAnthropic(base_url=server.url, api_key=server.key, max_retries=0) as sdk:
        whole = await sdk.messages.create(**BODY)
        async with sdk.messages.stream(**BODY) as stream:
            return whole.content[0].text, await stream.get_final_text()


def test_a_reply_is_the_same_with_and_without_streaming_sync_and_async() -> None:
    with AnthropicServer(lambda _: text("Hello, friend.")) as server, client(server) as sdk:
        assert sdk.messages.create(**BODY).content[0].text == "Hello, friend."
        with sdk.messages.stream(**BODY) as stream:
            assert stream.get_final_text() == "Hello, friend."
        assert bounded(lambda: both_async(server)) == ("Hello, friend.", "Hello, friend.")
        assert server.refused == []


def test_a_stream_has_its_events_in_order_and_its_usage_in_two_places() -> None:
    script = [calls(("look", {"at": "x"}), ("go", {}), text="Hm.", thinking="so")]
    with AnthropicServer(script) as server, client(server) as sdk:
        events = list(sdk.messages.create(**BODY, stream=True))
        names = [event.type for event in events]
        assert (names[0], names[-2], names[-1]) == ("message_start", "message_delta", "message_stop")
        assert names.count("content_block_start") == names.count("content_block_stop") == 4
        assert events[0].message.usage.input_tokens == 9
        assert events[-2].usage.output_tokens == server.turns[0].output_tokens
        deltas = [event.delta.type for event in events if event.type == "content_block_delta"]
        assert set(deltas) == {"thinking_delta", "signature_delta", "text_delta", "input_json_delta"}


def test_parallel_calls_are_taken_back_with_their_results() -> None:
    script = [calls(("look", {"at": "x"}), ("look", {}), thinking="so"), text("done")]
    with AnthropicServer(script, binds_thinking=True) as server, client(server) as sdk:
        body = {**BODY, "tools": [TOOL], "thinking": THINK}
        with sdk.messages.stream(**body) as stream:
            message = stream.get_final_message()
        ids = [block.id for block in message.content if block.type == "tool_use"]
        results = [{**RESULT, "tool_use_id": id} for id in ids]
        history = [ASK, {"role": "assistant", "content": message.content}, user(*results)]
        assert sdk.messages.create(**{**body, "messages": history}).content[0].text == "done"


def test_counting_tokens_agrees_with_usage_and_needs_no_limit() -> None:
    with AnthropicServer(["ok"]) as server, client(server) as sdk:
        counted = sdk.messages.count_tokens(model=MODEL, messages=[ASK], system="Be brief.", tools=[TOOL])
        used = sdk.messages.create(**BODY, system="Be brief.", tools=[TOOL]).usage
        assert counted.input_tokens == used.input_tokens
        assert len(server.requests) == 1


def test_the_cache_is_written_and_read_only_where_it_is_marked() -> None:
    with AnthropicServer(lambda _: text("ok")) as server, client(server) as sdk:
        head = [{**TEXT, "text": "s" * 400, **MARK}]
        first = sdk.messages.create(**BODY, system=head).usage
        later = [ASK, assistant(TEXT), user({"type": "text", "text": "more", **MARK})]
        second = sdk.messages.create(**{**BODY, "messages": later}, system=head).usage
        bare = sdk.messages.create(**BODY, system="s" * 400).usage
        assert (first.cache_creation_input_tokens > 100, first.cache_read_input_tokens) == (True, 0)
        assert second.cache_read_input_tokens == first.cache_creation_input_tokens
        assert second.cache_creation_input_tokens > 0
        assert second.input_tokens == 0
        assert (bare.cache_read_input_tokens, bare.cache_creation_input_tokens) == (0, 0)


def test_replies_stop_for_their_own_reasons() -> None:
    script = [refusal("No."), cut(calls(("look", {"at": "lamp"}))), empty(), "a long text " * 9]
    with AnthropicServer(script) as server, client(server) as sdk:
        replies = [sdk.messages.create(**{**BODY, "max_tokens": 5}) for _ in range(4)]
        assert [reply.stop_reason for reply in replies] == ["refusal", "max_tokens", "end_turn", "max_tokens"]
        assert replies[0].stop_details.explanation == "No."
        assert replies[1].content[0].input == {}
        assert replies[2].content == []
        assert len(replies[3].content[0].text) == 20


def test_faults_come_as_the_sdk_knows_them() -> None:
    faults = [rate_limit(3), overloaded(), auth_error(), overflow()]
    with AnthropicServer(faults) as server, client(server) as sdk:
        errors = []
        for _ in faults:
            with pytest.raises(anthropic.APIStatusError) as caught:
                sdk.messages.create(**BODY)
            errors.append(caught.value)
        assert [error.status_code for error in errors] == [429, 529, 401, 400]
        assert errors[0].response.headers["retry-after"] == "3"
        kinds = [error.body["error"]["type"] for error in errors]
        assert kinds == ["rate_limit_error", "overloaded_error", "authentication_error", "invalid_request_error"]


def test_a_stream_can_break_off_or_end_with_an_error() -> None:
    with AnthropicServer([half_stream(), stream_error()]) as server, client(server) as sdk:
        with pytest.raises(Exception, match="peer closed connection"):
            list(sdk.messages.create(**BODY, stream=True))
        with pytest.raises(anthropic.APIStatusError, match="api_error"):
            list(sdk.messages.create(**BODY, stream=True))


def test_an_overflow_is_an_error_or_a_reason_to_stop_by_the_age_of_the_model() -> None:
    long = user({**TEXT, "text": "x" * 4000})
    with AnthropicServer(["y" * 4000], window=1500) as server:
        assert answer(server, user({**TEXT, "text": "x" * 8000})) == (
            400,
            "prompt is too long: 2008 tokens > 1500 maximum",
        )
        stopped = post(server, PATH, {**BODY, "messages": [long]}).body
        assert stopped["stop_reason"] == "model_context_window_exceeded"
        assert stopped["usage"]["input_tokens"] + stopped["usage"]["output_tokens"] == 1500
    with AnthropicServer([], window=1500, counts_output=True) as old:
        assert answer(old, long) == (
            400,
            "input length and `max_tokens` exceed context limit: 1008 + 2000 > 1500, decrease input length or "
            "`max_tokens` and try again",
        )


def test_the_key_the_model_and_the_size_are_checked_first() -> None:
    with AnthropicServer([], models=["claude-haiku-4-5"], byte_limit=300) as server:
        missing = post(server, PATH, BODY, authorization=None)
        wrong = post(server, PATH, BODY, authorization=None, x_api_key="no")
        unknown = post(server, PATH, BODY)
        large = post(server, PATH, {**BODY, "system": "x" * 300})
        bare = post(server, PATH, BODY, anthropic_version=None)
        assert [a.status for a in (missing, wrong, unknown, large, bare)] == [401, 401, 404, 413, 400]
        assert missing.body["error"]["message"] == "x-api-key header is required"
        assert unknown.body["error"] == {"type": "not_found_error", "message": f"model: {MODEL}"}
        assert large.body["error"]["type"] == "request_too_large"


REFUSALS = [
    ([], "messages: at least one message is required"),
    ([assistant(TEXT)], 'messages: first message must use the "user" role'),
    ([ASK, {"role": "system", "content": "x"}], "messages.1: role 'system' is not supported on this model"),
    ([{"role": "tool", "content": "x"}], "messages.0.role: Input should be 'user' or 'assistant'"),
    ([{"role": "user", "content": ""}], "messages.0: all messages must have non-empty content"),
    ([user({**TEXT, "text": ""})], "messages: text content blocks must be non-empty"),
    ([user({**TEXT, "text": " "})], "messages: text content blocks must contain non-whitespace text"),
    ([ASK, assistant(TEXT)], "This model does not support assistant message prefill."),
    ([user(RESULT)], "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each"),
    (
        [ASK, assistant(USE)],
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    ),
    ([ASK, assistant(USE), user(TEXT)], "`tool_use` ids were found without `tool_result` blocks immediately after"),
    ([ASK, assistant(USE), user(TEXT, RESULT)], "`tool_use` ids were found without `tool_result` blocks"),
    ([ASK, assistant(USE), ASK, assistant(TEXT), user(RESULT)], "`tool_use` ids were found without `tool_result`"),
    ([ASK, assistant(USE), user(RESULT), user(RESULT)], "each tool_use must have a single result. Found multiple"),
    ([ASK, assistant(USE, USE), user(RESULT)], "messages.1.content.1: `tool_use` ids must be unique"),
    ([ASK, assistant({**USE, "id": "a.b"})], "messages.1.content.0.tool_use.id: String should match pattern"),
    ([ASK, assistant({**USE, "name": "a b"})], "messages.1.content.0.tool_use.name: String should match pattern"),
    ([ASK, assistant({**USE, "input": "{}"})], "tool_use.input: Input should be a valid dictionary"),
    ([ASK, assistant({**USE, "index": 0})], "messages.1.content.0.tool_use.index: Extra inputs are not permitted"),
    ([{**ASK, "name": "x"}], "messages.0.name: Extra inputs are not permitted"),
    ([user(USE)], "messages.0: `tool_use` blocks can only be in `assistant` messages"),
    ([ASK, assistant(RESULT)], "messages.1: `tool_result` blocks can only be in `user` messages"),
    ([user({"type": "input_text", "text": "x"})], "messages.0.content.0: Input tag 'input_text' found using 'type'"),
    (
        [user({"type": "image", "source": {"type": "base64", "media_type": "image/bmp"}})],
        "Input should be 'image/jpeg'",
    ),
    ([user(*[{"type": "image", "source": {}}] * 101)], "Too much media: 0 document pages + 101 images > 100"),
    ([user(*[{**TEXT, **MARK}] * 5)], "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    (
        [ASK, assistant({"type": "thinking", "thinking": "x", "signature": "x"}), ASK],
        "Invalid `signature` in `thinking`",
    ),
    ([ASK, assistant({"type": "redacted_thinking", "data": "x"}), ASK], "Invalid `data` in `redacted_thinking` block"),
]


@pytest.mark.parametrize(("messages", "expected"), REFUSALS)
def test_a_conversation_is_refused_for_each_rule(messages: list[Any], expected: str) -> None:
    with AnthropicServer([]) as server:
        status, message = answer(server, *messages)
        assert status == 400
        assert expected in message


OPTIONS = [
    ({"max_tokens": None}, "max_tokens: Field required"),
    ({"max_tokens": 9000}, "max_tokens: 9000 > 8000, which is the maximum allowed number of output tokens for claude-"),
    ({"response_format": {}}, "response_format: Extra inputs are not permitted"),
    ({"system": [{"type": "text", "text": ""}]}, "system: text content blocks must be non-empty"),
    ({"tools": [{"name": "look"}]}, "tools.0.custom.input_schema: Field required"),
    ({"tools": [{**TOOL, "parameters": {}}]}, "tools.0.custom.parameters: Extra inputs are not permitted"),
    ({"tools": [{**TOOL, "name": "a.b"}]}, "tools.0.custom.name: String should match pattern"),
    ({"tools": [{"name": "x", "input_schema": {}}]}, "tools.0.custom.input_schema.type: Field required"),
    ({"tools": [TOOL, TOOL]}, "tools: Tool names must be unique."),
    ({"tool_choice": {"type": "auto"}}, "tool_choice may only be specified while providing `tools`."),
    ({"thinking": {"type": "on"}}, "thinking: Input tag 'on' found using 'type' does not match"),
    ({"thinking": {"type": "enabled", "budget_tokens": 5}}, "Input should be greater than or equal to 1024"),
    ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "`max_tokens` must be greater than `thinking.budget"),
    ({"thinking": THINK, "temperature": 0}, "`temperature` may only be set to 1 when thinking is enabled."),
    (
        {"thinking": THINK, "tools": [TOOL], "tool_choice": {"type": "any"}},
        "Thinking may not be enabled when tool_choice",
    ),
    ({"thinking": {"type": "adaptive", "block_binding": {}}}, "thinking.adaptive.block_binding: Extra inputs are not"),
]


@pytest.mark.parametrize(("body", "expected"), OPTIONS)
def test_options_are_refused_for_each_rule(body: dict[str, Any], expected: str) -> None:
    with AnthropicServer([], max_output=8000) as server:
        status, message = answer(server, ASK, **body)
        assert status == 400
        assert expected in message


def test_neighbours_of_one_role_are_one_turn() -> None:
    with AnthropicServer(["ok"]) as server:
        second = {**USE, "id": "toolu_2"}
        results = [user(RESULT), user({**RESULT, "tool_use_id": "toolu_2"}), ASK]
        assert answer(server, ASK, ASK, assistant(TEXT), assistant(USE, second), *results) == (200, "")


def test_prefill_and_system_messages_are_for_models_that_take_them() -> None:
    with AnthropicServer(lambda _: text("ok"), takes_prefill=True, takes_system=True) as server:
        system = {"role": "system", "content": "x"}
        assert answer(server, ASK, assistant(TEXT))[0] == 200
        assert answer(server, ASK, system)[0] == 200
        trailing = "messages: final assistant content cannot end with trailing whitespace"
        assert answer(server, ASK, assistant({**TEXT, "text": "so "})) == (400, trailing)
        out_of_place = "messages.1: role 'system' must precede an 'assistant' message or end the array"
        assert answer(server, ASK, system, ASK) == (400, out_of_place)


def tool_turn(server: AnthropicServer, **body: Any) -> tuple[list[Any], dict[str, Any]]:
    """The blocks of a reply that thinks and calls a tool, and the user's turn that answers it."""
    content = post(server, PATH, {**BODY, "thinking": THINK, **body}).body["content"]
    return content, user({**RESULT, "tool_use_id": content[-1]["id"]})


def test_the_thinking_of_an_open_tool_turn_is_there_and_as_it_was() -> None:
    with AnthropicServer(lambda _: calls(("look", {}), thinking="so")) as server:
        (thought, call), results = tool_turn(server)
        assert answer(server, ASK, assistant(thought, call), results, thinking=THINK)[0] == 200
        status, message = answer(server, ASK, assistant(call), results, thinking=THINK)
        expected = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
        assert (status, message.startswith(expected)) == (400, True)
        assert answer(server, ASK, assistant(call), results, thinking={"type": "adaptive"})[0] == 200
        status, message = answer(server, ASK, assistant({**thought, "thinking": "other"}, call), results)
        assert (status, "blocks in the latest assistant message cannot be modified" in message) == (400, True)


def test_thinking_of_earlier_turns_may_go_but_not_change() -> None:
    with AnthropicServer(lambda _: calls(("look", {}), thinking="so")) as server:
        (thought, call), results = tool_turn(server)
        after = [results, assistant(TEXT), ASK]
        assert answer(server, ASK, assistant(call), *after, thinking=THINK)[0] == 200
        status, message = answer(server, ASK, assistant({**thought, "thinking": "other"}, call), *after)
        assert (status, message) == (400, "messages.1.content.0: Invalid `signature` in `thinking` block")


def test_a_signature_is_read_by_any_server_of_the_account_and_no_other() -> None:
    with AnthropicServer([calls(("look", {}), thinking="so")], binds_thinking=True) as server:
        (thought, call), results = tool_turn(server)
    history = [ASK, assistant(thought, call), results]
    with AnthropicServer(["ok"], binds_thinking=True) as later, AnthropicServer([], account="another") as other:
        assert answer(later, *history, thinking=THINK)[0] == 200
        assert answer(other, *history)[1] == "messages.1.content.0: Invalid `signature` in `thinking` block"


@pytest.mark.parametrize("change", ["system", "tools", "message", "thinking"])
def test_bound_thinking_breaks_with_anything_before_it(change: str) -> None:
    script = lambda _: calls(("look", {}), thinking="so")  # noqa: E731 - a script in one line
    with AnthropicServer(script, binds_thinking=True) as server:
        first, results = tool_turn(server)
        start = [ASK, assistant(*first), results]
        second, more = tool_turn(server, messages=start)
        whole = [*start, assistant(*second), more]
        assert answer(server, *whole, thinking=THINK)[0] == 200
        changed: dict[str, tuple[list[Any], dict[str, Any]]] = {
            "system": (whole, {"system": "x"}),
            "tools": (whole, {"tools": [TOOL]}),
            "message": ([user({**TEXT, "text": "hi!"}), *whole[1:]], {}),
            "thinking": ([ASK, assistant(first[1]), *whole[2:]], {}),
        }
        messages, body = changed[change]
        status, message = answer(server, *messages, thinking=THINK, **body)
        index = 3 if change == "thinking" else 1
        assert (status, message) == (
            400,
            f"messages.{index}.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "
            "conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
            '"drop_block".',
        )


def test_bound_thinking_does_not_mind_how_the_same_is_written() -> None:
    with AnthropicServer(lambda _: calls(("look", {}), thinking="so"), binds_thinking=True) as server:
        content, results = tool_turn(server, system="s")
        marked = user({**TEXT, "text": "hi", **MARK})
        system = [{"type": "text", "text": "s"}]
        assert answer(server, marked, assistant(*content), results, thinking=THINK, system=system)[0] == 200


def test_mismatched_thinking_can_be_dropped_instead() -> None:
    with AnthropicServer(lambda _: calls(("look", {}), thinking="so"), binds_thinking=True) as server:
        content, results = tool_turn(server)
        thinking = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
        body = {**BODY, "messages": [user(TEXT), assistant(*content), results], "thinking": thinking}
        reply = post(server, PATH, body, anthropic_beta=BINDING_BETA)
        assert reply.status == 200
        dropped = {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}
        assert reply.body["input_transformations"] == [dropped]
