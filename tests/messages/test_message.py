"""Messages, parts, calls and tools: values."""

import json

import msgspec
import pytest

from aaa.errors import ToolArgumentsError
from aaa.messages import Message, OpaquePart, TextPart, ToolCall, ToolSpec, with_text

IMAGE = OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"x"}}')

VALUES = [
    lambda: Message("user", "hello", name="ann"),
    lambda: Message("user", (TextPart("look"), IMAGE)),
    lambda: Message("assistant", None, (ToolCall("1", "read", '{"path":"a"}'),)),
    lambda: Message("tool", "done", tool_call_id="1", pinned=True, kind="marker", extra='{"is_error":true}'),
    lambda: TextPart("look", '{"cache_control":{}}'),
    lambda: OpaquePart("image_url", "{}"),
    lambda: ToolCall("1", "read", "{}", '{"index":0}'),
    lambda: ToolSpec("read", "Read a file.", '{"type":"object"}'),
]


@pytest.mark.parametrize("make", VALUES)
def test_equal_values_are_equal_and_have_one_hash(make):
    assert make() is not make()
    assert make() == make()
    assert len({make(), make()}) == 1


@pytest.mark.parametrize("make", VALUES)
def test_values_can_not_be_changed(make):
    value = make()
    field = value.__struct_fields__[0]
    with pytest.raises(AttributeError):
        setattr(value, field, "other")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("role", "assistant"),
        ("content", "bye"),
        ("content", None),
        ("content", ""),
        ("content", (TextPart("hello"),)),
        ("tool_calls", (ToolCall("1", "read"),)),
        ("tool_call_id", "1"),
        ("name", "ann"),
        ("pinned", True),
        ("kind", "summary"),
        ("extra", '{"refusal":null}'),
    ],
)
def test_messages_that_differ_in_one_field_are_not_equal(field, value):
    message = Message("user", "hello")
    assert msgspec.structs.replace(message, **{field: value}) != message


def test_a_text_part_and_an_opaque_part_of_the_same_strings_are_not_equal():
    assert TextPart("a", "b") != OpaquePart("a", "b")


def test_lists_of_parts_and_calls_become_tuples():
    message = Message("assistant", [TextPart("a")], [ToolCall("1", "read")])
    assert message.content == (TextPart("a"),)
    assert message.tool_calls == (ToolCall("1", "read"),)
    assert hash(message) == hash(Message("assistant", (TextPart("a"),), (ToolCall("1", "read"),)))


def test_a_list_put_in_by_replace_becomes_a_tuple_too():
    assert msgspec.structs.replace(Message("user", "a"), content=[TextPart("b")]).content == (TextPart("b"),)


def test_text_is_that_of_all_text_parts():
    assert Message("user", "a").text == "a"
    assert Message("user").text == ""
    assert Message("user", (TextPart("a"), IMAGE, TextPart("b"))).text == "ab"
    assert list(Message("user", (TextPart("a"), IMAGE, TextPart("b"))).texts) == ["a", "b"]
    assert list(Message("user").texts) == []


@pytest.mark.parametrize(
    ("role", "expected"),
    [("system", True), ("developer", True), ("user", False), ("assistant", False), ("tool", False), ("critic", False)],
)
def test_system_and_developer_messages_are_instructions_of_the_program(role, expected):
    assert Message(role, "x").is_system is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", {}),
        ("", {}),
        ('{"path": "a", "line": 3}', {"path": "a", "line": 3}),
        (' {"deep":{"list":[1,null,true,2.5]}} ', {"deep": {"list": [1, None, True, 2.5]}}),
        ('{"text":"Grüße 🎈"}', {"text": "Grüße 🎈"}),
    ],
)
def test_arguments_are_parsed_from_their_json(text, expected):
    assert ToolCall("1", "read", text).arguments == expected


BAD_ARGUMENTS = [
    '{"path": secret',
    "secret",
    "[1, 2]",
    '"secret"',
    "null",
    "3",
    " ",
    '{"path":"secret"} and more',
    '{"path":"secret\nline"}',
    "[" * 100_000,
    '{"secret":' * 100_000,
]


@pytest.mark.parametrize("text", BAD_ARGUMENTS, ids=range(len(BAD_ARGUMENTS)))
def test_arguments_that_are_no_object_raise_an_error_that_names_the_call_and_not_its_text(text):
    with pytest.raises(ToolArgumentsError) as caught:
        _ = ToolCall("call_7", "read_file", text).arguments
    assert (caught.value.tool, caught.value.call_id) == ("read_file", "call_7")
    assert "'read_file'" in str(caught.value)
    assert "'call_7'" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("text", "kind"), [("[1]", "list"), ("null", "NoneType"), ("3", "int"), ('"a"', "str")])
def test_arguments_that_are_another_json_value_are_named_by_their_type(text, kind):
    with pytest.raises(ToolArgumentsError, match=f"found {kind}$"):
        _ = ToolCall("1", "read", text).arguments


def test_bad_arguments_are_kept_as_the_model_wrote_them():
    assert ToolCall("1", "read", '{"a": ').arguments_json == '{"a": '


def test_the_parameters_of_a_tool_are_parsed_from_their_json():
    assert ToolSpec("read").parameters == {}
    assert ToolSpec("read", "", '{"type":"object"}').parameters == {"type": "object"}


def test_other_content_leaves_the_rest_of_the_message_as_it_was():
    message = Message("tool", "long", tool_call_id="1", name="read", pinned=True, kind="marker", extra='{"a":1}')
    assert with_text(message, "short") == msgspec.structs.replace(message, content="short")


@pytest.mark.parametrize(
    ("extra", "left"),
    [
        ("", ""),
        ('{"content":null}', ""),
        ('{"content":["old"],"is_error":true}', '{"is_error":true}'),
        ('{"reasoning":{"content":"thought"}}', '{"reasoning":{"content":"thought"}}'),
        ('{"reasoning":"the \\"content\\" key"}', '{"reasoning":"the \\"content\\" key"}'),
    ],
)
def test_other_content_drops_what_was_kept_of_the_old_content_and_nothing_else(extra, left):
    assert with_text(Message("tool", "long", extra=extra), "short") == Message("tool", "short", extra=left)


def test_other_content_is_put_beside_an_extra_with_a_lone_surrogate():
    extra = with_text(Message("assistant", "long", extra='{"content":null,"reasoning":"\ud800"}'), "short").extra
    assert json.loads(extra) == {"reasoning": "\ud800"}


def test_other_content_may_be_parts():
    assert with_text(Message("user", "a"), (TextPart("b"), IMAGE)).content == (TextPart("b"), IMAGE)
