"""Streamed replies of the OpenAI chat format, as servers that do not agree on it send them."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import Delta, ToolCall, Usage
from aaa.wire.openai_chat import ReplyStream, message_to_dict
from tests.strategies import ODD_TEXTS


def chunk(delta=None, finish_reason=None, **more):
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish_reason}
    return {"id": "c", "model": "m", "choices": [choice], **more}


def fed(*chunks):
    stream = ReplyStream()
    deltas = [delta for one in chunks for delta in stream.feed(one)]
    return stream, deltas


def calls_of(*fragments):
    """The calls of a reply whose deltas have one fragment each."""
    stream, _ = fed(*[chunk({"tool_calls": [fragment]}) for fragment in fragments], chunk({}, "tool_calls"))
    return stream.response().message.tool_calls


def piece(arguments=None, name=None, **more):
    function = ({} if name is None else {"name": name}) | ({} if arguments is None else {"arguments": arguments})
    return {**more, "function": function}


def test_text_is_shown_as_it_comes_and_is_whole_in_the_end():
    stream, deltas = fed(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        chunk({}, "stop"),
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
    )
    response = stream.response()
    assert deltas == [Delta("text", "Hel"), Delta("text", "lo")]
    assert message_to_dict(response.message) == {"role": "assistant", "content": "Hello"}
    assert (response.finish_reason, response.model, response.usage) == ("stop", "m", Usage(5, 2))


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_is_thinking_and_is_kept_for_its_server(key):
    stream, deltas = fed(chunk({key: "let "}), chunk({key: "me see"}), chunk({"content": "4"}), chunk({}, "stop"))
    assert deltas == [Delta("thinking", "let "), Delta("thinking", "me see"), Delta("text", "4")]
    assert message_to_dict(stream.response().message) == {"role": "assistant", key: "let me see", "content": "4"}


def test_details_of_reasoning_are_put_together_by_type_and_index():
    def detail(**fields):
        return chunk({"reasoning": fields.get("text"), "reasoning_details": [{"index": 0, **fields}]})

    stream, deltas = fed(
        detail(type="reasoning.text", text="a", signature="", format="f"),
        detail(type="reasoning.text", text="b", signature="", format="f"),
        detail(type="reasoning.text", signature="sig", format="f"),
        detail(type="reasoning.encrypted", data="AA"),
        detail(type="reasoning.encrypted", data="BB"),
        chunk({}, "stop"),
    )
    assert [delta.text for delta in deltas] == ["a", "b"]
    assert message_to_dict(stream.response().message)["reasoning_details"] == [
        {"index": 0, "type": "reasoning.text", "text": "ab", "signature": "sig", "format": "f"},
        {"index": 0, "type": "reasoning.encrypted", "data": "AA"},
        {"index": 0, "type": "reasoning.encrypted", "data": "BB"},
    ]


def test_content_may_come_in_parts():
    def thought(text):
        return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}

    stream, deltas = fed(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": [thought("2 +")]}),
        chunk({"content": [{**thought(" 2"), "closed": True}]}),
        chunk({"content": [{"type": "text", "text": "is "}]}),
        chunk({"content": "4"}),
        chunk({"content": ""}, "stop"),
    )
    assert [(delta.kind, delta.text) for delta in deltas] == [
        ("thinking", "2 +"),
        ("thinking", " 2"),
        ("text", "is "),
        ("text", "4"),
    ]
    assert message_to_dict(stream.response().message)["content"] == [
        {**thought("2 + 2"), "closed": True},
        {"type": "text", "text": "is 4"},
    ]


def test_a_refusal_is_shown_and_kept():
    stream, deltas = fed(chunk({"refusal": "I "}), chunk({"refusal": "will not"}), chunk({}, "stop"))
    assert [delta.text for delta in deltas] == ["I ", "will not"]
    assert message_to_dict(stream.response().message)["refusal"] == "I will not"


CALLS = {
    "pieces by index": [
        piece("", "read", index=0, id="a", type="function"),
        piece('{"x"', index=0),
        piece("{}", "run", index=1, id="b", type="function"),
        piece(":1}", index=0),
    ],
    "the id and the name again and again": [
        piece('{"x"', "read", index=0, id="a", type="function"),
        piece(":1}", "read", index=0, id="a", type="function"),
        piece("{", "run", index=1, id="b"),
        piece("}", "run", index=1, id="b"),
    ],
    "empty ids and names": [
        piece('{"x"', "read", index=0, id="a", type="function"),
        piece(":1}", "", index=0, id="", type="function"),
        piece("{}", "run", index=1, id="b"),
        piece("", "", index=1, id=""),
    ],
    "another id for each piece": [
        piece('{"x"', "read", index=0, id="a"),
        piece(":1}", index=0, id="z"),
        piece("{}", "run", index=1, id="b"),
    ],
    "no index": [piece('{"x":1}', "read", id="a"), piece("{}", "run", id="b")],
    "no index, in pieces": [
        piece('{"x"', "read", id="a"),
        piece("{}", "run", id="b"),
        piece(":1}", id="a"),
    ],
    "one index for all": [
        piece('{"x"', "read", index=0, id="a"),
        piece(":1}", index=0),
        piece("{", "run", index=0, id="b"),
        piece("}", index=0, id="b"),
    ],
    "indices that do not begin at 0": [
        piece('{"x":1}', "read", index=1, id="a"),
        piece("{}", "run", index=3, id="b"),
    ],
    "nulls": [
        {"index": 0, "id": "a", "type": None, "function": {"name": "read", "arguments": None}},
        {"index": 0, "id": None, "function": {"name": None, "arguments": '{"x":1}'}},
        piece("{}", "run", index=1, id="b"),
    ],
}


@pytest.mark.parametrize("fragments", CALLS.values(), ids=CALLS.keys())
def test_calls_are_put_together_however_their_pieces_are_marked(fragments):
    calls = calls_of(*fragments)
    assert [(call.id, call.name, call.arguments_json) for call in calls] == [
        ("a", "read", '{"x":1}'),
        ("b", "run", "{}"),
    ]


def test_calls_without_ids_and_indices_are_one_for_each_name():
    calls = calls_of(piece('{"x":1}', "read"), piece("{", "read"), piece("}"))
    assert [(call.id, call.arguments_json) for call in calls] == [("", '{"x":1}'), ("", "{}")]


def test_arguments_may_be_an_object():
    (call,) = calls_of(piece({"x": 1}, "read", index=0, id="a"))
    assert call.arguments == {"x": 1}
    (empty,) = calls_of(piece({}, "read", index=0, id="a"))
    assert empty.arguments == {}


def test_what_a_call_has_besides_is_kept_and_its_index_is_not():
    extra = {"google": {"thought_signature": "s"}}
    stream, deltas = fed(
        chunk({"tool_calls": [piece("{", "read", index=0, id="a", type="function", extra_content=extra)]}),
        chunk({"tool_calls": [piece("}", index=0)]}),
        chunk({}, "tool_calls"),
    )
    assert deltas == [Delta("arguments", "{", 0), Delta("arguments", "}", 0)]
    assert message_to_dict(stream.response().message)["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}, "extra_content": extra}
    ]


def test_what_a_function_has_besides_is_kept():
    first = {"index": 0, "id": "a", "function": {"name": "read", "arguments": "{", "x": 1, "y": None}}
    stream, _ = fed(
        chunk({"tool_calls": [first]}), chunk({"tool_calls": [piece("}", index=0, y=2)]}), chunk({}, "tool_calls")
    )
    (call,) = message_to_dict(stream.response().message)["tool_calls"]
    assert call == {"id": "a", "y": 2, "function": {"name": "read", "arguments": "{}", "x": 1, "y": None}}


def test_a_custom_call_is_text():
    first = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sql", "input": "select"}}
    (call,) = calls_of(first, {"index": 0, "custom": {"input": " 1"}})
    assert (call.name, call.arguments_json) == ("sql", "select 1")


def test_pieces_of_arguments_name_the_place_of_their_call():
    _, deltas = fed(
        chunk({"tool_calls": [piece("1", "a", index=0, id="x"), piece("2", "b", index=1, id="y")]}),
        chunk({"tool_calls": [piece("3", index=1)]}),
    )
    assert deltas == [Delta("arguments", "1", 0), Delta("arguments", "2", 1), Delta("arguments", "3", 1)]


def test_sound_grows_and_other_objects_are_laid_over_each_other():
    stream, _ = fed(
        chunk({"audio": {"id": "a", "transcript": "Hel"}, "meta": {"a": 1}}),
        chunk({"audio": {"transcript": "lo"}, "meta": {"b": 2}}),
        chunk({"annotations": [{"url": "x"}]}),
        chunk({"annotations": [{"url": "y"}, "z", "z"], "x": None}),
        chunk({}, "stop"),
    )
    assert message_to_dict(stream.response().message) == {
        "role": "assistant",
        "audio": {"id": "a", "transcript": "Hello"},
        "meta": {"a": 1, "b": 2},
        "annotations": [{"url": "x"}, {"url": "y"}, "z", "z"],
        "x": None,
    }


def test_what_only_streams_have_is_no_part_of_the_message():
    stream, _ = fed(chunk({"content": "x", "index": 0, "channel": "final", "obfuscation": "zz"}, "stop"))
    assert message_to_dict(stream.response().message) == {"role": "assistant", "content": "x"}


def test_a_legacy_function_call_is_put_together():
    stream, deltas = fed(
        chunk({"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"x"'}}),
        chunk({"function_call": {"arguments": ":1}"}}),
        chunk({}, "function_call"),
    )
    response = stream.response()
    assert [delta.text for delta in deltas] == ['{"x"', ":1}"]
    assert response.finish_reason == "tool_calls"
    assert message_to_dict(response.message)["function_call"] == {"name": "read", "arguments": '{"x":1}'}


@pytest.mark.parametrize(
    ("last", "usage"),
    [
        ({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}, Usage(5, 2)),
        ({"choices": [], "usage": None}, None),
        ({"choices": [{"index": 0, "delta": {}, "usage": {"prompt_tokens": 5, "completion_tokens": 2}}]}, Usage(5, 2)),
        ({"choices": [], "x_groq": {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}}, Usage(5, 2)),
        ({"choices": [], "timings": {"cache_n": 4, "prompt_n": 1, "predicted_n": 2}}, Usage(5, 2, cached_tokens=4)),
    ],
)
def test_usage_comes_in_the_last_chunk(last, usage):
    stream, _ = fed(chunk({"content": "x"}), chunk({}, "stop"), last)
    assert stream.response().usage == usage


def test_other_choices_are_not_read():
    other = {"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}
    stream, deltas = fed(chunk({"content": "x"}, "stop"), {"choices": [other]})
    assert [delta.text for delta in deltas] == ["x"]
    assert stream.response().finish_reason == "stop"


def test_a_whole_message_in_one_chunk_is_read():
    message = {"role": "assistant", "content": "x"}
    stream, deltas = fed({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    assert [delta.text for delta in deltas] == ["x"]
    assert message_to_dict(stream.response().message) == message


@pytest.mark.parametrize("chunks", [(), (chunk({"content": "half"}),), (chunk({"content": "x"}), {"choices": []})])
def test_a_stream_without_an_end_is_a_broken_reply(chunks):
    stream, _ = fed(*chunks)
    assert stream.error is None
    with pytest.raises(BrokenReplyError, match="without a finish_reason"):
        stream.response()


@pytest.mark.parametrize(
    ("last", "error"),
    [
        ({"error": {"code": 500, "message": "Context size has been exceeded."}}, 500),
        (chunk({"content": ""}, "error", error={"code": 502, "message": "upstream"}), 502),
        ({"choices": [{"index": 0, "finish_reason": "error", "error": {"code": 502, "message": "upstream"}}]}, 502),
        (chunk({}, "error"), None),
        ({"error": "too long", "code": "invalid"}, "invalid"),
    ],
)
def test_an_error_in_mid_stream_is_kept(last, error):
    stream, _ = fed(chunk({"content": "half"}), last)
    assert stream.error is not None
    assert stream.error.get("code") == error
    with pytest.raises(BrokenReplyError, match="the reply is an error"):
        stream.response()


def test_what_is_no_chunk_is_refused():
    with pytest.raises(WireError, match="a chunk must be an object"):
        ReplyStream().feed("data")
    with pytest.raises(WireError, match="a delta must be an object"):
        ReplyStream().feed({"choices": [{"delta": "x"}]})


TEXTS = st.one_of(st.text("ab ", max_size=9), st.sampled_from(ODD_TEXTS))


@st.composite
def streams(draw):
    """A reply, and the chunks that a server of some habits makes of it."""
    text, thought = draw(TEXTS), draw(TEXTS)
    calls = [
        ToolCall(f"call_{number}", draw(st.sampled_from(("read", "run"))), draw(TEXTS))
        for number in range(draw(st.integers(0, 3)))
    ]
    habits = draw(st.sampled_from(("openai", "whole", "one index", "repeating", "no index")))
    chunks = [chunk({"reasoning_content": bit}) for bit in draw(cuts(thought))]
    chunks += [chunk({"content": bit}) for bit in draw(cuts(text))]
    for number, call in enumerate(calls):
        head = {} if habits == "no index" else {"index": 0 if habits == "one index" else number}
        identity = head | {"id": call.id, "type": "function"}
        bits = [call.arguments_json] if habits == "whole" else draw(cuts(call.arguments_json))
        fragments = [piece(bits[0] if bits else "", call.name, **identity)]
        repeated = {"name": call.name, **identity} if habits == "repeating" else head
        fragments += [piece(bit, **repeated) for bit in bits[1:]]
        chunks += [chunk({"tool_calls": [fragment]}) for fragment in fragments]
    return text, thought, calls, [*chunks, chunk({}, "stop")]


@st.composite
def cuts(draw, text):
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    edges = [0, *places, len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@given(streams())
def test_a_reply_is_the_same_however_it_was_cut_up(reply):
    text, thought, calls, chunks = reply
    stream, deltas = fed(*chunks)
    message = stream.response().message
    assert message.text == text
    assert json.loads(message.extra or "{}").get("reasoning_content", "") == thought
    assert [(call.id, call.name, call.arguments_json) for call in message.tool_calls] == [
        (call.id, call.name, call.arguments_json) for call in calls
    ]
    assert "".join(delta.text for delta in deltas if delta.kind == "text") == text
    assert "".join(delta.text for delta in deltas if delta.kind == "thinking") == thought
    for number, call in enumerate(calls):
        bits = [delta.text for delta in deltas if delta.kind == "arguments" and delta.index == number]
        assert "".join(bits) == call.arguments_json
