"""What a provider would refuse, found and mended, in the caller's own dicts."""

import copy
import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aimu
from aaa.errors import ClientSetupError, WireError
from aaa.messages import Message, OpaquePart, TextPart
from aaa.wire.rules import PROVIDERS
from aimu.models.dicts import reply_dict
from tests.aimu.talk import any_messages, assistant, call, result, user


@given(any_messages(max_turns=4, max_chars=500), st.sampled_from(PROVIDERS))
def test_what_was_repaired_is_taken_and_the_rest_is_the_callers_own(messages, provider):
    before = copy.deepcopy(messages)
    repaired = aimu.repair_messages(messages, provider)
    assert messages == before
    assert repaired is not messages
    assert [v for v in aimu.check_messages(repaired, provider) if v.is_repairable] == []
    if not aimu.check_messages(messages, provider):
        assert all(a is b for a, b in zip(repaired, messages, strict=True))


def test_a_call_without_an_answer_is_found_and_answered():
    messages = [user("go"), call("a"), user("hurry")]
    (found,) = aimu.check_messages(messages, "openai")
    assert (found.rule, found.index) == ("pairing", 1)
    repaired = aimu.repair_messages(messages, "openai")
    assert [m["role"] for m in repaired] == ["user", "assistant", "tool", "user"]
    assert repaired[2]["tool_call_id"] == "a"
    assert [repaired[i] is messages[j] for i, j in ((0, 0), (1, 1), (3, 2))] == [True] * 3


def test_what_no_provider_sees_stays_with_a_message_that_was_changed():
    when = datetime.datetime.now(datetime.UTC)
    messages = [user("go"), call("an id with spaces") | {"timestamp": when}, result("an id with spaces")]
    changed = aimu.repair_messages(messages, "anthropic")[1]
    assert changed is not messages[1]
    assert changed["timestamp"] is when
    assert "provenance" not in changed


def test_what_only_the_provider_reads_is_put_right_too():
    messages = [user("go"), call("a"), result("a")]
    (found,) = aimu.check_messages(messages, "gemini")
    assert found.rule == "call_signatures"
    repaired = aimu.repair_messages(messages, "gemini")
    assert aimu.check_messages(repaired, "gemini") == []
    assert {key: value for key, value in repaired[1].items() if key != "provenance"} == messages[1]


def test_a_thought_that_is_taken_away_does_not_come_back():
    thought = OpaquePart("thinking", '{"type":"thinking","thinking":"hm","signature":"s"}', "anthropic")
    reply = reply_dict(Message("assistant", (thought, TextPart("Yes."))))
    messages = [
        user("go"),
        reply | {"thinking": "hm"},
        user("more"),
        reply_dict(Message("assistant", (thought,))),
        user("on"),
    ]
    repaired = aimu.repair_messages(messages, "anthropic")
    assert [v for v in aimu.check_messages(repaired, "anthropic") if v.is_repairable] == []
    assert repaired[1] is messages[1]


def test_a_sound_conversation_is_left_alone():
    messages = [user("go"), call("a"), result("a"), assistant("done"), user("more")]
    assert aimu.check_messages(messages, "openai") == []
    assert all(a is b for a, b in zip(aimu.repair_messages(messages, "openai"), messages, strict=True))


def test_the_model_decides_where_generations_differ():
    messages = [user("go"), assistant("half an answer")]
    assert aimu.check_messages(messages, "anthropic", model="claude-3-opus") == []
    assert aimu.check_messages(messages, "anthropic") != []
    assert aimu.repair_messages(messages, "anthropic", model="claude-3-opus") == messages


@pytest.mark.parametrize("function", [aimu.check_messages, aimu.repair_messages])
def test_unknown_providers_and_broken_messages_are_named(function):
    with pytest.raises(ClientSetupError, match="no rules are known for the provider 'nobody'"):
        function([], "nobody")
    with pytest.raises(WireError, match="message 1"):
        function([user("1"), {"role": None}], "openai")
