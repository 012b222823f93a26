"""The agent: its loop, its compaction, and what is left of a turn that fails."""

import logging
import re

import pytest

import aimu
from aaa.errors import ContextOverflowError, OutOfTurnsError
from aaa.messages import pair
from aaa.wire.openai_chat import messages_from_dicts
from aimu.agents import Agent, TruncatedTurnError
from tests.aimu.fakes import ScriptedClient
from tests.aimu.talk import assistant, call, result, system, turns, user


def read(path: str) -> str:
    """Read a file."""
    return f"content of {path}"


def reads(number, path="a.py"):
    return call(f"c{number}", arguments=f'{{"path": "{path}"}}')


def is_valid(messages):
    found = pair(messages_from_dicts(messages))
    return not found.unanswered and not found.orphans


# --- the loop


def test_a_task_is_answered():
    client = ScriptedClient("Hello.")
    assert Agent(client).run("Say hello.") == "Hello."
    assert client.messages == [user("Say hello."), assistant("Hello.")]


def test_calls_are_run_until_a_turn_has_none():
    client = ScriptedClient(reads(1), reads(2, "b.py"), "Done.", system="be brief")
    assert Agent(client, tools=[read]).run("Read.") == "Done."
    assert [m["role"] for m in client.messages] == ["system", "user", *["assistant", "tool"] * 2, "assistant"]
    assert [m["content"] for m in client.messages if m["role"] == "tool"] == ["content of a.py", "content of b.py"]
    assert client.tools == [["read"]] * 3


def test_parallel_calls_are_all_answered():
    client = ScriptedClient(call("a", "b", arguments='{"path": "x"}'), "Done.")
    Agent(client, tools=[read]).run("Read.")
    assert [m["tool_call_id"] for m in client.messages if m["role"] == "tool"] == ["a", "b"]


def test_a_failing_tool_is_a_result_the_model_reads():
    def fail() -> str:
        raise RuntimeError("no disk")

    client = ScriptedClient(call("a", name="fail"), call("b", name="unknown"), "I see.")
    assert Agent(client, tools=[fail]).run("Try.") == "I see."
    failed, unknown = [m["content"] for m in client.messages if m["role"] == "tool"]
    assert failed == "Error: RuntimeError: no disk"
    assert "there is no tool 'unknown'" in unknown


def test_a_second_task_goes_on_in_the_same_conversation():
    client = ScriptedClient("One.", "Two.")
    agent = Agent(client)
    agent.run("First?")
    agent.run("Second?")
    assert client.sent[1] == [user("First?"), assistant("One."), user("Second?")]


def test_a_list_of_the_caller_is_not_changed():
    mine = [user("before"), assistant("yes")]
    client = ScriptedClient("Done.")
    client.messages = mine
    Agent(client).run("Go.")
    assert mine == [user("before"), assistant("yes")]
    assert len(client.messages) == 4


# --- instructions


def test_the_agents_instructions_take_the_place_of_the_clients():
    client = ScriptedClient("a", "b", system="be brief")
    Agent(client, "be long").run("1")
    assert client.sent[0][0] == system("be long")
    Agent(client, "be kind").run("2")
    assert client.sent[1][0] == system("be kind")
    assert [m["role"] for m in client.sent[1]].count("system") == 1


def test_the_clients_instructions_stay_where_the_agent_has_none():
    client = ScriptedClient("a", system="be brief")
    Agent(client).run("1")
    assert client.messages[0] == system("be brief")


# --- compaction


def test_compaction_sees_what_would_be_sent_before_every_turn():
    seen = []
    client = ScriptedClient(reads(1), "Done.", system="be brief")
    Agent(client, tools=[read], compaction=lambda m: seen.append(m) or m).run("Read.")
    assert seen == client.sent
    assert [m[-1]["role"] for m in seen] == ["user", "tool"]


def test_without_compaction_nothing_is_dropped(caplog):
    client = ScriptedClient(*["x" * 4000] * 20)
    agent = Agent(client)
    for number in range(20):
        agent.run(f"Question {number}?")
    assert len(client.messages) == 40
    assert not caplog.records


THINGS = ("the moon", "the sun", "Mars", "a comet", "dust")


def asked_five_times(answer, caplog):
    """What an agent was sent, its events and its log lines, with 60 tokens for question after question."""
    client = ScriptedClient(*[answer] * 5, system="Be terse: one short sentence.")
    events = []
    agent = Agent(client, name="ada", compaction=lambda m: aimu.trim_messages(m, 60, keep_last=2), events=events.append)
    with caplog.at_level(logging.WARNING):
        for thing in THINGS:
            agent.run(f"What is {thing} made of, mostly?")
    return client.sent, events, [record.getMessage() for record in caplog.records]


def test_five_questions_drop_an_exchange_each_once_the_budget_is_passed(caplog):
    sent, events, lines = asked_five_times("Rock.", caplog)
    assert [event.dropped for event in events] == [2, 2, 2]
    assert all(aimu.count_tokens(messages) <= 60 for messages in sent)
    assert len(lines) == 3
    text = (
        r"Compacted conversation for agent 'ada': dropped 2 message\(s\) \(~\d+ -> ~\d+ tokens, AIMU's own estimate\)\."
    )
    assert all(re.fullmatch(text, line) for line in lines)


def test_with_longer_answers_only_a_question_goes_the_first_time_and_then_an_exchange_each(caplog):
    """The answer before it is among the last two messages, with the question that is now asked."""
    _, events, _ = asked_five_times("It is made of rock and a little iron.", caplog)
    assert [event.dropped for event in events] == [1, 2, 2, 2]


