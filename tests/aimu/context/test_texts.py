"""What may stand in a list of messages: dicts, other mappings, an SDK's own objects; and what is said of the rest."""

from collections import UserDict
from types import MappingProxyType

import pytest

import aimu
from aaa.errors import WireError
from aimu.agents import Agent
from tests.aimu.fakes import TextModel
from tests.aimu.talk import assistant, call, result, system, user
from tests.llm.served import PROVIDERS


class Object:
    """A message as an SDK gives it: it has no items, and dumps itself."""

    def __init__(self, fields):
        self.fields = fields

    def model_dump(self, **_):
        return dict(self.fields)


CONVERSATION = [
    system("Be brief."),
    user("read"),
    call("a b"),
    result("a b", "x" * 100) | {"timestamp": 1},
    assistant("read it"),
    user("next"),
]
FUNCTIONS = {
    "trim": lambda messages: aimu.trim_messages(messages, 60),
    "summarize": lambda messages: aimu.summarize_messages(TextModel("said"), messages),
    "clear": lambda messages: aimu.clear_tool_results(messages, keep_last=0),
    "truncate": lambda messages: aimu.truncate_tool_results(messages, max_chars=50),
    "fit": lambda messages: aimu.fit_messages(messages, 120, keep_recent=1),
    "repair": lambda messages: aimu.repair_messages(messages, "anthropic"),
}
of_each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


@of_each_function
@pytest.mark.parametrize("kind", [Object, UserDict, MappingProxyType])
def test_objects_are_treated_as_the_dicts_they_stand_for(function, kind):
    given = list(map(kind, CONVERSATION))
    own = {id(message): fields for message, fields in zip(given, CONVERSATION, strict=True)}
    assert [own.get(id(message), message) for message in function(given)] == function(CONVERSATION)


@pytest.mark.parametrize("kind", [Object, UserDict, MappingProxyType])
def test_objects_count_as_the_dicts_they_stand_for(kind):
    assert aimu.count_tokens(list(map(kind, CONVERSATION))) == aimu.count_tokens(CONVERSATION)
    assert aimu.check_messages(list(map(kind, CONVERSATION)), "anthropic") == aimu.check_messages(
        CONVERSATION, "anthropic"
    )


@of_each_function
def test_what_is_no_message_is_named_by_its_place(function):
    with pytest.raises(WireError, match="message 1: a message must be an object, not str"):
        function([CONVERSATION[0], "hello", *CONVERSATION[2:]])


@of_each_function
def test_an_iterator_is_refused_rather_than_found_empty(function):
    with pytest.raises(TypeError, match="messages must be a list of messages, got list_iterator"):
        function(iter(CONVERSATION))


def test_what_a_summary_cannot_read_is_named_by_its_place_in_the_conversation():
    with pytest.raises(WireError, match="message 2: content must be"):
        aimu.summarize_messages(TextModel("said"), [system("a"), user("b"), user(5), user("c"), user("d")])


def test_an_agent_goes_on_with_a_conversation_of_objects():
    served = PROVIDERS["openai"]
    with served.server(["Done."]) as server, aimu.client(served.name, **served.connection(server)) as client:
        client.messages = list(map(Object, CONVERSATION[1:5]))
        assert Agent(client, "Be brief.").run("next") == "Done."
        assert client.messages[0] == system("Be brief.")


def test_a_client_sends_a_conversation_of_objects():
    served = PROVIDERS["openai"]
    with served.server(["Done."]) as server:
        with aimu.client(served.name, system="unused", **served.connection(server)) as client:
            client.messages = list(map(Object, CONVERSATION[:5]))
            client.chat("next")
        assert server.requests[0]["messages"][-1] == user("next")
        assert [message["role"] for message in server.requests[0]["messages"]].count("system") == 1
