"""What holds for any body in OpenAI's chat format, and for any conversation written in it."""

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aaa.messages import LLMRequest, Message, OpaquePart, TextPart, digest, pair
from aaa.wire.openai_chat import (
    message_from_dict,
    messages_from_dicts,
    request_from_body,
    request_to_body,
    response_from_body,
)
from aaa.wire.openai_responses import items_from_messages
from tests.strategies import conversations, json_values, message_dicts, tool_dicts

PNG = "iVBORw0KGgo="
FOREIGN = [
    ("anthropic", {"type": "thinking", "thinking": "hm", "signature": "s"}),
    ("anthropic", {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}),
    ("anthropic", {"type": "document", "source": {"type": "url", "url": "https://x.test/a.pdf"}}),
    ("anthropic", {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
    ("gemini", {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}),
    ("gemini", {"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}),
    ("gemini", {"fileData": {"fileUri": "https://x.test/b"}}),
    ("ollama", {"image": PNG}),
    ("openai-responses", {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AA"}),
    ("openai-responses", {"type": "input_file", "file_id": "f"}),
    ("openai-responses", {"type": "refusal", "refusal": "no"}),
]
FOREIGN_PARTS = st.sampled_from(FOREIGN).map(
    lambda given: OpaquePart(given[1].get("type") or next(iter(given[1])), json.dumps(given[1]), given[0])
)
PARTS = st.lists(st.one_of(st.builds(TextPart, st.text(max_size=3)), FOREIGN_PARTS), max_size=4).map(tuple)

BODIES = st.fixed_dictionaries(
    {},
    optional={
        "model": st.one_of(st.none(), st.text(max_size=3), st.just(3)),
        "messages": st.one_of(st.none(), st.lists(message_dicts(), max_size=4)),
        "tools": st.one_of(st.none(), st.lists(tool_dicts(), max_size=2)),
        "temperature": st.floats(0, 2),
        "x": json_values(),
    },
)


def as_json(value: Any) -> str:
    """Equal JSON, told apart from merely equal values (1, 1.0 and True)."""
    return json.dumps(value, sort_keys=True)


@given(BODIES)
def test_a_body_read_and_written_is_the_same(body):
    before = copy.deepcopy(body)
    assert as_json(request_to_body(request_from_body(body))) == as_json(before)
    assert body == before


@given(message_dicts(), st.sampled_from(("stop", "tool_calls", "length")))
def test_a_reply_goes_back_as_it_was_received(message, reason):
    response = response_from_body({"choices": [{"message": message, "finish_reason": reason}]})
    assert as_json(request_to_body(LLMRequest((response.message,)))["messages"]) == as_json([message])
    assert response.finish_reason == reason


@given(conversations())
def test_any_conversation_can_be_written_and_keeps_its_calls_and_results(messages):
    body = request_to_body(LLMRequest(tuple(messages)))
    again = messages_from_dicts(body.get("messages", ()))
    assert [digest(message) for message in again] == [digest(message) for message in messages]
    assert pair(again) == pair(messages)


@given(conversations(max_turns=4, max_chars=50), st.data())
def test_parts_of_other_formats_leave_no_trace_but_what_they_show(messages, data):
    mixed = [replace(message, content=data.draw(PARTS)) for message in messages]
    dicts = request_to_body(LLMRequest(tuple(mixed))).get("messages", [])
    again = messages_from_dicts(fields for fields in dicts if not _is_showing(fields))
    assert [message.role for message in again] == [message.role for message in mixed]
    assert [[call.id for call in message.tool_calls] for message in again] == [
        [call.id for call in message.tool_calls] for message in mixed
    ]
    text = as_json(dicts)
    assert "signature" not in text
    assert "encrypted_content" not in text
    assert "aaa:" not in text + as_json(items_from_messages(mixed))


def _is_showing(fields: dict[str, Any]) -> bool:
    content = fields.get("content")
    first = content[0] if isinstance(content, list) and content else None
    return first == {"type": "text", "text": "What the tool results above show:"}


@given(st.lists(message_dicts(), max_size=3))
def test_a_conversation_of_this_format_is_written_in_the_other_without_keys_of_ours(dicts):
    messages: list[Message] = [message_from_dict(one) for one in dicts]
    assert "aaa:" not in as_json(items_from_messages(messages))
