"""What must hold of one prompt, checked without asking the plan where that can be: names of what does not."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aaa.context import Plan, Prepared
from aaa.context.edits import Edit
from aaa.context.groups import groups, is_pinned
from aaa.context.markers import is_marker, marked
from aaa.errors import ContextFloorError
from aaa.messages import Message
from tests.cli.test_recorded import has_tail, unpaired
from tests.fuzz.guarantee import check_error
from tests.sweep.formats import Format
from tests.sweep.talk import Talk
from tests.wire.rules.checks import letters, repairable

__all__ = ["Case", "wrong_with", "wrong_with_refusal"]

_KEEP_RECENT = 3  # of a policy with default settings
_CUT_RESULT = 64  # tokens of a result that is cut as short as the floor cuts
_NOTES = 100  # tokens of what we and the repairs write


@dataclass(frozen=True)
class Case:
    """One call: how much of a conversation it sends, by whose rules, into how large a window."""

    talk: Talk
    length: int
    format: Format
    window: int
    is_sticky: bool

    @property
    def given(self) -> list[Message]:
        return self.talk.messages[: self.length]


def wrong_with(case: Case, prompt: Prepared[Message]) -> Iterator[str]:
    """What is wrong with a prompt."""
    plan, sent = prompt.plan, list(prompt.messages)
    assert plan is not None
    yield from _wrong_size(case, plan, sent)
    yield from _refused(case, sent)
    yield from _wrong_order(case, plan, sent)
    yield from _lost_words(case, plan, sent)
    if plan.apply(case.talk.transcript) != sent:
        yield "the plan does not make the prompt"


def wrong_with_refusal(case: Case, error: ContextFloorError) -> Iterator[str]:
    """What is wrong with a refusal: its numbers do not add up, or the prompt could fit."""
    try:
        check_error(error)
    except AssertionError:
        yield "the numbers of a refusal do not add up"
    if error.window_tokens != case.window or error.reserve_tokens:
        yield "a refusal with another window"
    if _least(case) <= error.budget_tokens:
        yield "refused though it could fit"


def _least(case: Case) -> int:
    """About the smallest a prompt can be: head, pins and newest group, of whose results a few words each are left."""
    given, head = case.given, case.talk.head(case.length)
    newest = (groups(given, head) or [(len(given), len(given))])[-1]
    kept = [index for index in range(len(given)) if index < head or index >= newest[0] or is_pinned(given[index])]
    results = [given[index] for index in kept if given[index].role == "tool"]
    whole = case.talk.prompt_tokens([given[i] for i in kept if given[i].role != "tool"], *case.format.target)
    return whole + sum(min(case.talk.size(m, *case.format.target), _CUT_RESULT) for m in results) + _NOTES


def _wrong_size(case: Case, plan: Plan, sent: Sequence[Message]) -> Iterator[str]:
    size = case.talk.prompt_tokens(sent, *case.format.target)
    if size > case.window:
        yield "above the budget"
    if size != plan.tokens_after:
        yield "not the size that the plan says"


def _refused(case: Case, sent: Sequence[Message]) -> Iterator[str]:
    for violation in repairable(case.format.rules.violations(sent)):
        yield f"rule {violation.rule}"
    body = case.format.body(sent, case.talk.tools)
    if complaint := case.format.complaint(body):
        yield f"refused: {re.sub('[0-9]+', 'N', complaint)[:120]}"


def _wrong_order(case: Case, plan: Plan, sent: Sequence[Message]) -> Iterator[str]:
    items = [item.message for item in plan.items(case.talk.transcript)]
    if not _is_in_order(case, items) or not _is_in_order(case, [message for message in sent if message.role != "tool"]):
        yield "order changed"  # results may be moved to their calls by a repair
    if unpaired(sent) - case.talk.unpaired(case.length):
        yield "pairs broken"
    head = case.talk.head(case.length)
    repaired = {repair.index for repair in plan.repairs}
    whole = {id(message) for index, message in enumerate(case.given[:head]) if index not in repaired}
    if items[:head] != case.given[:head] or whole - {id(message) for message in sent}:
        yield "head changed"
    is_floor = any(edit.strategy == "floor" for edit in plan.edits) or bool(plan.floor)
    if not is_floor and not has_tail(items, case.given, _KEEP_RECENT):
        yield "tail changed without a floor rung"


def _is_in_order(case: Case, messages: Sequence[Message]) -> bool:
    places = case.talk.places
    kept = [places[id(message)] for message in messages if id(message) in places]
    return kept == sorted(set(kept))


def _lost_words(case: Case, plan: Plan, sent: Sequence[Message]) -> Iterator[str]:
    """What the user and the program said is there, or an edit tells of it, and a marker in its place does."""
    there = {id(message) for message in sent}
    lost = [i for i in case.talk.said if i < case.length and id(case.talk.messages[i]) not in there]
    if not lost:
        return
    whole = letters(sent, *{message.role for message in sent})
    edits = {edit.index: edit for edit in plan.edits}
    for index in lost:
        edit = edits.get(index)
        if edit is None and case.talk.said[index] not in whole:
            yield "words gone without an edit"
        elif edit is not None and edit.action == "drop" and not edit.marked:
            yield "words dropped by an edit without a marker"
    told = [edit for edit in plan.edits if edit.action == "drop" and edit.marked]
    if told:
        yield from _wrong_marker(case, told, sent)


def _wrong_marker(case: Case, told: Sequence[Edit], sent: Sequence[Message]) -> Iterator[str]:
    """One marker stands where the first of the messages was that it tells of, and tells of them all."""
    markers = [at for at, message in enumerate(sent) if is_marker(message) and id(message) not in case.talk.places]
    if len(markers) != 1:
        yield f"{len(markers)} markers"
        return
    at, first = markers[0], told[0].index
    if marked(sent[at]) != sum(marked(case.talk.messages[edit.index]) for edit in told):
        yield "the marker tells another number"
    places = case.talk.places
    before = [m for m in sent[:at] if m.role != "tool" and places.get(id(m), -1) > first]
    behind = [m for m in sent[at:] if places.get(id(m), first) < first]
    if before or behind:
        yield "the marker stands elsewhere"
