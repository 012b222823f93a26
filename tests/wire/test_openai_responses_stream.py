"""Streamed replies of OpenAI's Responses format."""

import pytest

from aaa.errors import BrokenReplyError, WireError
from aaa.messages import Delta
from aaa.wire.openai_responses import ReplyStream, items_from_messages

TEXT = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": '{"x":1}'}
USAGE = {"input_tokens": 5, "output_tokens": 2}


def event(kind, **more):
    return {"type": f"response.{kind}", **more}


def done(place, item):
    return event("output_item.done", output_index=place, item=item)


def completed(*output, **more):
    return event(
        "completed", response={"model": "m", "status": "completed", "output": [*output], "usage": USAGE, **more}
    )


def fed(*events):
    stream = ReplyStream()
    return stream, [delta for one in events for delta in stream.feed(one)]


def test_a_reply_is_shown_as_it_comes_and_is_whole_in_the_end():
    stream, deltas = fed(
        event("created", response={"output": []}),
        event("output_item.added", output_index=0, item={"type": "reasoning", "id": "rs_1"}),
        event("reasoning_summary_text.delta", output_index=0, delta="let me"),
        event("reasoning_text.delta", output_index=0, delta=" see"),
        event("output_item.added", output_index=1, item={**TEXT, "content": []}),
        event("output_text.delta", output_index=1, delta="Hel"),
        event("output_text.delta", output_index=1, delta="lo"),
        event("output_item.added", output_index=2, item={**CALL, "arguments": ""}),
        event("function_call_arguments.delta", output_index=2, delta='{"x"'),
        event("function_call_arguments.delta", output_index=2, delta=":1}"),
        completed(TEXT, CALL),
    )
    assert deltas == [
        Delta("thinking", "let me"),
        Delta("thinking", " see"),
        Delta("text", "Hel"),
        Delta("text", "lo"),
        Delta("arguments", '{"x"', 0),
        Delta("arguments", ":1}", 0),
    ]
    response = stream.response()
    assert items_from_messages([response.message]) == [TEXT, CALL]
    assert (response.finish_reason, response.model) == ("tool_calls", "m")
    assert response.usage is not None


def test_pieces_of_arguments_name_the_place_of_their_call_among_the_calls():
    custom = {"type": "custom_tool_call", "call_id": "c2", "name": "sql", "input": ""}
    _, deltas = fed(
        event("output_item.added", output_index=1, item=CALL),
        event("output_item.added", output_index=3, item=custom),
        event("custom_tool_call_input.delta", output_index=3, delta="select"),
        event("function_call_arguments.delta", output_index=1, delta="{"),
        event("function_call_arguments.delta", output_index=7, delta="["),
        event("function_call_arguments.delta", output_index=1, delta=""),
    )
    assert deltas == [Delta("arguments", "select", 1), Delta("arguments", "{", 0), Delta("arguments", "[", 2)]


def test_a_refusal_is_shown():
    _, deltas = fed(event("refusal.delta", delta="no"))
    assert deltas == [Delta("text", "no")]


def test_items_stand_for_an_output_that_was_left_out():
    stream, _ = fed(done(1, CALL), done(0, TEXT), completed())
    assert items_from_messages([stream.response().message]) == [TEXT, CALL]


def test_an_incomplete_response_is_a_reply_cut_off():
    details = {"reason": "max_output_tokens"}
    response = {"status": "incomplete", "incomplete_details": details, "output": [TEXT]}
    stream, _ = fed(event("incomplete", response=response))
    assert stream.response().finish_reason == "length"


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow down"}, "rate_limit_exceeded"),
        ({"type": "error", "error": {"code": "server_error", "message": "no"}}, "server_error"),
        ({"error": {"code": 500, "message": "no"}}, "500"),
        (
            event("failed", response={"status": "failed", "error": {"code": "context_length_exceeded"}}),
            "context_length_exceeded",
        ),
        (event("failed", response={"status": "failed", "error": None}), None),
    ],
)
def test_an_error_in_mid_stream_is_kept(last, code):
    stream, _ = fed(event("output_text.delta", delta="half"), last)
    assert stream.error is not None
    with pytest.raises(BrokenReplyError, match="the reply is an error") as caught:
        stream.response()
    assert caught.value.code == code


@pytest.mark.parametrize("events", [(), (event("output_text.delta", delta="x"),), (done(0, TEXT),)])
def test_a_stream_without_its_last_event_is_a_broken_reply(events):
    stream, _ = fed(*events)
    assert stream.error is None
    with pytest.raises(BrokenReplyError, match="before the response was complete"):
        stream.response()


def test_events_of_other_kinds_say_nothing():
    stream, deltas = fed(
        event("web_search_call.searching", output_index=0),
        {"type": "keepalive"},
        {"type": "codex.rate_limits"},
        completed(TEXT),
    )
    assert deltas == []
    assert stream.response().message.text == "Hello"


def test_what_is_no_event_is_refused():
    with pytest.raises(WireError, match="an event must be an object"):
        ReplyStream().feed("data")
