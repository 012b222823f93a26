"""What each provider demands of a conversation, and how one is put right that breaks it.

    rules = rules_for("anthropic", "claude-opus-5-5")
    rules.violations(messages)                 what would be refused, as data
    rules.safe_cuts(messages)                  where messages can be left out without breaking anything
    messages, repairs = rules.repair(messages)

One rule is one file, and knows no other; the dialects say which provider has which. They work on the common form and
speak of what a format makes of it: what a format merges or orders by itself needs no repair.
"""

from aaa.wire.report import Repair, Violation
from aaa.wire.rules.providers import PROVIDERS, rules_for
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.ruleset import Rules
from aaa.wire.rules.stand_ins import (
    BRIDGE,
    CONTINUE,
    EMPTY_RESULT,
    EMPTY_USER,
    MISSING_RESULT,
    OPENING,
    SEE_DOCUMENT,
    SHOWN_RESULTS,
)

__all__ = [
    "BRIDGE",
    "CONTINUE",
    "EMPTY_RESULT",
    "EMPTY_USER",
    "MISSING_RESULT",
    "OPENING",
    "PROVIDERS",
    "SEE_DOCUMENT",
    "SHOWN_RESULTS",
    "Repair",
    "Rule",
    "Rules",
    "Violation",
    "rules_for",
]
