"""Results: which one is kept, where it goes, and what stands in for one that is lost."""

import pytest

from aaa.messages import LLMRequest, Message, OpaquePart
from aaa.wire import anthropic, ollama
from aaa.wire.rules import MISSING_RESULT, Repair, rules_for
from aaa.wire.rules.pairing import Pairing
from tests.wire.rules.histories import call, result

USER = Message("user", "u")


def stand_in(call_id: str) -> Message:
    return Message("tool", MISSING_RESULT, tool_call_id=call_id, kind="marker")


def test_what_is_lost_is_said_behind_what_is_there():
    repaired, repairs = Pairing().repair([USER, call("a", "b", "c"), result("b")])
    assert repaired[2:] == [result("b"), stand_in("a"), stand_in("c")]
    assert repairs == [Repair("pairing", "added", 1, "missing_result")] * 2


def test_late_results_go_behind_those_that_are_in_place_in_their_order():
    messages = [call("a", "b", "c"), result("c"), USER, result("b"), Message("assistant", "x"), result("a")]
    repaired, repairs = Pairing().repair(messages)
    assert [message.tool_call_id for message in repaired[:4]] == [None, "c", "b", "a"]
    assert [(repair.action, repair.index) for repair in repairs] == [("moved", 3), ("moved", 5)]
    assert all(any(message is one for one in messages) for message in repaired)


def test_of_several_results_the_first_is_kept():
    repaired, repairs = Pairing().repair([call("a"), result("a", "one"), result("a", "two")])
    assert repaired[1].content == "one"
    assert repairs == [Repair("pairing", "dropped", 2, "repeated_result")]


def test_a_stand_in_that_was_stored_gives_way_to_the_result_that_came_since():
    for late in ([result("a", "real")], [USER, Message("assistant", "x"), result("a", "real")]):
        repaired, _ = Pairing().repair([call("a"), stand_in("a"), *late])
        assert repaired[1].content == "real"
        assert stand_in("a") not in repaired


def test_a_stand_in_that_is_still_needed_stays_the_object_it_is():
    messages = [call("a", "b"), stand_in("a"), result("b")]
    repaired, repairs = Pairing().repair(messages)
    assert repairs == []
    assert repaired[1] is messages[1]


def named(content: str, name: str = "read") -> Message:
    return Message("tool", content, name=name)


def test_results_that_name_only_their_tool_answer_the_open_calls_of_its_name_in_the_latest_turn():
    before, after = [call("a"), result("a"), call("b", "c")], [USER, call("d", name="other")]
    given = [*before, stand_in("b"), *after, named("1"), named("2"), named("3"), named("4", "other")]
    repaired, repairs = Pairing().repair(given)
    told = [(message.tool_call_id, message.content) for message in repaired if message.role == "tool"]
    assert told == [("a", "r"), ("b", "1"), ("c", "2"), ("d", "4")]
    assert [repair.detail for repair in repairs if repair.index == 8] == ["orphan_result"]


def test_a_call_of_the_row_that_is_asked_first_is_answered_first():
    repaired, _ = Pairing(in_turn=True).repair([call("a"), call("b"), named("1"), named("2")])
    assert [message.tool_call_id for message in repaired[2:]] == ["a", "b"]


def test_a_result_that_names_a_tool_that_was_not_called_before_it_has_no_call():
    repaired, _ = Pairing().repair([named("early"), call("a"), named("x", "other"), result("a"), named("late")])
    assert repaired == [call("a"), result("a")]


def test_no_cut_parts_a_call_from_a_result_that_names_it():
    assert Pairing().safe_cuts([USER, call("a"), USER, named("1"), USER]) == {1, 4}


def test_a_late_result_of_ollama_that_was_read_apart_is_written_behind_its_call():
    asked = {"role": "assistant", "tool_calls": [{"function": {"name": "read", "arguments": {}}}]}
    late = {"role": "tool", "tool_name": "read", "content": "late"}
    read = [ollama.request_from_body({"messages": [fields]}).messages[0] for fields in (asked, late)]
    messages, _ = rules_for("ollama").repair([USER, read[0], USER, read[1]])
    body = ollama.request_to_body(LLMRequest(tuple(messages)))
    assert body["messages"] == [{"role": "user", "content": "u"}, asked, late, {"role": "user", "content": "u"}]


