"""Every small conversation, every edit, every format: what must hold of the prompt.

Edits are made through a strategy, summaries through the book, by the planner as any other. Left out, because it can
make no difference: the provider's part (repairs, rules, the body and its strict server) depends on the roles, calls
and ids in the prompt, not on its words, pins and kinds, nor, without thinking in it, on where the first edit is. So
each process asks it once for each sequence of these. Up to `WHOLE` messages it is asked each time, by the fitter.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from aaa.context import ContextPolicy, Plan, PromptFitter
from aaa.context.driving import finish_now
from aaa.context.edits import Item
from aaa.context.groups import groups, is_pinned, pending_call
from aaa.context.settings import Call
from aaa.context.summaries import SummaryBook, SummaryRecord
from aaa.context.transcript import Transcript
from aaa.messages import Message
from tests.cli.test_recorded import unpaired
from tests.sweep.alphabet import message_of
from tests.sweep.every_edit import Change, OneEdit, changes
from tests.sweep.formats import FORMATS, Format
from tests.wire.rules.checks import letters, repairable

__all__ = ["WHOLE", "Found", "check_words"]

WHOLE = 3
_MOST = 6  # messages of a conversation: into one of fewer a message is inserted too
_ALWAYS = 1e-12  # of the budget: everything is above it


@dataclass
class Found:
    """How many there were of each kind, and what was wrong."""

    counts: Counter[str] = field(default_factory=Counter[str])
    wrong: Counter[str] = field(default_factory=Counter[str])
    examples: list[str] = field(default_factory=list[str])

    def add_wrong(self, names: Iterator[str], where: str) -> None:
        for name in names:
            self.wrong[name] += 1
            if len(self.examples) < 20:
                self.examples.append(f"{where}: {name}")

    def lines(self) -> Iterator[str]:
        """The numbers, in words."""
        yield from (f"{name}: {count:,}" for name, count in sorted(self.counts.items()) if count)
        yield from (f"VIOLATED {count:,} times: {name}" for name, count in self.wrong.most_common())
        yield from self.examples

    def add(self, other: "Found") -> None:
        self.counts += other.counts
        self.wrong += other.wrong
        self.examples += other.examples[: max(20 - len(self.examples), 0)]


_STRATEGY = OneEdit()
_POLICY = ContextPolicy(
    1_000_000, reserve_output=0, trigger=_ALWAYS, target=_ALWAYS, keep_recent=0, strategies=[_STRATEGY]
)
_MEASURE = _POLICY.measure()


class _Small:
    """One small conversation, and what is asked of it."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.messages = [message_of(letter, place) for place, letter in enumerate(word)]
        self.transcript = Transcript(self.messages, count=_MEASURE.message)
        self.head = self.transcript.head
        self.places = {id(message): index for index, message in enumerate(self.messages)}

    def changed(self, change: Change) -> Plan:
        _STRATEGY.change = change
        return self._planned(SummaryBook())

    def summarised(self, upto: int) -> Plan:
        _STRATEGY.change = None
        return self._planned(SummaryBook([SummaryRecord(upto, self.transcript.digest(upto), "<record> of it all")]))

    def _planned(self, book: SummaryBook) -> Plan:
        planning = _POLICY.planning(self.transcript, _MEASURE, book, Call())
        return finish_now(planning.steps())


_KNOWN = set[str]()  # kinds of the prompts that this process has asked the providers about


def check_words(words: Iterable[str], whole: int = WHOLE, known: set[str] = _KNOWN) -> Found:
    """Conversations, each with every edit; those of up to `whole` messages through the fitter too.

    `known` takes up the prompts that the providers were asked about.
    """
    found, before = Found(), len(known)
    for word in words:
        found.counts["conversations"] += 1
        _check(_Small(word), found, known, whole)
    found.counts["distinct prompts"] = len(known) - before
    return found


def _check(small: _Small, found: Found, known: set[str], whole: int) -> None:
    for number, change in enumerate(changes(small.messages, small.head, most=_MOST)):
        plan = small.changed(change)
        where = f"{small.word}, edit {number} ({change.kind})"
        found.counts[f"edit {change.kind}"] += 1
        found.counts[f"undone {change.kind}"] += bool(plan.rejected)
        prompt = _check_prompt(small, plan, found, known, where)
        found.add_wrong(_wrong_change(small, change, plan, prompt), where)
        if len(small.word) <= whole:
            found.counts["through the fitter"] += len(FORMATS)
            found.add_wrong(_wrong_fitted(small, change), where)
    for upto in range(small.head + 1, len(small.word) + 1):
        found.counts["edit summarize"] += 1
        plan, where = small.summarised(upto), f"{small.word}, summary of {upto}"
        prompt = _check_prompt(small, plan, found, known, where)
        found.add_wrong(_wrong_summary(small, upto, prompt), where)


def _wrong_change(small: _Small, change: Change, plan: Plan, prompt: Sequence[Message]) -> Iterator[str]:
    """The edit was made, or undone where it may not be made; the plan says the same."""
    made = small.messages if plan.rejected else change.messages
    if prompt != made:
        yield "the prompt is not what the strategy made"
    if change.is_lawful and plan.rejected:
        yield "undone though lawful"
    if change.is_lawful is False and not plan.rejected:
        yield "not undone though not lawful"


