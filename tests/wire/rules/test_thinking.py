"""Thinking that is bound to what stands before it, against a server that signs and checks it."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from aaa.messages import LLMRequest, Message, OpaquePart, TextPart
from aaa.wire import anthropic
from aaa.wire.rules import Rules, rules_for
from tests.servers.anthropic import AnthropicServer
from tests.servers.asking import post
from tests.servers.replies import Call, Reply
from tests.wire.rules.histories import REDACTED, THINKING, UNSIGNED, call, result
from tests.wire.rules.profiles import THINKING_BUDGET

BOUND = rules_for("anthropic", "claude-opus-5-5")
OLDER = rules_for("anthropic", "claude-sonnet-4-5", params=THINKING_BUDGET)


class Agent:
    """A model that thinks before each call, and a loop around it; `transcript` is never edited."""

    def __init__(self, server: AnthropicServer) -> None:
        self.server = server
        self.transcript: list[Message] = [Message("system", "be brief"), Message("user", "task")]

    def sends(self, messages: Sequence[Message]) -> Message:
        """The reply to these messages."""
        request = LLMRequest(tuple(messages), model="claude-opus-5-5", params={"max_tokens": 100})
        answer = post(self.server, "/v1/messages", anthropic.request_to_body(request))
        if answer.status != 200:
            raise RefusedError(answer.text)
        return anthropic.response_from_body(answer.body).message

    def thinks_and_calls(self, messages: Sequence[Message]) -> str:
        reply = self.sends(messages)
        self.transcript.append(reply)
        return reply.tool_calls[0].id

    def steps(self, count: int) -> None:
        """Repair, think, call, have the result, and again."""
        for _ in range(count):
            self.transcript.append(result(self.thinks_and_calls(BOUND.repair(self.transcript)[0])))


class RefusedError(Exception):
    """What the server refused, in its words."""


@pytest.fixture
def agent():
    with AnthropicServer(lambda _: Reply(thinking="hm", calls=(Call("read"),)), binds_thinking=True) as server:
        yield Agent(server)


def thoughts(messages: Sequence[Message]) -> int:
    parts = [part for message in messages if isinstance(message.content, tuple) for part in message.content]
    return sum(isinstance(part, OpaquePart) and part.type == "thinking" for part in parts)


def edited(messages: Sequence[Message]) -> list[Message]:
    """The first result cleared."""
    return [*messages[:3], replace(messages[3], content="[cleared]"), *messages[4:]]


def test_an_unedited_run_keeps_all_its_thinking(agent):
    agent.steps(4)
    repaired, repairs = BOUND.repair(agent.transcript)
    assert repairs == []
    assert thoughts(repaired) == 4


def test_without_a_repair_an_edit_is_refused(agent):
    agent.steps(4)
    with pytest.raises(RefusedError, match="bound to a different conversation"):
        agent.sends(edited(agent.transcript))


def test_after_an_edit_later_thinking_goes_and_new_thinking_stays(agent):
    agent.steps(4)
    until = len(agent.transcript)
    for since in range(4):
        prompt, _ = BOUND.repair(edited(agent.transcript), edited_from=3, edited_until=until)
        assert thoughts(prompt) == 1 + since  # the first was signed before the edited result came
        agent.transcript.append(result(agent.thinks_and_calls(prompt)))


def test_without_an_end_everything_from_the_edit_on_goes(agent):
    agent.steps(4)
    prompt, repairs = BOUND.repair(edited(agent.transcript), edited_from=3)
    agent.sends(prompt)
    assert thoughts(prompt) == 1
    assert [(repair.rule, repair.index, repair.detail) for repair in repairs] == [
        ("thinking", index, "edited_before") for index in (4, 6, 8)
    ]


def test_what_was_cut_off_counts_as_edited(agent):
    agent.steps(4)
    messages = agent.transcript
    cut = BOUND.safe_cuts(messages)[2]
    prompt, _ = BOUND.repair([*messages[:2], *messages[cut:]], edited_from=2)
    agent.sends(prompt)
    assert thoughts(prompt) == 0


def test_a_result_that_comes_late_takes_only_the_thinking_before_it(agent):
    agent.steps(1)
    late = agent.thinks_and_calls(BOUND.repair(agent.transcript)[0])
    agent.steps(2)
    agent.transcript.append(result(late, "at last"))
    for since in range(3):
        prompt, _ = BOUND.repair(agent.transcript)
        assert thoughts(prompt) == 2 + since
        assert prompt[5] == result(late, "at last")
        agent.transcript.append(result(agent.thinks_and_calls(prompt)))


def test_a_lost_result_takes_no_thinking(agent):
    agent.steps(2)
    agent.thinks_and_calls(BOUND.repair(agent.transcript)[0])
    agent.transcript.append(Message("user", "go on"))
    agent.steps(2)
    prompt, _ = BOUND.repair(agent.transcript)
    assert thoughts(prompt) == 5


@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-sonnet-4-5", "claude-sonnet-5", "claude-mythos-5-2"])
def test_models_that_do_not_bind_keep_all_thinking_after_an_edit(model):
    messages = [Message("user", "u"), call("a", content=(THINKING,)), result("a")]
    rules = rules_for("anthropic", model)
    assert rules.repair(messages, edited_from=0) == (messages, [])


@pytest.mark.parametrize("model", [None, "claude-fable-5-1", "claude-haiku-5-5", "claude-opus-6", "some-router/best"])
def test_models_that_bind_or_are_not_known_lose_it(model):
    messages = [Message("user", "u"), call("a", content=(THINKING, REDACTED, TextPart("x"))), result("a")]
    repaired, _ = rules_for("anthropic", model).repair(messages, edited_from=0)
    assert repaired[1].content == (TextPart("x"),)


def test_a_message_of_thinking_alone_goes_with_its_thinking():
    messages = [
        Message("user", "u"),
        Message("assistant", (THINKING,)),
        Message("assistant", "a"),
        Message("user", "v"),
    ]
    repaired, repairs = BOUND.repair(messages, edited_from=0)
    assert repaired == [messages[0], *messages[2:]]
    assert [(repair.action, repair.index) for repair in repairs] == [("dropped", 1)]


def test_thinking_in_front_of_the_next_message_of_the_same_turn_stays():
    messages = [
        Message("user", "u"),
        Message("assistant", (THINKING,)),
        Message("assistant", "a"),
        Message("user", "v"),
    ]
    assert BOUND.repair(messages) == (messages, [])


@pytest.mark.parametrize(
    "part", [UNSIGNED, replace(THINKING, json='{"type":"thinking","signature":""}'), replace(REDACTED, json="[]")]
)
def test_thinking_without_a_signature_is_left_out_for_every_model(part):
    messages = [Message("user", "u"), call("a", content=(part,)), result("a")]
    for rules in (BOUND, rules_for("anthropic", "claude-sonnet-4-5")):
        assert rules.repair(messages)[0][1].content is None


def leading(*after: Message) -> list[Message]:
    return [Message("user", "u"), call("a", content=(THINKING,)), result("a"), *after]


@pytest.mark.parametrize(
    ("messages", "is_valid"),
    [
        (leading(), True),
        (leading(call("b"), result("b")), True),  # one turn, begun with thinking
        (leading(Message("user", "v"), call("b"), result("b")), False),
        ([Message("user", "u"), call("a"), result("a"), call("b", content=(THINKING,)), result("b")], False),
        ([Message("user", "u"), call("a"), result("a"), Message("user", "v")], True),  # no turn is going on
        ([Message("user", "u"), call("a", content=(UNSIGNED,)), result("a")], False),
    ],
)
def test_with_thinking_by_budget_a_turn_of_calls_begins_with_thinking(messages, is_valid):
    found = [violation for violation in OLDER.violations(messages) if violation.problem == "turn_without_thinking"]
    assert (not found) == is_valid
    assert all(not violation.is_repairable for violation in found)


def test_a_turn_that_must_begin_with_thinking_is_not_cut_inside():
    messages = leading(call("b"), result("b"), call("c", content=(THINKING,)), result("c"))
    assert OLDER.safe_cuts(messages) == [1, 5]
    assert rules_for("anthropic", "claude-sonnet-4-5").safe_cuts(messages) == [1, 3, 5]


def test_rules_are_plain_values():
    assert rules_for("anthropic", "claude-opus-5-5") == BOUND
    assert isinstance(BOUND, Rules)
    assert hash(BOUND) != hash(OLDER)
