"""The agent of the guide, with a real client against a local Ollama server: five questions, a budget of 60 tokens."""

import logging
import re

import pytest

import aimu
from aimu import ContextCompacted
from aimu.agents import Agent
from tests.llm.served import PROVIDERS

SUBJECTS = ("the moon", "the sun", "Mars", "Venus", "Saturn")
WARNING = re.compile(
    r"Compacted conversation for agent '(.+)': dropped (\d+) message\(s\) \(~(\d+) -> ~(\d+) tokens, "
    r"AIMU's own estimate\)\."
)


@pytest.fixture
def warnings_of(caplog):
    """The compactions that were logged since it was last asked, as (agent, dropped, before, after)."""
    caplog.set_level(logging.WARNING)

    def take():
        found = [WARNING.fullmatch(record.getMessage()) for record in caplog.records]
        caplog.clear()
        return [(match[1], *map(int, match.groups()[1:])) for match in found if match]

    return take


def test_each_run_past_the_budget_drops_one_exchange_and_says_so(warnings_of):
    served, events, dropped = PROVIDERS["ollama"], [], []
    with served.server(lambda body: "Far") as server:
        client = aimu.client(
            served.name, system="You are terse. Reply in one short sentence.", **served.connection(server)
        )
        with client:
            agent = Agent(
                client,
                name="astronomer",
                compaction=lambda messages: aimu.trim_messages(messages, max_tokens=60, keep_last=2),
                events=events.append,
            )
            for number, subject in enumerate(SUBJECTS):
                agent.run(f"{'Tell me' if number == 0 else 'Now tell me'} a fact about {subject}.")
                dropped.append(warnings_of())
        assert not server.refused
        assert all(request["messages"][0]["role"] == "system" for request in server.requests)
    assert [[warning[1] for warning in run] for run in dropped] == [[], [], [2], [2], [2]]
    told = [warning for run in dropped for warning in run]
    assert all(isinstance(event, ContextCompacted) for event in events)
    assert [(event.agent, event.dropped, event.before_tokens, event.after_tokens) for event in events] == told
    assert all(before > 60 >= after for _, _, before, after in told)


@pytest.mark.parametrize("words", [1, 10, 25])
def test_longer_answers_only_move_the_run_from_which_on_an_exchange_goes_each_time(words, warnings_of):
    served, dropped = PROVIDERS["ollama"], []
    with served.server(lambda body: "far " * words) as server:
        client = aimu.client(served.name, system="You are terse.", **served.connection(server))
        with client:
            agent = Agent(client, compaction=lambda m: aimu.trim_messages(m, max_tokens=60, keep_last=2))
            for subject in SUBJECTS * 2:
                agent.run(f"Now tell me a fact about {subject}.")
                dropped.append([warning[1] for warning in warnings_of()])
    assert dropped[-5:] == [[2]] * 5
