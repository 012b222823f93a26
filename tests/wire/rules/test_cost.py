"""Rules read a conversation a fixed number of times, however long it is."""

from collections.abc import Iterator, Sequence
from typing import overload

import pytest

from aaa.messages import Message
from aaa.wire.rules import rules_for
from tests.wire.rules.histories import call, result
from tests.wire.rules.profiles import PROFILES


class Counting(Sequence[Message]):
    """Messages that count how often one of them is read."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.reads = 0

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        self.reads += len(range(*index.indices(len(self.messages)))) if isinstance(index, slice) else 1
        return self.messages[index]

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[Message]:
        for message in self.messages:
            self.reads += 1
            yield message


def damaged(turns: int) -> list[Message]:
    """Reused ids, late and lost results, doubled words of the user, in every turn."""
    messages = [Message("system", "s"), Message("user", "task")]
    for turn in range(turns):
        messages += [call("same", f"{turn}", content=" "), result("same"), Message("user", "a"), Message("user", "b")]
        messages += [result(f"{turn}"), Message("assistant", "x"), Message("assistant", "y"), result("lost")]
    return messages


def reads(name: str, turns: int) -> int:
    messages = Counting(damaged(turns))
    PROFILES[name].violations(messages)
    PROFILES[name].safe_cuts(messages)
    PROFILES[name].repair(messages)
    return messages.reads


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_twice_as_many_messages_are_read_twice_as_often(name):
    assert reads(name, 80) <= 2.1 * reads(name, 40)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "mistral", "bedrock", "perplexity"])
def test_twenty_thousand_messages_are_no_trouble(provider):
    rules = rules_for(provider)
    repaired, repairs = rules.repair(damaged(2500))
    assert len(repairs) >= 9_000
    assert [violation for violation in rules.violations(repaired) if violation.is_repairable] == []
