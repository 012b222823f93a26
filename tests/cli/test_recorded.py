"""Every call of recorded conversations, fitted as the command line does it: what must hold for each prompt."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256

import pytest

from aaa.cli.fitting import Call, Setup, fitted_calls
from aaa.cli.reading import Conversation
from aaa.context import HeuristicCounter, Prepared, groups
from aaa.context.counters import Measure
from aaa.errors import ContextFloorError
from aaa.messages import Message, pair
from aaa.wire.openai_chat import messages_from_dicts, tool_from_dict
from tests.cli.files import long_conversation
from tests.shared import sample_step, trajectories

COUNTER = HeuristicCounter()
SETUPS = [
    Setup(window=window, reserve=min(4096, window // 4), sticky=sticky, summarize=summarize)
    for window in (8_000, 32_000, 128_000)
    for sticky in (False, True)
    for summarize in (False, True)
]


_MEASURE = Measure(COUNTER)  # the counter, and the media that it does not know


@lru_cache(100_000)
def tokens(message: Message) -> int:
    return _MEASURE.message(message)


def size_of(messages: Sequence[Message], conversation: Conversation) -> int:
    return sum(map(tokens, messages)) + COUNTER.count_tools(conversation.tools)


def recorded(every: int) -> Iterator[Conversation]:
    """A sample without the longest, whose calls take long; with AAA_ALL_DATA set, everything."""
    longest = 150 if sample_step(2) > 1 else sys.maxsize
    return (
        Conversation(
            "recorded",
            1,
            fields["id"],
            messages_from_dicts(fields["messages"]),
            [tool_from_dict(tool) for tool in fields.get("tools") or ()],
        )
        for fields in trajectories(sample_step(every))
        if len(fields["messages"]) <= longest
    )


def violations(call: Call, conversation: Conversation, setup: Setup) -> list[str]:
    """What is wrong with one call, by name."""
    transcript = conversation.messages[: call.length]
    if isinstance(call.outcome, ContextFloorError):
        return refusal_violations(call.outcome, transcript, conversation)
    prompt, plan = list(call.outcome.messages), call.outcome.plan
    assert plan is not None
    size = size_of(prompt, conversation)
    places = {id(message): index for index, message in enumerate(transcript)}
    kept = [places[id(message)] for message in prompt if id(message) in places]
    head = head_of(transcript)
    is_floor = bool(plan.floor) or (setup.sticky and any(edit.strategy == "floor" for edit in plan.edits))
    checks = {
        "above the budget": size <= setup.window - setup.reserve,
        "size not as planned": size == plan.tokens_after,
        "larger than the transcript": size <= size_of(transcript, conversation),
        "head changed": prompt[:head] == transcript[:head],
        "tail changed without a floor rung": is_floor or has_tail(prompt, transcript, setup.keep_recent),
        "order changed": kept == sorted(set(kept)),
        "pairs broken": not unpaired(prompt) - unpaired(transcript),
        "plan does not make the prompt": call.number % 10 != 1 or plan.apply(transcript) == prompt,
        "not smaller though compacted": not plan.edits or len(prompt) <= len(transcript) + 1,
    }
    return [name for name, holds in checks.items() if not holds]


def refusal_violations(
    error: ContextFloorError, transcript: Sequence[Message], conversation: Conversation
) -> list[str]:
    """A refusal is right if even head, tools and newest group, its results cut short, are above the budget."""
    head = head_of(transcript)
    newest = [(groups(transcript, head) or [(len(transcript), len(transcript))])[-1]]
    needed = [message for start, stop in newest for message in transcript[start:stop] if message.role != "tool"]
    smallest = COUNTER.count([*transcript[:head], *needed], conversation.tools)
    results = sum(min(tokens(m), 4 + 60) for s, e in newest for m in transcript[s:e] if m.role == "tool")
    pinned = sum(tokens(m) for m in transcript[head:] if m.is_system and m not in needed)
    checks = {
        "refused though it could fit": smallest + results + pinned + 100 > error.budget_tokens,
        "sizes do not add up": error.head_tokens + error.tools_tokens + error.tail_tokens == error.needed_tokens,
        "refused below the budget": error.needed_tokens > error.budget_tokens,
    }
    return [name for name, holds in checks.items() if not holds]


def head_of(messages: Sequence[Message]) -> int:
    systems = next((i for i, message in enumerate(messages) if not message.is_system), len(messages))
    return systems + (systems < len(messages) and messages[systems].role == "user")


def has_tail(prompt: Sequence[Message], transcript: Sequence[Message], keep_recent: int) -> bool:
    ranges = groups(transcript, head_of(transcript))[-keep_recent:]
    tail = transcript[ranges[0][0] :] if ranges else []
    return not tail or [*prompt[-len(tail) :]] == tail


def unpaired(messages: Sequence[Message]) -> Counter[str]:
    pairing = pair(messages)
    orphans = [f"result {messages[index].tool_call_id}" for index in pairing.orphans]
    return Counter([*orphans, *(f"call {call_id}" for _, call_id in pairing.unanswered)])


def digest(calls: Sequence[Call]) -> str:
    state = sha256()
    for call in calls:
        outcome = call.outcome
        state.update(repr(outcome if isinstance(outcome, ContextFloorError) else list(outcome.messages)).encode())
    return state.hexdigest()


@pytest.mark.parametrize("setup", SETUPS, ids=lambda s: f"{s.window}{'-sticky' * s.sticky}{'-summarize' * s.summarize}")
def test_every_prompt_of_recorded_conversations_is_lawful(setup):
    found: list[str] = []
    calls = 0
    for conversation in recorded(40):
        for call in fitted_calls(conversation, setup):
            calls += 1
            wrong = violations(call, conversation, setup)
            found += [f"{conversation.id}, call {call.number}: {name}" for name in wrong]
    assert calls > 50
    assert found == []


def test_two_runs_of_a_recorded_conversation_send_the_same():
    setup = Setup(window=8_000, reserve=2_000, summarize=True)
    for conversation in recorded(120):
        first, second = (digest(list(fitted_calls(conversation, setup))) for _ in range(2))
        assert first == second, conversation.id


MUTATIONS = {
    "head changed": lambda prompt: prompt[1:],
    "tail changed without a floor rung": lambda prompt: prompt[:-1],
    "order changed": lambda prompt: [*prompt[:2], *prompt[-2:], *prompt[2:-2]],
    "pairs broken": lambda prompt: [m for m in prompt if m.role != "tool"],
    "above the budget": lambda prompt: prompt * 20,
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_prompt_that_is_not_lawful_is_noticed(name):
    conversation = Conversation("", 1, "", messages_from_dicts(long_conversation()), [])
    setup = Setup(window=2_000, reserve=500)
    *_, call = fitted_calls(conversation, setup)
    assert isinstance(call.outcome, Prepared)
    assert violations(call, conversation, setup) == []
    broken = replace(call.outcome, messages=MUTATIONS[name](list(call.outcome.messages)))
    assert name in violations(replace(call, outcome=broken), conversation, setup)
