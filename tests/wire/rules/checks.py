"""What holds for the rules of any provider and any conversation."""

import re
from collections.abc import Sequence

from aaa.messages import Message
from aaa.wire.rules import Rules, Violation
from aaa.wire.rules.rule import head_length

__all__ = ["assert_cuts_are_safe", "assert_repair_is_right", "letters", "repairable"]


def repairable(violations: Sequence[Violation]) -> list[Violation]:
    return [violation for violation in violations if violation.is_repairable]


def letters(messages: Sequence[Message], *roles: str) -> str:
    """Everything but white space that messages of these roles say, half characters as what stands for them."""
    said = "".join("".join(message.text.split()) for message in messages if message.role in roles)
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", said)


def assert_repair_is_right(rules: Rules, messages: Sequence[Message]) -> None:
    given = tuple(messages)
    is_valid = not repairable(rules.violations(messages))
    repaired, repairs = rules.repair(messages)
    assert repairable(rules.violations(repaired)) == []
    again, none = rules.repair(repaired)
    assert none == []
    assert _are_same(again, repaired)
    assert is_valid == (not repairs)
    if is_valid:
        assert _are_same(repaired, given)
    assert _is_within(letters(given, "user"), letters(repaired, "user"))
    assert _is_within(letters(given, "system", "developer"), letters(repaired, "system", "developer", "user"))
    assert all(0 <= repair.index < max(len(given), 1) for repair in repairs)
    assert _are_same(given, messages)


def assert_cuts_are_safe(rules: Rules, messages: Sequence[Message]) -> None:
    head = head_length(messages)
    known = {(violation.rule, violation.problem, violation.index) for violation in rules.violations(messages)}
    cuts = rules.safe_cuts(messages)
    assert cuts == sorted(set(cuts))
    assert cuts[:1] == [head][: len(messages) - head]  # the end of the head, where nothing is left out
    for cut in cuts:
        for violation in rules.violations([*messages[:head], *messages[cut:]]):
            index = violation.index
            place = index if index is None or index < head else index - head + cut
            assert (violation.rule, violation.problem, place) in known, (cut, violation)


def _are_same(one: Sequence[Message], two: Sequence[Message]) -> bool:
    return len(one) == len(two) and all(left is right for left, right in zip(one, two, strict=True))


def _is_within(part: str, whole: str) -> bool:
    """Whether the characters of `part` are in `whole`, in their order."""
    left = iter(whole)
    return all(character in left for character in part)
