"""Every conversation there is of a few messages, for every provider; more of them with AAA_ALL_DATA set."""

import os
from collections.abc import Iterator, Sequence
from itertools import product

from aaa.messages import Message
from aaa.wire.rules import Rule, Rules
from tests.wire.rules.checks import assert_cuts_are_safe, assert_repair_is_right
from tests.wire.rules.histories import ALPHABET, call, result
from tests.wire.rules.profiles import EACH_RULE, PROFILES

ALL = bool(os.environ.get("AAA_ALL_DATA"))

USER, ASSISTANT, SYSTEM = Message("user", "u"), Message("assistant", "a"), Message("system", "s")
CALL, RESULT = call("a"), result("a")

DIFFERENT: dict[tuple[Rule, ...], Rules] = {rules.rules: rules for rules in PROFILES.values()}
"""The profiles without those that have the rules of another."""


def conversations(alphabet: Sequence[Message], *sizes: int) -> Iterator[tuple[Message, ...]]:
    for size in sizes:
        yield from product(alphabet, repeat=size)


def test_every_conversation_of_up_to_five_messages_is_put_right():
    small = conversations((USER, CALL, RESULT), *range(6))
    other = conversations((USER, ASSISTANT, SYSTEM, CALL, RESULT), *range(6 if ALL else 4))
    for messages in {*small, *other}:
        for rules in DIFFERENT.values():
            assert_repair_is_right(rules, messages)


def test_every_pair_of_the_strangest_messages_is_put_right():
    for messages in conversations(ALPHABET[:: 1 if ALL else 3], *range(3)):
        for rules in DIFFERENT.values():
            assert_repair_is_right(rules, messages)


def test_every_cut_that_a_rule_calls_safe_is_safe():
    small = conversations((USER, ASSISTANT, SYSTEM, CALL, RESULT), *range(6 if ALL else 4))
    long = conversations((USER, CALL, RESULT), 4, 5)
    strange = conversations(ALPHABET, *range(3 if ALL else 2))
    for messages in {*small, *long, *strange}:
        for rule in EACH_RULE.values():
            assert_cuts_are_safe(Rules("", (rule,)), messages)