@pytest.mark.parametrize("place", [1, 2])
def test_a_stand_in_without_a_call_is_turned_away_like_any_result(place):
    messages = [Message("assistant", "x"), USER]
    messages.insert(place, stand_in("lost"))
    repaired, repairs = Pairing().repair(messages)
    assert stand_in("lost") not in repaired
    assert [repair.detail for repair in repairs] == ["orphan_result"]


def test_calls_under_one_id_are_told_apart_by_name():
    calls = call("", name="read").tool_calls + call("", name="run").tool_calls
    messages = [Message("assistant", None, calls), Message("tool", "ran", name="run")]
    repaired, _ = Pairing().repair(messages)
    assert [(message.name, message.content) for message in repaired[1:]] == [("run", "ran"), ("read", MISSING_RESULT)]


def test_a_result_before_its_call_is_no_result_of_it():
    repaired, repairs = Pairing().repair([USER, result("a"), call("a")])
    assert repaired == [USER, call("a"), stand_in("a")]
    assert {repair.action for repair in repairs} == {"dropped", "added"}


def test_where_results_come_first_in_the_turn_anyway_nothing_is_moved():
    messages = [USER, call("a"), USER, result("a"), Message("assistant", "x"), USER]
    assert rules_for("anthropic").repair(messages) == (messages, [])
    assert rules_for("openai").repair(messages)[0] != messages


def test_calls_of_one_turn_may_be_in_several_messages():
    messages = [USER, call("a"), call("b"), result("a"), result("b"), Message("assistant", "x"), USER]
    assert rules_for("anthropic").repair(messages) == (messages, [])


def test_replies_that_were_sent_one_by_one_stay_apart():
    lost = [USER, call("a"), call("b"), result("b"), USER]
    assert rules_for("anthropic").repair(lost)[0] == [USER, call("a"), stand_in("a"), call("b"), result("b"), USER]
    late = [USER, call("a"), call("b"), call("c"), result("b"), result("c"), Message("assistant", "x"), result("a")]
    roles = [message.tool_call_id for message in rules_for("anthropic", "claude-haiku-4-5").repair(late)[0]]
    assert roles == [None, None, "a", None, "b", None, "c", None]
    replied = [USER, call("a"), Message("assistant", "x"), USER, result("a")]
    assert rules_for("anthropic").repair(replied)[0] == [USER, call("a"), result("a"), Message("assistant", "x"), USER]


def test_a_result_that_was_read_behind_text_is_moved_all_the_same():
    use = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    answer = [{"type": "text", "text": "here"}, {"type": "tool_result", "tool_use_id": "a", "content": "r"}]
    turns = [("user", "u"), ("assistant", [use]), ("user", answer)]
    body = {"messages": [{"role": role, "content": content} for role, content in turns], "max_tokens": 1}
    request = anthropic.request_from_body(body)
    repaired, repairs = rules_for("anthropic").repair(request.messages)
    assert [(repair.action, repair.index) for repair in repairs] == [("moved", 3)]
    assert [message.role for message in repaired] == ["user", "assistant", "tool", "user"]


@pytest.mark.parametrize("params", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}])
def test_results_may_stand_without_calls_that_the_provider_keeps(params):
    messages = [result("call_1")]
    assert rules_for("openai-responses", params=params).repair(messages) == (messages, [])
    assert rules_for("openai-responses").repair(messages)[0] != messages


def test_a_reference_to_an_item_may_be_a_reference_to_a_call():
    reference = OpaquePart("item_reference", '{"type":"item_reference","id":"fc_1"}', "openai-responses")
    messages = [Message("user", (reference,)), result("call_1")]
    assert rules_for("openai-responses").repair(messages) == (messages, [])


def test_a_cut_separates_no_call_from_its_results():
    messages = [USER, call("a"), USER, result("a"), call("b", "c"), result("b"), result("b"), result("c"), USER]
    assert Pairing().safe_cuts(messages) == {1, 4, 8}
