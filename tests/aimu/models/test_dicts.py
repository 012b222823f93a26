"""Replies as dicts, and back as they came."""

from aaa.messages import Message, OpaquePart, TextPart, ToolCall
from aimu.models.dicts import message_of_reply, reply_dict

THOUGHT = OpaquePart("thinking", '{"type":"thinking","thinking":"hm","signature":"c2ln"}', "anthropic")
REPLY = Message("assistant", (THOUGHT, TextPart("Four.")), (ToolCall("a", "add", "{}"),))


def test_a_reply_is_readable_and_comes_back_with_what_openais_format_cannot_say():
    fields = reply_dict(REPLY)
    assert fields["content"] == "Four."
    assert message_of_reply(fields) == REPLY


def test_a_reply_that_was_changed_says_what_it_says_now():
    fields = reply_dict(REPLY) | {"content": "Five."}
    assert message_of_reply(fields).content == "Five."


def test_a_plain_reply_is_nothing_but_a_dict_of_openais_format():
    assert reply_dict(Message("assistant", "Four.")) == {"role": "assistant", "content": "Four."}


def test_a_provenance_that_is_somebody_elses_is_left_alone():
    fields = {"role": "assistant", "content": "Four.", "provenance": {"reply": "other"}}
    assert message_of_reply(fields) == Message("assistant", "Four.")
