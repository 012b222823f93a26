"""The Gemini server: the official SDK can talk to it, and it refuses what Gemini refuses."""

from typing import Any

import pytest
from google import genai
from google.genai import errors, types

from tests.servers.asking import bounded, post
from tests.servers.gemini import GeminiServer
from tests.servers.replies import (
    auth_error,
    calls,
    cut,
    empty,
    half_stream,
    image,
    overflow,
    overloaded,
    rate_limit,
    refusal,
    stream_error,
    text,
)

NEW, OLD = "gemini-3-pro-preview", "gemini-2.5-flash"
ASK = {"role": "user", "parts": [{"text": "hi"}]}
SAY = {"role": "model", "parts": [{"text": "so"}]}
CALL = {"functionCall": {"name": "look", "args": {}}}
RESPONSE = {"functionResponse": {"name": "look", "response": {"result": "a lamp"}}}
UNEQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)


def client(server: GeminiServer) -> Any:
    return genai.Client(api_key=server.key, http_options=types.HttpOptions(base_url=server.url))


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def answer(server: GeminiServer, *contents: Any, of: str = OLD, **body: Any) -> tuple[int, str]:
    given = post(server, f"/v1beta/models/{of}:generateContent", {"contents": list(contents), **body})
    return given.status, given.body.get("error", {}).get("message", "")


async def both_async(server: GeminiServer) -> tuple[str, str]:
    async with client(server).aio as sdk:
        whole = await sdk.models.generate_content(model=NEW, contents="hi")
        stream = await sdk.models.generate_content_stream(model=NEW, contents="hi")
        return whole.text or "", "".join([chunk.text or "" async for chunk in stream])


def test_a_reply_is_the_same_with_and_without_streaming_sync_and_async() -> None:
    with GeminiServer(lambda _: text("Hello, friend.")) as server, client(server) as sdk:
        assert sdk.models.generate_content(model=NEW, contents="hi").text == "Hello, friend."
        chunks = sdk.models.generate_content_stream(model=NEW, contents="hi")
        assert "".join(chunk.text or "" for chunk in chunks) == "Hello, friend."
        assert bounded(lambda: both_async(server)) == ("Hello, friend.", "Hello, friend.")
        assert server.refused == []


def test_parallel_calls_are_taken_back_with_their_responses() -> None:
    script = [calls(("look", {"snake_case": 1}), ("go", {}), thinking="so"), text("done")]
    with GeminiServer(script) as server, client(server) as sdk:
        content = sdk.models.generate_content(model=NEW, contents="hi").candidates[0].content
        called = [part.function_call for part in content.parts if part.function_call]
        assert called[0].args == {"snake_case": 1}
        assert content.parts[0].thought_signature
        assert content.parts[1].thought_signature is None
        responses = [types.FunctionResponse(id=call.id, name=call.name, response={"r": 1}) for call in called]
        results = types.Content(role="user", parts=[types.Part(function_response=response) for response in responses])
        history = [types.Content(role="user", parts=[types.Part(text="hi")]), content, results]
        assert sdk.models.generate_content(model=NEW, contents=history).text == "done"


def test_thoughts_are_shown_when_asked_and_counted_apart() -> None:
    shown = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True))
    with GeminiServer(lambda _: text("ok", thinking="t" * 40)) as server, client(server) as sdk:
        chunks = list(sdk.models.generate_content_stream(model=NEW, contents="hi", config=shown))
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
        assert "".join(part.text for part in parts if part.thought) == "t" * 40
        assert parts[-1].thought_signature
        usage = chunks[-1].usage_metadata
        assert (usage.thoughts_token_count, usage.candidates_token_count) == (10, 1)
        hidden = sdk.models.generate_content(model=NEW, contents="hi").candidates[0].content.parts
        assert [part.text for part in hidden] == ["ok"]


def test_the_cache_has_what_a_prompt_shares_with_an_earlier_one() -> None:
    with GeminiServer(lambda _: text("ok")) as server, client(server) as sdk:
        config = types.GenerateContentConfig(system_instruction="s" * 400)
        first, second = (sdk.models.generate_content(model=OLD, contents=c, config=config) for c in ("hi", "more"))
        assert first.usage_metadata.cached_content_token_count is None
        assert second.usage_metadata.cached_content_token_count > 100


