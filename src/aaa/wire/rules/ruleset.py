"""All rules of one provider, as one: violations of any, cuts that are safe for all, repairs one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from aaa.messages import Message
from aaa.wire.report import Repair, Violation
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.limits import Limit
from aaa.wire.rules.rule import Rule, cuts_of

__all__ = ["Rules"]


@dataclass(frozen=True)
class Rules:
    """The rules of `provider`, in the order in which they mend: later ones undo nothing of earlier ones."""

    provider: str
    rules: tuple[Rule, ...]

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The rules that only say how much is too much."""
        return tuple(rule for rule in self.rules if isinstance(rule, Limit))

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """What the provider would refuse, rule by rule."""
        return [violation for rule in self.rules for violation in rule.violations(messages)]

    def safe_cuts(self, messages: Sequence[Message]) -> list[int]:
        """Where a conversation can be cut: the head and everything from such an index on break no rule that the whole
        did not break. In order; the first is the end of the head, where nothing is left out."""
        cuts = set(cuts_of(messages))
        return sorted(cuts.intersection(*(rule.safe_cuts(messages) for rule in self.rules)))

    def repair(
        self, messages: Sequence[Message], *, edited_from: int | None = None, edited_until: int | None = None
    ) -> tuple[list[Message], list[Repair]]:
        """The conversation as the provider takes it, changed as little as possible, and every change.

        A repair depends on what stands before it alone, so that it is the same in every later request and the prefix
        stays cached; a result that comes late, and what the end of a conversation needs, are the exceptions. Words of
        the user and of instructions are always kept. Only what is not `is_repairable` is still violated afterwards.

        Args:
            messages: any sequence, valid or not.
            edited_from: the first message that is not what the provider has seen, or that stands behind a gap: what the
                model thought from there on was signed over other words.
            edited_until: the first message that was made when the edit had been sent already; the end if None.

        Shape: messages that are not named in a repair are the same objects, in their order.
        Cost: O(messages).
        """
        stale = [] if edited_from is None else [(edited_from, len(messages) if edited_until is None else edited_until)]
        draft = Draft(messages, stale)
        for rule in self.rules:
            rule.mend(draft)
        return draft.messages, draft.repairs
