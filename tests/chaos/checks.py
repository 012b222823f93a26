"""What must hold of a run that has ended, whatever was done to it; each check gives what is wrong in words."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import aaa.errors
from aaa.runtime import Event, event_from_json, event_to_json, prompt_at
from aaa.runtime.conversations import names_of
from aaa.runtime.prompts import _edits_at
from aaa.wire.rules import rules_for
from tests.chaos.driving import Driven, policy_of, task_of
from tests.chaos.model import SECRET
from tests.chaos.recording import Sent
from tests.chaos.summaries import BAD
from tests.runtime.making import fingerprint

__all__ = ["problems_of"]

_ENDINGS = ("completed", "failed")
_SIZE = re.compile(r"(?:limit|requested|about|to be|needs|budget is|window) \d")
_OF_CONTEXT = re.compile(r"Context\w*Error|RequestTooLarge")
_MOST_TRIES = 8  # four tries of the prompt, four of the deeper one
_PROMPTS = 8  # of a run that are computed from its log


def problems_of(driven: Driven) -> list[str]:
    """Everything that is wrong with the run and its log."""
    checks = (_log, _effects, _repeated, _errors, _tries, _valid, _prompts, _budgets, _cuts, _words, _summaries)
    found = [*driven.record.problems]
    found += [f"the server refused: {refused}" for refused in driven.server.refused]
    found += [f"the server failed: {error!r}" for error in driven.server.failures]
    for check in checks:
        found += [f"{check.__name__.strip('_')}: {problem}" for problem in check(driven)]
    return found


def _log(driven: Driven) -> Iterable[str]:
    events = driven.events
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        yield "the sequence has a gap"
    if len({event.id for event in events}) != len(events):
        yield "an event is there twice"
    ends = [event.seq for event in events if event.type == "aaa.run.completed"]
    if ends != [len(events)]:
        yield f"the run's end stands at {ends} of {len(events)}"
    if [event_from_json(event_to_json(event)) for event in events] != events:
        yield "an event is not what its JSON says"
    for before in driven.crashed:
        if events[: len(before)] != before:
            yield "the log does not go on from what an interruption left"


def _by_key(events: Sequence[Event], *endings: str) -> Counter[tuple[str, str]]:
    pairs = ((event.type.rpartition("."), event.data.get("key")) for event in events)
    return Counter((kind, key) for (kind, _, ending), key in pairs if key is not None and ending in endings)


def _open_in(events: Sequence[Event]) -> Counter[tuple[str, str]]:
    """What was asked for and has no end."""
    return _by_key(events, "requested") - _by_key(events, *_ENDINGS)


def _effects(driven: Driven) -> Iterable[str]:
    requested, ended = _by_key(driven.events, "requested"), _by_key(driven.events, *_ENDINGS)
    if set(requested.values()) - {1} or set(ended.values()) - {1}:
        yield "an effect was requested or ended twice"
    if set(ended) - set(requested):
        yield f"ended without being asked for: {set(ended) - set(requested)}"
    assert driven.outcome is not None
    if set(requested) - set(ended) and driven.outcome.status != "cancelled":
        yield f"without an end: {set(requested) - set(ended)}"


def _repeated(driven: Driven) -> Iterable[str]:
    """Nothing that was recorded is done again."""
    for number, before in enumerate(driven.crashed, 1):
        done = {key for kind, key in _by_key(before, *_ENDINGS) if kind == "aaa.llm"}
        again = {sent.key for sent in driven.record.sent if sent.crashes >= number and sent.key in done}
        if again:
            yield f"recorded model calls were made again: {again}"
    for key, count in driven.tools.ran.items():
        own = key.rpartition(":")[2]
        open_at = sum(("aaa.tool", own) in _open_in(log) for log in driven.crashed)
        if count > 1 + open_at:
            yield f"tool call {own} ran {count} times, interrupted {open_at} times"
    if twice := [key for key, count in driven.tools.paid.items() if count > 1]:
        yield f"paid twice: {twice}"


def _errors(driven: Driven) -> Iterable[str]:
    outcome = driven.outcome
    assert outcome is not None
    status_errors = {"out_of_budget": "RunStop", "past_deadline": "TimeoutError"}
    for event in driven.events:
        if event.type not in ("aaa.llm.failed", "aaa.run.completed") or not event.data.get("error"):
            continue
        error = event.data["error"]
        kind, message = error["type"], error["message"]
        if kind == status_errors.get(outcome.status) and event.type == "aaa.run.completed":
            continue
        yield from _unclear(kind, message)
    if outcome.status not in ("done", "cancelled") and not outcome.error:
        yield f"{outcome.status} without an error"


def _unclear(kind: str, message: str) -> Iterable[str]:
    if kind not in aaa.errors.__all__:
        yield f"{kind} is none of ours: {message[:100]}"
    if not message.strip():
        yield f"{kind} says nothing"
    if SECRET in message:
        yield f"{kind} tells what was said: {message[:200]}"
    told = re.search(r"failed with (\w+)", message)
    is_of_context = _OF_CONTEXT.match(told[1] if kind == "EffectError" and told else kind)
    if is_of_context and len(_SIZE.findall(message)) < 2:
        yield f"{kind} lacks a size: {message[:300]}"


def _tries(driven: Driven) -> Iterable[str]:
    attempts: dict[int, list[Sent]] = {}
    for sent in driven.record.sent:
        attempts.setdefault(sent.attempt, []).append(sent)
    for tries in attempts.values():
        refused = sum(sent.is_refused for sent in tries)
        if refused > 2 or len(tries) > _MOST_TRIES:
            yield f"call {tries[0].key} was sent {len(tries)} times, refused as too large {refused} times"
        if refused == 2 and tries[-1].error is None:
            yield f"call {tries[0].key} went on after two refusals"


def _valid(driven: Driven) -> Iterable[str]:
    for sent in driven.record.sent:
        request = sent.request
        rules = rules_for(driven.dialect, request.model, params=request.params)
        broken = [each for each in rules.violations(request.messages) if each.is_repairable]
        if broken:
            yield f"call {sent.key}: {broken[0]}"


def _calls(driven: Driven) -> list[str]:
    return [event.data["key"] for event in driven.events if event.type == "aaa.llm.requested"]


def _prompts(driven: Driven) -> Iterable[str]:
    """What the log gives back for a call is what was sent last for it."""
    last = {sent.key: sent.request for sent in driven.record.sent}
    described = {
        event.data["key"] for event in driven.events if event.type.startswith("aaa.llm.") and "sent" in event.data
    }
    numbered = [(number, key) for number, key in enumerate(_calls(driven), 1) if key in described and key in last]
    step = max(len(numbered) // _PROMPTS, 1)
    for number, key in {*numbered[::step], *numbered[-2:]}:
        if fingerprint(prompt_at(driven.events, number)) != fingerprint(last[key].messages):
            yield f"the prompt of call {number} (key {key}) is not what was sent"


def _budgets(driven: Driven) -> Iterable[str]:
    """Each prompt was within the budget, from when a window was learned within that of the learned one."""
    policy = policy_of(driven.plan, driven.summarizer)
    learned: int | None = None
    late: list[int] = []  # learned from the very reply
    for event in driven.events:
        if event.type == "aaa.context.learned" and event.data["kind"] != "bytes":
            late.append(event.data["window_tokens"])
            if event.data["kind"] == "tokens":
                learned = min([*late, *([learned] if learned else [])])
        elif event.type in ("aaa.llm.completed", "aaa.llm.failed"):
            budget = policy.settings(None, learned_tokens=learned).budget_tokens
            if event.type == "aaa.llm.completed" and event.data.get("tokens", 0) > budget:
                yield f"call {event.data['key']}: {event.data['tokens']} tokens in a budget of {budget}"
            learned = min([*late, *([learned] if learned else [])], default=None)
            late.clear()


def _cuts(driven: Driven) -> Iterable[str]:
    """A cut without a word is only ever found where there was one."""
    cut = {sent.key for sent in driven.record.sent if sent.was_cut}
    for event in driven.events:
        if event.type == "aaa.context.learned" and event.data["kind"] == "silent" and event.data["key"] not in cut:
            yield f"call {event.data['key']}: a cut to {event.data['window_tokens']} that never was"


def _words(driven: Driven) -> Iterable[str]:
    """The task is in every prompt, or an edit tells that it is not."""
    task = task_of(driven.plan).strip()
    asked = [(event.data["key"], event.data["conv"]) for event in driven.events if event.type == "aaa.llm.requested"]
    names = names_of(asked)
    for sent in driven.record.sent:
        if any(task in message.text for message in sent.request.messages):
            continue
        edits = _edits_at(driven.events, sent.key, names)
        if not any(_index(edit) in (0, 1) for edit in edits):
            yield f"call {sent.key}: the task is gone without an edit"


def _index(edit: Any) -> int:
    return edit["index"] if isinstance(edit, dict) else edit.index


def _summaries(driven: Driven) -> Iterable[str]:
    """No bad summary ever stands in a prompt, and each that stands there is fenced once."""
    for sent in driven.record.sent:
        texts = [message.text for message in sent.request.messages]
        if any(BAD in text for text in texts):
            yield f"call {sent.key}: a summary that must be rejected is in the prompt"
        for text in texts:
            if '<record note="not orders">' in text and text.count("</record>") != 1:
                yield f"call {sent.key}: the fence of a summary is broken"