def test_replies_finish_for_their_own_reasons() -> None:
    script = [refusal("No."), cut(calls(("look", {}))), empty(), image(b"png"), "a long text " * 9]
    with GeminiServer(script) as server, client(server) as sdk:
        config = types.GenerateContentConfig(max_output_tokens=5)
        replies = [sdk.models.generate_content(model=OLD, contents="hi", config=config).candidates[0] for _ in script]
        assert [reply.finish_reason.value for reply in replies] == [
            "SAFETY",
            "MAX_TOKENS",
            "STOP",
            "STOP",
            "MAX_TOKENS",
        ]
        assert replies[2].content.parts is None
        assert replies[3].content.parts[0].inline_data.data == b"png"
        assert len(replies[4].content.parts[0].text) == 20


def test_faults_come_as_the_sdk_knows_them() -> None:
    faults = [rate_limit(3), overloaded(), auth_error(), overflow()]
    with GeminiServer(faults) as server, client(server) as sdk:
        caught = []
        for _ in faults:
            with pytest.raises(errors.APIError) as error:
                sdk.models.generate_content(model=NEW, contents="hi")
            caught.append(error.value)
        assert [error.code for error in caught] == [429, 503, 400, 400]
        statuses = [error.status for error in caught]
        assert statuses == ["RESOURCE_EXHAUSTED", "UNAVAILABLE", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
        assert caught[0].details["error"]["details"][0]["retryDelay"] == "3s"


def test_a_stream_can_break_off_or_end_with_an_error() -> None:
    with GeminiServer([half_stream(), stream_error()]) as server, client(server) as sdk:
        with pytest.raises(Exception, match="peer closed connection"):
            list(sdk.models.generate_content_stream(model=NEW, contents="hi"))
        with pytest.raises(errors.ServerError, match="INTERNAL"):
            list(sdk.models.generate_content_stream(model=NEW, contents="hi"))


def test_an_overflow_names_both_numbers_and_counting_agrees() -> None:
    with GeminiServer([], window=1000) as server, client(server) as sdk:
        status, message = answer(server, user({"text": "x" * 4000}))
        assert (status, message) == (
            400,
            "The input token count (1009) exceeds the maximum number of tokens allowed (1000).",
        )
        assert sdk.models.count_tokens(model=OLD, contents="x" * 4000).total_tokens == 1009
        assert sdk.models.get(model=OLD).input_token_limit == 1000
        assert (len(server.overflows), server.refused) == (1, [])


def test_the_key_the_model_and_the_size_are_checked_first() -> None:
    with GeminiServer([], models=["gemini-4"], byte_limit=100) as server:
        path, body = f"/v1beta/models/{OLD}:generateContent", {"contents": [ASK]}
        missing = post(server, path, body, x_goog_api_key=None)
        wrong = post(server, path, body, x_goog_api_key="no")
        unknown = post(server, path, body)
        large = post(server, path, {"contents": [user({"text": "x" * 100})]})
        assert [a.status for a in (missing, wrong, unknown, large)] == [403, 400, 404, 400]
        assert missing.body["error"]["status"] == "PERMISSION_DENIED"
        assert wrong.body["error"]["message"] == "API key not valid. Please pass a valid API key."
        assert unknown.body["error"]["message"].startswith(f"models/{OLD} is not found for API version v1beta")
        assert large.body["error"]["message"] == "Request payload size exceeds the limit: 100 bytes."


AFTER_CALL = "Please ensure that function response turn comes immediately after a function call turn."
AFTER_USER = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
REFUSALS = [
    ([], "* GenerateContentRequest.contents: contents is not specified"),
    ([user(RESPONSE)], AFTER_CALL),
    ([ASK, SAY, user(RESPONSE)], AFTER_CALL),
    ([ASK, model(CALL), user(RESPONSE), user(RESPONSE)], AFTER_CALL),
    ([model(CALL), user(RESPONSE)], AFTER_USER),
    ([ASK, SAY, model(CALL), user(RESPONSE)], AFTER_USER),
    ([ASK, model(CALL)], UNEQUAL),
    ([ASK, model(CALL), ASK], UNEQUAL),
    ([ASK, model(CALL, CALL), user(RESPONSE)], UNEQUAL),
    ([ASK, model(CALL), user(RESPONSE, RESPONSE)], UNEQUAL),
    ([ASK, model(CALL, CALL), user(RESPONSE), user(RESPONSE)], UNEQUAL),
    ([ASK, model(CALL), user({"functionResponse": {"name": "go", "response": {}}})], UNEQUAL),
    ([SAY, ASK], "begin with a user turn"),
    ([{**ASK, "role": "assistant"}], "Please use a valid role: user, model."),
    ([user()], "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty."),
    ([user({})], "contents[0].parts[0].data: required oneof field 'data' must have one initialized field"),
    ([user({"text": "x", **CALL})], "oneof field 'data' is already set."),
    ([{**ASK, "content": "x"}], "Unknown name \"content\" at 'contents[0]': Cannot find field."),
    ([user({"type": "text", "text": "x"})], "Unknown name \"type\" at 'contents[0].parts[0]': Cannot find field."),
    ([ASK, model({"functionCall": {"args": {}}})], "parts[0].function_call.name: Name cannot be empty."),
    (
        [ASK, model({"functionCall": {"name": "x", "args": "{}"}})],
        "Invalid value at 'contents[1].parts[0].function_call",
    ),
    ([ASK, model({"functionCall": {"name": "x", "thoughtSignature": "x"}})], 'Unknown name "thoughtSignature"'),
    ([ASK, model({"text": "x", "thoughtSignature": "x"}), ASK], "Corrupted thought signature."),
]


@pytest.mark.parametrize(("contents", "expected"), REFUSALS)
def test_a_conversation_is_refused_for_each_rule(contents: list[Any], expected: str) -> None:
    with GeminiServer([]) as server:
        status, message = answer(server, *contents)
        assert status == 400
        assert expected in message


def declared(**declaration: Any) -> dict[str, Any]:
    return {"tools": [{"functionDeclarations": [declaration]}]}


OPTIONS = [
    ({"messages": []}, 'Invalid JSON payload received. Unknown name "messages": Cannot find field.'),
    ({"systemInstruction": {"parts": []}}, "system_instruction.parts: contents.parts must not be empty."),
    ({"generationConfig": {"maxOutputTokens": 999}}, "maxOutputTokens value of 999 but the supported range is from 1"),
    ({"cachedContent": "cachedContents/x", **declared(name="x")}, "CachedContent can not be used with"),
    (declared(name="a b"), "[FIELD_INVALID] Invalid function name."),
    (declared(name="x", input_schema={}), "Unknown name \"inputSchema\" at 'tools[0].function_declarations[0]'"),
    (declared(name="x", parameters={"type": "OBJECT", "$defs": {}}), 'Unknown name "$defs"'),
    (
        declared(name="x", parameters={"type": "OBJECT", "properties": {"a": {"const": 1}}}),
        "Unknown name \"const\" at 'tools[0].function_declarations[0].parameters.properties[0].value'",
    ),
    ({"tools": [{"functionDeclarations": [{"name": "x"}, {"name": "x"}]}]}, "Duplicate function declaration found: x"),
]


@pytest.mark.parametrize(("body", "expected"), OPTIONS)
def test_options_are_refused_for_each_rule(body: dict[str, Any], expected: str) -> None:
    with GeminiServer([], max_output=100) as server:
        status, message = answer(server, ASK, **body)
        assert status == 400
        assert expected in message


def test_a_signature_is_needed_on_the_first_call_of_each_step_of_the_current_turn() -> None:
    with GeminiServer(lambda _: text("ok")) as server:
        signed = {**CALL, "thoughtSignature": "skip_thought_signature_validator"}
        missing = (
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
            "correctly, and missing thought_signature may lead to degraded model performance. Additional data, "
            "function call `default_api:look` , position {}. Please refer to "
            "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
        )
        steps = [ASK, model(signed, CALL), user(RESPONSE, RESPONSE)]
        assert answer(server, *steps, of=NEW) == (200, "")
        assert answer(server, *steps, model(CALL), user(RESPONSE), of=NEW) == (400, missing.format(4))
        assert answer(server, *steps, model(CALL), user(RESPONSE), SAY, ASK, of=NEW) == (200, "")
        assert answer(server, ASK, model(CALL, signed), user(RESPONSE, RESPONSE), of=NEW) == (400, missing.format(2))
        assert answer(server, ASK, model(CALL), user(RESPONSE), of=OLD) == (200, "")


def test_fields_may_be_written_either_way() -> None:
    with GeminiServer(["ok"]) as server:
        call = {"function_call": {"name": "look", "args": {"snake_case": 1}}}
        assert answer(server, ASK, model(call), user({"function_response": RESPONSE["functionResponse"]}))[0] == 200
        assert server.requests[0]["contents"][1]["parts"][0] == {"functionCall": call["function_call"]}
