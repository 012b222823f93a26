"""Ids of calls and names of tools: of the provider's alphabet, unlike each other, the same in every request."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from aaa.messages import Message, ToolCall
from aaa.wire.openai_chat import message_from_dict, message_to_dict
from aaa.wire.rules import rules_for
from aaa.wire.rules.alphabets import IDS_OF_ANTHROPIC, IDS_OF_MISTRAL, IDS_UP_TO_40, NAMES_OF_COHERE, NAMES_UP_TO_64
from aaa.wire.rules.tool_names import ToolNames
from tests.wire.rules.histories import call, result

IDS = st.sampled_from(("a", "a~2", "call", "", "a b", "x" * 41, "x" * 64, "ZZZZZZZZ9", "\ud800", "поиск"))


def answered(*ids: str) -> list[Message]:
    return [message for call_id in ids for message in (call(call_id), result(call_id))]


def ids_of(messages: list[Message]) -> list[str]:
    return [call.id for message in messages for call in message.tool_calls]


@given(
    st.lists(IDS | st.text(max_size=6), max_size=8), st.sampled_from((IDS_OF_ANTHROPIC, IDS_OF_MISTRAL, IDS_UP_TO_40))
)
def test_ids_are_of_the_alphabet_unlike_each_other_and_those_of_their_results(ids, rule):
    repaired, _ = rule.repair(answered(*ids))
    renamed = ids_of(repaired)
    assert len(set(renamed)) == len(ids)
    assert all(rule.pattern.fullmatch(call_id) for call_id in renamed)
    assert [message.tool_call_id for message in repaired if message.role == "tool"] == renamed


@given(st.lists(IDS, max_size=6), st.lists(IDS, max_size=3))
def test_ids_do_not_depend_on_what_comes_later(ids, more):
    before = ids_of(IDS_OF_MISTRAL.repair(answered(*ids))[0])
    assert ids_of(IDS_OF_MISTRAL.repair(answered(*ids, *more))[0])[: len(ids)] == before


def test_a_good_id_stays_and_a_bad_one_gets_the_same_stand_in_everywhere():
    assert ids_of(IDS_OF_ANTHROPIC.repair(answered("toolu_1", "a b"))[0]) == [
        "toolu_1",
        "call_f8ead3ec60da789524652385",
    ]
    assert ids_of(IDS_OF_ANTHROPIC.repair(answered("a b"))[0]) == ["call_f8ead3ec60da789524652385"]
    assert ids_of(IDS_OF_MISTRAL.repair(answered("a b"))[0]) == ["H6io2mfNG"]


def test_a_reused_id_gets_a_number_where_the_alphabet_has_room_for_it():
    assert ids_of(IDS_UP_TO_40.repair(answered("a", "a", "a"))[0]) == ["a", "a~2", "a~3"]
    assert ids_of(IDS_UP_TO_40.repair(answered("a", "a~2", "a"))[0]) == ["a", "a~2", "a~3"]
    assert ids_of(IDS_UP_TO_40.repair(answered("", ""))[0]) == ["call", "call~2"]


def test_one_message_may_call_under_one_id_twice():
    repaired, _ = rules_for("openai").repair([Message("user", "u"), call("a", "a"), result("a", "1"), result("a", "2")])
    assert ids_of(repaired) == ["a", "a~2"]
    assert [(message.tool_call_id, message.content) for message in repaired[2:]] == [("a", "1"), ("a~2", "2")]


def test_an_id_or_name_kept_as_it_was_read_does_not_come_back():
    fields = {"role": "assistant", "content": None, "tool_calls": [{"id": 7, "type": "function", "x": 1}]}
    fields["tool_calls"][0]["function"] = {"name": "a.b", "arguments": {"n": 1}, "strict": True}
    messages = [message_from_dict(fields), message_from_dict({"role": "tool", "tool_call_id": 7, "content": "r"})]
    repaired, _ = rules_for("mistral").repair(messages)
    written = [message_to_dict(message) for message in repaired]
    new = written[1]["tool_call_id"]
    assert re.fullmatch("[a-zA-Z0-9]{9}", new)
    assert written[0]["tool_calls"] == [
        {
            "id": new,
            "type": "function",
            "x": 1,
            "function": {"name": "a_b_31d1e1bc", "arguments": {"n": 1}, "strict": True},
        }
    ]


def test_arguments_kept_as_they_were_read_do_not_come_back():
    function = {"name": "a", "arguments": "[1]", "strict": True}
    fields = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": function}],
    }
    repaired, _ = rules_for("vllm").repair([message_from_dict(fields), result("a")])
    arguments = message_to_dict(repaired[0])["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"INVALID_JSON": "[1]"}


@given(
    st.lists(
        st.sampled_from(("read", "a.b", "a_b", "поиск", "чтение", "1", "", "x" * 65, "x" * 66)) | st.text(max_size=5)
    )
)
def test_names_are_of_the_alphabet_and_as_unlike_as_before(names):
    for pattern in (NAMES_UP_TO_64, NAMES_OF_COHERE):
        message = Message("assistant", None, tuple(ToolCall("a", name) for name in names))
        (repaired,), _ = ToolNames(pattern).repair([message])
        renamed = [call.name for call in repaired.tool_calls]
        assert all(pattern.fullmatch(name) for name in renamed)
        assert len(set(renamed)) == len(set(names))


def test_a_result_is_named_as_its_call_is():
    messages = [call("a", name="поиск"), Message("tool", "r", (), "a", "поиск"), Message("tool", "r", (), "a", "")]
    repaired, _ = ToolNames(NAMES_UP_TO_64).repair(messages)
    assert repaired[1].name == repaired[0].tool_calls[0].name
    assert repaired[2].name is None
