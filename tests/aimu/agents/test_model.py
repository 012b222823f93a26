"""An agent where a model is expected."""

import pytest

import aimu
from aimu.agents import Agent
from tests.aimu.fakes import ScriptedClient
from tests.aimu.talk import assistant, call, result, system, turns, user


def read() -> str:
    return "page 1"


def test_generate_runs_the_agent_and_leaves_its_conversation_alone():
    client = ScriptedClient(call("a"), "They read page 1.", system="be brief")
    client.messages = [system("be kind"), system("Summary of earlier conversation:\nx"), *turns(2)]
    before = client.messages
    assert Agent(client, tools=[read]).as_model_client().generate("What is there?") == "They read page 1."
    assert client.messages is before
    assert client.sent[0] == [system("be kind"), user("What is there?")]
    assert client.sent[1][-1] == result("a", "page 1")


def test_it_can_write_summaries():
    client = ScriptedClient("they read")
    found = aimu.summarize_messages(Agent(client).as_model_client(), turns(3))
    assert found[0] == system("Summary of earlier conversation:\nthey read")


def test_a_failed_generate_leaves_the_conversation_alone():
    client = ScriptedClient(call("a"), ValueError("no"))
    client.messages = turns(1)
    with pytest.raises(ValueError, match="no"):
        Agent(client, tools=[read]).as_model_client().generate("What?")
    assert client.messages == turns(1)


def test_chat_is_a_run_in_the_conversation():
    client = ScriptedClient(call("a"), "Done.", "More.")
    model = Agent(client, tools=[read]).as_model_client()
    assert model.chat("Read.") == assistant("Done.")
    assert len(model.messages) == 4
    model.messages = [*model.messages, user("And?")]
    assert model.chat() == assistant("More.")
    assert model.last_finish_reason == "stop"
    assert model.last_usage.prompt_tokens == 10


def test_a_failed_chat_leaves_the_conversation_as_it_was():
    client = ScriptedClient(call("a"), ValueError("no"))
    model = Agent(client, tools=[read]).as_model_client()
    with pytest.raises(ValueError, match="no"):
        model.chat("Read.")
    assert model.messages == []


def test_it_takes_no_tools():
    with pytest.raises(ValueError, match="an agent runs its own tools"):
        Agent(ScriptedClient()).as_model_client().chat("Go.", tools=[read])


def test_an_agent_can_work_with_an_agent():
    client = ScriptedClient(call("a"), "Done.", system="be brief")
    inner = Agent(client, tools=[read]).as_model_client()
    assert Agent(inner).run("Read.") == "Done."
    inner.generate_kwargs = {"temperature": 0}
    inner.system = "be kind"
    assert (client.generate_kwargs, client.system) == ({"temperature": 0}, "be kind")
    assert (inner.generate_kwargs, inner.system) == ({"temperature": 0}, "be kind")