def test_a_run_may_have_a_compaction_of_its_own_or_none():
    client = ScriptedClient("a", "b", "c")
    client.messages = turns(3)
    agent = Agent(client, compaction=lambda m: m[-1:])
    agent.run("1", compaction=None)
    assert len(client.sent[0]) == 8
    agent.run("2", compaction=lambda m: m[-3:])
    assert len(client.sent[1]) == 3
    agent.run("3")
    assert client.sent[2] == [user("3")]


def test_a_compaction_that_raises_ends_the_run_and_changes_nothing():
    def compaction(messages):
        raise ZeroDivisionError

    client = ScriptedClient("never said")
    client.messages = turns(2)
    with pytest.raises(ZeroDivisionError):
        Agent(client, compaction=compaction).run("Go.")
    assert client.messages == turns(2)
    assert client.sent == []


def test_summaries_may_be_written_by_the_same_client():
    client = ScriptedClient("they read pages", "Done.", system="be brief")
    client.messages = [system("be brief"), *turns(3)]
    agent = Agent(client, compaction=lambda m: aimu.summarize_messages(client, m))
    assert agent.run("Go on.") == "Done."
    assert [m["role"] for m in client.messages] == ["system", "system", *["assistant", "tool"], "user", "assistant"]


# --- a turn that fails


def test_a_first_turn_that_fails_leaves_the_conversation_as_it_was():
    client = ScriptedClient("yes", ContextOverflowError(limit=10, requested=20), "done")
    agent = Agent(client, compaction=lambda m: m[-2:])
    agent.run("before")
    before = list(client.messages)
    with pytest.raises(ContextOverflowError):
        agent.run("Go.")
    assert client.messages == before
    client.messages = aimu.trim_messages(client.messages, 8_000)
    agent.run("Go.")
    assert [m["content"] for m in client.messages].count("Go.") == 1


def test_a_later_turn_that_fails_keeps_what_was_done_and_the_task_is_not_asked_twice():
    client = ScriptedClient(reads(1), reads(2), ContextOverflowError(), "Done.")
    agent = Agent(client, tools=[read])
    with pytest.raises(ContextOverflowError):
        agent.run("Read.")
    assert client.messages[-1]["role"] == "tool"
    assert is_valid(client.messages)
    client.messages = aimu.trim_messages(client.messages, 8_000)
    assert agent.run("Read.") == "Done."
    assert client.sent[-1] == [
        user("Read."),
        reads(1),
        result("c1", "content of a.py"),
        reads(2),
        result("c2", "content of a.py"),
    ]


def test_a_task_that_was_trimmed_away_is_asked_again():
    client = ScriptedClient(reads(1), ContextOverflowError(), "Done.")
    agent = Agent(client, tools=[read])
    with pytest.raises(ContextOverflowError):
        agent.run("Read.")
    client.messages = aimu.trim_messages(client.messages, 1)
    agent.run("Read.")
    assert [m["content"] for m in client.sent[-1]].count("Read.") == 1
    assert client.sent[-1][-1] == user("Read.")


def test_an_interrupted_tool_leaves_no_call_without_an_answer():
    ran = []

    async def second_stops() -> str:
        ran.append(1)
        if len(ran) == 2:
            raise KeyboardInterrupt
        return "known"

    client = ScriptedClient(call("a", "b", "c", name="second_stops"), "Done.")
    agent = Agent(client, tools=[second_stops])
    with pytest.raises(KeyboardInterrupt):
        agent.run("Try.")
    assert is_valid(client.messages)
    assert [m["content"] for m in client.messages[-3:]] == [
        "known",
        "Error: interrupted; it is not known whether it took effect",
        "Error: not run: the call before it was interrupted",
    ]
    assert agent.run("Try.") == "Done."


# --- limits


def test_at_the_limit_of_turns_calls_are_answered_and_the_run_can_go_on():
    ran = []

    def note() -> str:
        ran.append(1)
        return "ok"

    client = ScriptedClient(*[call(f"c{n}", name="note", content=f"step {n}") for n in range(3)], "Done.")
    agent = Agent(client, tools=[note], max_iterations=3)
    with pytest.raises(OutOfTurnsError) as raised:
        agent.run("Go.")
    assert (raised.value.turns, raised.value.value) == (3, "step 2")
    assert is_valid(client.messages)
    assert "not run: this was the last of 3 turns" in client.messages[-1]["content"]
    assert len(ran) == 2
    assert agent.run("Go.") == "Done."
    assert [m["content"] for m in client.messages].count("Go.") == 1


def test_a_reply_cut_off_before_it_said_anything_is_an_error_and_not_in_the_conversation():
    client = ScriptedClient({"role": "assistant", "content": "", "finish_reason": "length"}, "Done.")
    agent = Agent(client, name="ada")
    with pytest.raises(TruncatedTurnError, match="'ada' was cut off after 5 tokens") as raised:
        agent.run("Think.")
    assert (raised.value.agent, raised.value.completion_tokens) == ("ada", 5)
    assert client.messages == []
    assert agent.run("Think.") == "Done."


def test_a_reply_cut_off_with_something_in_it_is_a_reply():
    client = ScriptedClient({"role": "assistant", "content": "half a", "finish_reason": "length"})
    assert Agent(client).run("Talk.") == "half a"


def test_an_empty_reply_that_was_not_cut_off_is_a_reply():
    client = ScriptedClient({"role": "assistant", "content": None})
    assert Agent(client).run("Say nothing.") == ""


def test_an_agent_needs_a_turn():
    with pytest.raises(ValueError, match="max_iterations must be at least 1, got 0"):
        Agent(ScriptedClient(), max_iterations=0)
