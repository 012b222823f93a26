"""On recorded conversations the plain functions do what `aaa` does, and trimming keeps its promises."""

import pytest

import aimu
from aaa.messages import pair
from aaa.wire.openai_chat import messages_from_dicts
from tests.aimu.agreeing import disagreements
from tests.aimu.talk import subsequence_of
from tests.shared import sample_step, trajectories

EVERY = sample_step(25)


def test_they_agree_on_recorded_conversations():
    found = {item["id"]: disagreements(item["messages"]) for item in trajectories(EVERY)}
    assert {name: what for name, what in found.items() if what} == {}
    assert len(found) >= 20


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_recorded_conversations_are_trimmed_to_a_share_of_their_size_with_no_call_parted(share):
    for item in trajectories(EVERY):
        messages = item["messages"]
        budget = int(share * aimu.count_tokens(messages))
        trimmed = aimu.trim_messages(messages, budget)
        rest = [m for m in messages if m["role"] not in ("system", "developer")]
        assert subsequence_of([m for m in trimmed if m["role"] not in ("system", "developer")], rest)
        assert loose_ends(trimmed) <= loose_ends(messages)


def loose_ends(messages):
    found = pair(messages_from_dicts(messages))
    return len(found.unanswered) + len(found.orphans)
