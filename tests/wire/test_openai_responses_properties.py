"""What holds for any body in OpenAI's Responses format, and for any conversation written in it."""

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aaa.messages import Message, OpaquePart, digest, pair, with_text
from aaa.wire.openai_chat import message_from_dict
from aaa.wire.openai_responses import (
    items_from_messages,
    messages_from_items,
    request_from_body,
    request_to_body,
)
from aaa.wire.openai_responses.items import reply_from_items
from tests.strategies import ODD_TEXTS, conversations, json_values, message_dicts

TEXTS = st.one_of(st.text(max_size=5), st.sampled_from(ODD_TEXTS))
IDS = st.one_of(st.sampled_from(("", "a", "b")), st.none(), st.just(0))
KEYS = {"id": IDS, "status": st.sampled_from(("completed", None)), "x": json_values(3)}


def as_json(value: Any) -> str:
    """Equal JSON, told apart from merely equal values (1, 1.0 and True)."""
    return json.dumps(value, sort_keys=True)


def fields(required: dict[str, Any], optional: dict[str, Any] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    strategies = {
        key: value if isinstance(value, st.SearchStrategy) else st.just(value) for key, value in required.items()
    }
    return st.fixed_dictionaries(strategies, optional=optional or {})


def typed(*names: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(names)


PARTS = st.one_of(
    fields({"type": typed("input_text", "output_text", "text"), "text": TEXTS}, {"annotations": json_values(3)}),
    fields({"type": "output_text", "text": TEXTS, "annotations": [], "logprobs": []}),
    fields({"type": "refusal", "refusal": TEXTS}),
    fields({"type": "input_image", "image_url": TEXTS}, {"detail": typed("low", None)}),
    fields({"type": "input_file"}, {"file_id": TEXTS}),
    fields({"type": typed("smell", "reasoning", "function_call")}, {"text": TEXTS}),
    st.dictionaries(st.sampled_from(("type", "text", "x")), json_values(3), max_size=3),
)
CONTENTS = st.one_of(TEXTS, st.lists(PARTS, max_size=3))
ROLES = st.sampled_from(("user", "assistant", "assistant", "assistant", "system", "developer", "tool", "critic", ""))
MESSAGES = fields(
    {"role": ROLES},
    {
        "content": st.one_of(CONTENTS, CONTENTS, json_values(1).filter(lambda value: not isinstance(value, list))),
        "type": st.just("message"),
        "phase": typed("commentary", "final_answer"),
        **KEYS,
    },
)
CALLS = fields(
    {"type": typed("function_call", "custom_tool_call")},
    {
        "call_id": IDS,
        "name": st.one_of(TEXTS, st.none(), st.just(1)),
        "arguments": st.one_of(TEXTS, json_values(3)),
        "input": st.one_of(TEXTS, json_values(3)),
        **KEYS,
    },
)
RESULTS = fields(
    {"type": typed("function_call_output", "custom_tool_call_output")},
    {"call_id": IDS, "output": st.one_of(CONTENTS, st.none(), st.just({"x": 1})), "name": TEXTS, **KEYS},
)
REASONING = fields(
    {"type": "reasoning"},
    {"id": IDS, "summary": st.just([]), "encrypted_content": st.one_of(TEXTS, st.none()), "x": json_values(2)},
)
OTHERS = fields(
    {
        "type": typed(
            *("web_search_call", "computer_call", "computer_call_output", "shell_call", "shell_call_output"),
            *("compaction", "compaction_trigger", "item_reference", "mcp_approval_response", "additional_tools"),
            *("input_image", "message", "never_heard_of", "", None, 7),
        )
    },
    {"call_id": IDS, "role": typed("developer", "user", None), "content": CONTENTS, **KEYS},
)
ITEMS = st.one_of(MESSAGES, MESSAGES, CALLS, RESULTS, REASONING, OTHERS, fields({"id": IDS}))
INPUTS = st.lists(ITEMS, max_size=8)
SCHEMAS = st.one_of(st.none(), st.just({"type": "object", "properties": {}}), st.dictionaries(TEXTS, json_values(3)))
TOOLS = st.one_of(
    fields(
        {"name": st.text(min_size=1, max_size=4)},
        {
            "type": st.just("function"),
            "description": st.one_of(st.none(), TEXTS),
            "parameters": SCHEMAS,
            "strict": st.one_of(st.none(), st.booleans()),
            "x": json_values(3),
        },
    ),
    fields(
        {"type": "custom", "name": st.text(min_size=1, max_size=4)},
        {"description": TEXTS, "format": st.one_of(st.just({"type": "grammar", "syntax": "lark"}), json_values(3))},
    ),
    fields({"type": typed("web_search", "mcp", "namespace")}, {"x": json_values(3), "name": TEXTS}),
)
BODIES = fields(
    {},
    {
        "model": st.one_of(st.none(), TEXTS, st.just(3)),
        "input": st.one_of(st.none(), TEXTS, INPUTS, INPUTS, INPUTS),
        "instructions": st.one_of(st.none(), TEXTS, st.just([{"role": "system", "content": "x"}])),
        "tools": st.one_of(st.none(), st.lists(TOOLS, max_size=3)),
        "previous_response_id": TEXTS,
        "store": st.booleans(),
        "x": json_values(),
    },
)


@given(BODIES)
def test_a_body_read_and_written_is_the_same(body):
    before = copy.deepcopy(body)
    assert as_json(request_to_body(request_from_body(body))) == as_json(before)
    assert body == before


@given(INPUTS)
def test_messages_written_and_read_are_the_same(items):
    messages = messages_from_items(items)
    again = messages_from_items(items_from_messages(messages))
    assert again == messages
    assert [digest(message) for message in again] == [digest(message) for message in messages]


@given(INPUTS)
def test_the_items_of_a_reply_are_one_message_and_are_written_as_they_were(items):
    reply = reply_from_items(items)
    assert reply.role == "assistant"
    assert as_json(items_from_messages([reply])) == as_json(items)


def merged(messages: list[Message]) -> list[Message]:
    """The messages as the format has them: one of an assistant that says nothing is lost, neighbours are one."""
    together: list[Message] = []
    for message in messages:
        is_reply = message.role == "assistant"
        if is_reply and not message.tool_calls and message.content in (None, ()):
            continue
        if is_reply and together and together[-1].role == "assistant":
            together[-1] = Message("assistant", "", together[-1].tool_calls + message.tool_calls)
        else:
            together.append(message)
    return together


@given(conversations())
def test_any_conversation_can_be_written_and_keeps_its_calls_and_results(messages):
    again = messages_from_items(items_from_messages(messages))
    expected = merged(messages)
    assert [message.role for message in again] == [message.role for message in expected]
    assert [[call.id for call in message.tool_calls] for message in again] == [
        [call.id for call in message.tool_calls] for message in expected
    ]
    assert pair(again) == pair(expected)


@given(st.lists(message_dicts(), max_size=4))
def test_any_message_of_the_chat_format_can_be_written(dicts):
    items_from_messages([message_from_dict(one) for one in dicts])


@given(INPUTS, st.data())
def test_what_is_left_of_an_edited_message_can_be_written(items, data):
    for message in messages_from_items(items):
        items_from_messages([with_text(message, data.draw(TEXTS))])
        if isinstance(message.content, tuple):
            kept = tuple(part for part in message.content if data.draw(st.booleans()))
            items_from_messages([replace(message, content=kept, tool_calls=message.tool_calls[:1])])


@given(INPUTS)
def test_a_reply_whose_reasoning_was_taken_out_names_no_item_by_its_id(items):
    for message in messages_from_items(items):
        parts = message.content if isinstance(message.content, tuple) else ()
        is_reasoned = any(isinstance(part, OpaquePart) and part.type == "reasoning" and _id_of(part) for part in parts)
        if message.role == "assistant" and is_reasoned:
            kept = tuple(part for part in parts if isinstance(part, OpaquePart) and part.type != "reasoning")
            written = items_from_messages([replace(message, content=kept)])
            assert all(
                "id" not in item for item in written if item.get("type") in ("function_call", "custom_tool_call")
            )


def _id_of(part: OpaquePart) -> bool:
    return isinstance(json.loads(part.json).get("id"), str)
