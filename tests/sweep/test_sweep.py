"""The sweep itself: a sample of recorded conversations, and that what is wrong with a prompt is noticed."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from aaa.context import ContextPolicy, Prepared, PromptFitter
from aaa.errors import ContextFloorError
from aaa.messages import Message, ToolCall
from tests.shared import sample_step, trajectories
from tests.sweep.formats import FORMATS
from tests.sweep.promises import Case, wrong_with, wrong_with_refusal
from tests.sweep.sweeping import sweep
from tests.sweep.talk import Talk, call_lengths, talk_of


def recorded(every: int) -> Iterator[Talk]:
    talks = map(talk_of, trajectories(sample_step(every)))
    return (talk for talk in talks if len(talk.messages) <= 60)


def test_every_prompt_of_recorded_conversations_keeps_its_promises_in_every_format():
    calls = 0
    for talk in recorded(60):
        for tally in sweep(talk, [4_000], most_calls=4).values():
            calls += tally.counts["calls"]
            assert not tally.wrong, tally.examples
    assert calls > 200


def long_talk() -> Talk:
    """Turns of a user, a call, its result and an answer."""
    messages = [Message("system", "be brief"), Message("user", "task")]
    for turn in range(12):
        call = ToolCall(f"c{turn}", "read", '{"path":"a.py"}')
        messages += [
            Message("user", f"wish {turn} {'please ' * 20}"),
            Message("assistant", None, (call,)),
            Message("tool", f"line {turn} " * 20, tool_call_id=call.id),
            Message("assistant", f"done {turn}"),
        ]
    return Talk("long", messages)


def fitted(talk: Talk) -> tuple[Case, Prepared[Message]]:
    case = Case(talk, len(talk.messages), FORMATS["anthropic"], 700, False)
    policy = ContextPolicy(case.window, reserve_output=0, provider=case.format.provider)
    return case, PromptFitter(policy).fit_sync(case.given, model=case.format.model)


MUTATIONS = {
    "above the budget": lambda prompt: prompt * 3,
    "not the size that the plan says": lambda prompt: prompt[:-1],
    "rule pairing": lambda prompt: [message for message in prompt if message.role != "tool"],
    "pairs broken": lambda prompt: [message for message in prompt if message.role != "tool"],
    "order changed": lambda prompt: [*prompt[:2], *prompt[:1:-1]],
    "head changed": lambda prompt: prompt[1:],
    "the plan does not make the prompt": lambda prompt: prompt[:-1],
    "0 markers": lambda prompt: [message for message in prompt if message.kind != "marker"],
    "the marker stands elsewhere": lambda prompt: [*prompt[:2], *prompt[3:], prompt[2]],
    "words gone without an edit": lambda prompt: [m for m in prompt if "wish 11" not in m.text],
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_prompt_that_breaks_a_promise_is_noticed(name: str):
    case, prompt = fitted(long_talk())
    assert prompt.messages[2].kind == "marker"
    assert not [*wrong_with(case, prompt)]
    broken = replace(prompt, messages=MUTATIONS[name](list(prompt.messages)))
    assert name in [*wrong_with(case, broken)]


def test_a_body_that_the_server_refuses_is_noticed():
    case, prompt = fitted(long_talk())
    broken = replace(prompt, messages=[*prompt.messages, Message("tool", "x", tool_call_id="lost")])
    assert any(name.startswith("refused: ") for name in wrong_with(case, broken))


def test_a_refusal_whose_numbers_do_not_add_up_is_noticed():
    talk = Talk("large", [Message("user", "x" * 9_000)])
    case = Case(talk, 1, FORMATS["ollama"], 2_000, False)
    numbers = {"window_tokens": 2_000, "reserve_tokens": 0, "tools_tokens": 0, "largest": []}
    assert not [*wrong_with_refusal(case, ContextFloorError(head_tokens=2_576, tail_tokens=0, **numbers))]
    assert [*wrong_with_refusal(case, ContextFloorError(head_tokens=1_500, tail_tokens=0, **numbers))]


def test_calls_are_taken_at_equal_distances_and_the_whole_always():
    messages = [Message("user", "u"), Message("assistant", "a")] * 50
    assert call_lengths(messages[:4], 12) == [1, 3, 4]
    lengths = call_lengths(messages, 12)
    assert len(lengths) == 12
    assert (lengths[0], lengths[-1]) == (1, 100)
    assert max(after - before for before, after in pairwise(lengths)) <= 10
