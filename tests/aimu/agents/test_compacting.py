"""Compaction of an agent's conversation: announced exactly when something is gone, by content."""

import copy
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aimu
from aimu.agents.compacting import compacted
from aimu.events import ContextCompacted
from tests.aimu.talk import any_messages, turns, user


def announced(messages, compaction):
    """What came of it, the events, and the log lines."""
    lines, events = [], []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    log = logging.getLogger("aimu.agents")
    log.addHandler(handler)
    try:
        return compacted(messages, compaction, agent="ada", events=events.append), events, lines
    finally:
        log.removeHandler(handler)


@given(any_messages(max_turns=4), st.data())
def test_event_and_warning_come_together_and_only_if_something_is_gone(messages, data):
    kept = data.draw(st.lists(st.sampled_from(messages), max_size=8) if messages else st.just([]))
    rebuilt = copy.deepcopy(kept)
    found, events, lines = announced(messages, lambda _: rebuilt)
    assert found == rebuilt
    gone = list(messages)
    for message in kept:
        if message in gone:
            gone.remove(message)
    assert len(events) == len(lines) <= 1
    if events:
        assert 0 < events[0].dropped <= len(messages)
    inert = any(key in message for message in messages for key in ("timestamp", "thinking", "provenance"))
    if not inert:
        assert [event.dropped for event in events] == ([len(gone)] if gone else [])


def test_the_warning_has_the_numbers_of_the_event():
    messages = turns(3)
    _, (event,), (line,) = announced(messages, lambda found: found[2:])
    assert event == ContextCompacted(aimu.count_tokens(messages), aimu.count_tokens(messages[2:]), 2, "ada")
    assert line == (
        f"Compacted conversation for agent 'ada': dropped 2 message(s) (~{event.before_tokens} -> "
        f"~{event.after_tokens} tokens, AIMU's own estimate)."
    )


@pytest.mark.parametrize(
    "unchanged",
    [
        None,
        lambda messages: messages,
        lambda messages: messages[:],
        copy.deepcopy,
        lambda messages: [{**message, "timestamp": 3} for message in messages],
        lambda messages: [*messages, user("one more")],
        lambda messages: messages[::-1],
        tuple,
    ],
)
def test_nothing_is_said_where_nothing_is_gone(unchanged):
    _, events, lines = announced(turns(3), unchanged)
    assert events == lines == []


def test_what_has_changed_is_gone():
    _, (event,), _ = announced(turns(6), aimu.clear_tool_results)
    assert event.dropped == 2


def test_of_two_equal_messages_one_may_go():
    _, (event,), _ = announced([user("a"), user("a")], lambda messages: messages[1:])
    assert event.dropped == 1


def test_the_function_gets_a_list_of_its_own():
    messages = turns(2)
    found, _, _ = announced(messages, lambda given_list: given_list.clear() or [])
    assert found == []
    assert len(messages) == 5


@pytest.mark.parametrize("returned", [None, "text", 4])
def test_a_function_that_returns_no_messages_is_refused(returned):
    with pytest.raises(TypeError, match="compaction must return the messages to go on with"):
        announced(turns(2), lambda _: returned)


def test_without_a_sink_the_warning_is_there_all_the_same(caplog):
    compacted(turns(3), lambda messages: messages[1:], agent="ada", events=None)
    assert "dropped 1 message(s)" in caplog.text
    assert [record.levelname for record in caplog.records] == ["WARNING"]