def _wrong_summary(small: _Small, upto: int, prompt: Sequence[Message]) -> Iterator[str]:
    """It stands for all between the head and `upto`, but for groups with a pin or with a call that is under way."""
    covered = {id(small.messages[index]) for index in range(small.head, upto)}
    pending = pending_call(small.messages)
    stays = [i for i, message in enumerate(small.messages) if is_pinned(message) or i == pending]
    ranges = [range(*group) for group in groups(small.messages, small.head)]
    kept = {id(small.messages[i]) for group in ranges if not {*group}.isdisjoint(stays) for i in group}
    if [message.kind for message in prompt].count("summary") != 1:
        yield "no summary, or more than one"
    if covered & {id(message) for message in prompt} - kept:
        yield "what was summarised is there too"


def _check_prompt(small: _Small, plan: Plan, found: Found, known: set[str], where: str) -> list[Message]:
    items = plan.items(small.transcript)
    prompt, kinds = [item.message for item in items], _kinds(small.word, items)
    found.add_wrong(_wrong_prompt(small, plan, prompt, kinds), where)
    found.counts["prompts"] += len(FORMATS)
    if kinds not in known:
        known.add(kinds)
        for each in FORMATS.values():
            found.add_wrong(_wrong_for(each, prompt, kinds), f"{where}, {each.name}")
    return prompt


def _kinds(word: str, items: Sequence[Item]) -> str:
    """The prompt as a word; what we and strategies write is said as the user's, and a pin is not sent."""
    return "".join("U" if item.source is None else word[item.source] for item in items).replace("P", "U")


@lru_cache(100_000)
def _unpaired(kinds: str) -> Counter[str]:
    """Calls without a result and results without a call, in any prompt of these kinds."""
    return unpaired([message_of(kind, 0) for kind in kinds])


def _wrong_prompt(small: _Small, plan: Plan, prompt: Sequence[Message], kinds: str) -> Iterator[str]:
    """Order, pairs, head, pins, words: before anything is done for a provider."""
    places = [small.places[id(message)] for message in prompt if id(message) in small.places]
    if places != sorted(set(places)):
        yield "order changed"
    if _unpaired(kinds) - _unpaired(small.word):
        yield "pairs broken"
    fixed = [i for i, message in enumerate(small.messages) if i < small.head or is_pinned(message)]
    if not set(fixed) <= set(places) or [*prompt[: small.head]] != small.messages[: small.head]:
        yield "head or pins changed"
    told = {index for edit in plan.edits for index in _told_of(edit.index, edit.stop, edit.kept)}
    gone = [i for i, m in enumerate(small.messages) if m.role == "user" and i not in places and i not in told]
    if gone:
        yield "words gone without an edit"
    markers = sum(message.kind == "marker" for message in prompt)
    if markers != any(edit.action == "drop" and edit.marked for edit in plan.edits):
        yield "a marker that no edit tells of, or the other way round"


def _told_of(index: int, stop: int, kept: Sequence[int]) -> set[int]:
    return set(range(index, max(stop, index + 1))) - set(kept)


def _wrong_for(each: Format, prompt: Sequence[Message], kinds: str) -> Iterator[str]:
    """What its provider makes of a prompt."""
    repaired, _ = each.rules.repair(prompt, edited_from=0)
    yield from _wrong_repair(each, prompt, repaired)
    if unpaired(repaired) - _unpaired(kinds):
        yield "pairs broken by a repair"
    if complaint := each.complaint(each.body(repaired)):
        yield f"refused: {complaint[:120]}"


def _wrong_repair(each: Format, prompt: Sequence[Message], repaired: Sequence[Message]) -> Iterator[str]:
    yield from (f"rule {violation.rule}" for violation in repairable(each.rules.violations(repaired)))
    places = {id(message): index for index, message in enumerate(prompt)}
    kept = [places[id(message)] for message in repaired if id(message) in places and message.role != "tool"]
    if kept != sorted(set(kept)):
        yield "order changed by a repair"
    roles = ("user", "system")
    there, whole = {id(message) for message in repaired}, letters(repaired, *roles)
    if any(letters([message], *roles) not in whole for message in prompt if id(message) not in there):
        yield "words gone by a repair"


def _wrong_fitted(small: _Small, change: Change) -> Iterator[str]:
    """The whole way, for each provider: the prompt is that edit, repaired."""
    _STRATEGY.change = change
    for each in FORMATS.values():
        prompt = PromptFitter(_POLICY).fit_sync(small.messages, model=each.model, provider=each.provider)
        assert prompt.plan is not None
        edited = [item.message for item in prompt.plan.items(small.transcript)]
        if prompt.plan.apply(small.transcript) != list(prompt.messages):
            yield f"the plan does not make the prompt, {each.name}"
        if edited != (small.messages if prompt.plan.rejected else change.messages):
            yield f"the prompt is not what the strategy made, {each.name}"
        yield from _wrong_repair(each, edited, prompt.messages)
        if complaint := each.complaint(each.body(prompt.messages)):
            yield f"refused: {complaint[:120]}, {each.name}"
