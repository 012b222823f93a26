"""Whatever a Gemini body holds comes back, and whatever a conversation holds can be written."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aaa.messages import LLMRequest, LLMResponse, Message, TextPart, ToolCall
from aaa.messages.digest import digest
from aaa.messages.message import with_text
from aaa.wire.gemini import ReplyStream, request_from_body, request_to_body, response_from_body
from aaa.wire.gemini.names import snake
from tests.strategies import ODD_TEXTS, conversations, json_values, tool_specs

NAMES = ("read", "run", "a")
SPELLED = ("functionCall", "functionResponse", "inlineData", "fileData", "thoughtSignature", "mimeType", "willContinue")

texts = st.one_of(st.text(max_size=4), st.sampled_from(ODD_TEXTS))
ids = st.sampled_from(("id1", "id2", "read-1", ""))
objects = st.dictionaries(texts, json_values(3), max_size=3)
media = st.one_of(
    st.fixed_dictionaries({"inlineData": st.fixed_dictionaries({"mimeType": texts, "data": texts})}),
    st.fixed_dictionaries({"fileData": st.fixed_dictionaries({"fileUri": texts}, optional={"mimeType": texts})}),
)
beside = {"thoughtSignature": st.just("c2ln"), "partMetadata": objects}


def with_fields(base: st.SearchStrategy[dict[str, Any]], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda fields, more: {**more, **fields}, base, st.fixed_dictionaries({}, optional=optional))


calls = with_fields(
    st.fixed_dictionaries(
        {
            "functionCall": st.fixed_dictionaries(
                {"name": st.sampled_from(NAMES)},
                optional={"id": ids, "args": st.one_of(objects, st.none()), "willContinue": st.booleans()},
            )
        }
    ),
    **beside,
)
answers = st.one_of(
    st.builds(lambda key, text: {key: text}, st.sampled_from(("output", "output", "result", "error")), texts),
    objects,
    st.just("absent"),
    st.none(),
)


@st.composite
def responses(draw: st.DrawFn) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": draw(st.sampled_from(NAMES)), "response": draw(answers)}
    if fields["response"] == "absent":
        del fields["response"]
    if draw(st.booleans()):
        fields["id"] = draw(ids)
    match draw(st.sampled_from(("", "", "", "parts", "scheduling"))):
        case "parts":
            fields["parts"] = draw(st.lists(media, max_size=2))
        case "scheduling":
            fields["scheduling"] = "SILENT"
    return {"functionResponse": fields} | draw(st.fixed_dictionaries({}, optional=beside))


said = st.one_of(
    with_fields(st.fixed_dictionaries({"text": texts}), thought=st.booleans(), **beside),
    with_fields(media, **beside),
    st.just({"executableCode": {"language": "PYTHON", "code": "1"}}),
    st.just({"functionResponse": {"name": "read", "response": "no object"}}),
    st.dictionaries(st.sampled_from(("thought", "thoughtSignature", "x")), json_values(2), max_size=2),
)


@st.composite
def spelled(draw: st.DrawFn, part: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """A part in either spelling, or partly in the one and partly in the other."""
    fields = draw(part)
    for key, inner in list(fields.items()):
        if isinstance(inner, dict) and key in SPELLED:
            fields[key] = snake(inner, draw(st.lists(st.sampled_from(SPELLED), max_size=2)))
    return snake(fields, draw(st.sampled_from(((), (), SPELLED, ("functionCall",)))))


@st.composite
def contents(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(("model", "model", "user", "user", "user", "function", None)))
    kinds = (calls, calls, said) if role == "model" else (responses(), responses(), said, calls)
    parts: Any = [
        draw(spelled(draw(st.sampled_from(kinds)))) for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2, 2, 3))))
    ]
    match draw(st.sampled_from(("list", "list", "list", "list", "alone", "null", "absent"))):
        case "alone" if parts:
            parts = parts[0]
        case "null":
            parts = None
        case "absent":
            return {"role": role} if role else {}
    fields = {"parts": parts} | ({"role": role} if role else {})
    return fields | ({"x": 1} if draw(st.integers(0, 9)) == 0 else {})


schemas = st.one_of(
    st.sampled_from(
        (
            {},
            {"type": "OBJECT", "properties": {"type": {"type": "STRING"}}},
            {"type": "object", "properties": {"a": {"type": "ARRAY", "items": {"type": "STRING"}}}},
            None,
        )
    ),
    objects,
)
declarations = st.fixed_dictionaries(
    {"name": st.sampled_from(NAMES)},
    optional={
        "description": st.one_of(texts, st.none()),
        "parameters": schemas,
        "parametersJsonSchema": schemas,
        "parameters_json_schema": schemas,
        "response": objects,
    },
)
tools = st.fixed_dictionaries(
    {},
    optional={
        "functionDeclarations": st.lists(declarations, max_size=3),
        "function_declarations": st.lists(declarations, max_size=2),
        "googleSearch": st.just({}),
        "codeExecution": st.just({}),
    },
)
system = st.one_of(st.none(), contents())
bodies = st.fixed_dictionaries(
    {"contents": st.lists(contents(), max_size=6)},
    optional={
        "systemInstruction": system,
        "system_instruction": system,
        "tools": st.one_of(st.lists(tools, max_size=3), tools, st.none()),
        "generationConfig": objects,
        "model": st.one_of(texts, st.none()),
        "x": json_values(2),
    },
)


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(bodies)
def test_any_body_comes_back_as_it_was(body):
    before = as_json(body)
    request = request_from_body(body)
    assert as_json(request_to_body(request)) == before
    assert as_json(body) == before
    hash(request)


@given(st.lists(contents(), min_size=1, max_size=6), st.integers(0, 6))
def test_what_a_prefix_is_read_as_does_not_depend_on_what_follows(given_contents, length):
    whole = request_from_body({"contents": given_contents}).messages
    start = request_from_body({"contents": given_contents[:length]}).messages
    assert [digest(message) for message in whole[: len(start)]] == [digest(message) for message in start]


@given(st.lists(contents(), min_size=1, max_size=4), st.data())
def test_an_edit_of_any_message_is_what_is_sent(given_contents, data):
    messages = list(request_from_body({"contents": given_contents}).messages)
    index = data.draw(st.integers(0, len(messages) - 1))
    messages[index] = with_text(messages[index], "edited here")
    assert "edited here" in as_json(request_to_body(LLMRequest(tuple(messages))))


@given(st.lists(contents(), min_size=1, max_size=5), st.data())
def test_any_messages_of_a_body_can_be_left_out(given_contents, data):
    messages = request_from_body({"contents": given_contents}).messages
    kept = tuple(message for message in messages if data.draw(st.booleans()))
    assert_is_a_body(request_to_body(LLMRequest(kept)))


@given(conversations(max_chars=500), tool_specs())
def test_any_conversation_can_be_written_and_read_again(messages, specs):
    body = request_to_body(LLMRequest(tuple(messages), specs, "gemini-3"))
    assert_is_a_body(body)
    assert as_json(request_to_body(request_from_body(body))) == as_json(body)


@given(st.data())
def test_the_results_of_a_turn_stand_behind_it_in_the_order_of_its_calls(data):
    messages: list[Message] = [Message("user", "go")]
    turns = data.draw(st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), max_size=4))
    late: list[Message] = []
    for number, names in enumerate(turns):
        calls = [ToolCall(f"{number}.{place}", name) for place, name in enumerate(names)]
        results = [Message("tool", call.id, (), call.id) for call in data.draw(st.permutations(calls))]
        if data.draw(st.booleans()):
            late.append(results.pop())
        messages += [Message("assistant", None, tuple(calls)), *results]
        messages += data.draw(st.sampled_from(([], [Message("user", "and?")], [Message("system", "note")])))
    sent = request_to_body(LLMRequest((*messages, *late)))["contents"]
    for before, content in zip([None, *sent], sent, strict=False):
        asked = [part["functionCall"]["id"] for part in (before or {"parts": ()})["parts"] if "functionCall" in part]
        results = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        assert [result["id"] for result in results] == asked
        assert [result["response"] for result in results] == [{"output": call_id} for call_id in asked]


pieces = st.lists(
    st.one_of(
        st.builds(lambda text, thought: {"text": text, "thought": thought}, texts, st.booleans()),
        st.builds(lambda text: {"text": text}, texts),
        st.builds(lambda text: {"text": text, "thoughtSignature": "c2ln"}, texts),
        calls.filter(lambda part: "willContinue" not in part["functionCall"]),
    ),
    max_size=8,
)


@given(pieces, st.data())
def test_a_stream_says_the_same_however_it_is_cut(parts, data):
    stream = ReplyStream()
    rest = list(parts)
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        stream.feed({"candidates": [{"content": {"role": "model", "parts": rest[:size]}}]})
        rest = rest[size:]
    stream.feed({"candidates": [{"finishReason": "STOP"}], "responseId": "r"})
    whole = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}], "responseId": "r"}
    assert spoken(stream.response()) == spoken(response_from_body(whole))


def spoken(reply: LLMResponse) -> Any:
    """A reply without how its texts are cut into parts."""
    content = reply.message.content if isinstance(reply.message.content, tuple) else ()
    signed = [part for part in content if isinstance(part, TextPart) and "thoughtSignature" in part.extra]
    thoughts = "".join(json.loads(part.json)["text"] for part in content if not isinstance(part, TextPart))
    calls = [replace(call, extra="") for call in reply.message.tool_calls]
    return reply.message.text, thoughts, signed, calls, reply.finish_reason


def assert_is_a_body(body: dict[str, Any]) -> None:
    """What the API checks in any content."""
    json.dumps(body)
    for content in body["contents"]:
        if content.get("parts"):
            for part in content["parts"] if isinstance(content["parts"], list) else [content["parts"]]:
                assert isinstance(part, dict)
