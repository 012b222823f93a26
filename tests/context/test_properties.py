"""What holds for any conversation and any policy."""

import asyncio
import copy
import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st
from msgspec.structs import replace

from aaa.context import (
    ClearToolResults,
    ContextPolicy,
    DropOldest,
    FitterState,
    HeuristicCounter,
    PromptFitter,
    Summarize,
    SummaryBook,
    Transcript,
    TruncateToolResults,
    groups,
)
from aaa.context.counters import CalibratedCounter
from aaa.context.groups import head_length
from aaa.errors import ContextFloorError, StateError
from aaa.messages import Message, ToolCall, pair
from aaa.wire.openai_chat import message_from_dict, message_to_dict
from tests.strategies import (
    PolicySpec,
    as_dicts,
    canonical_json,
    conversations,
    policy_specs,
    tool_specs,
    tools_as_dicts,
    usages,
)

# A failing conversation may be long; say what it is all the same.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")


def now(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waited for something")


def fitting(policy: ContextPolicy, messages: Sequence[Any], tools: Sequence[Any] = (), **options: Any) -> Any:
    """What `prepare` returns; an input that cannot fit is none of the calling test's business."""
    try:
        return now(policy.prepare(messages, tools=tools, **options))
    except ContextFloorError as error:
        note(str(error))
        assume(False)


def size(policy: ContextPolicy, messages: Sequence[Message], tools: Sequence[Any] = ()) -> int:
    """Calibrated tokens by the policy's own counter, media added."""
    measure = policy.measure(tools)
    return measure.size(measure.total(sum(map(measure.message, messages)), messages))


def roomy(spec: PolicySpec, messages: Sequence[Message]) -> PolicySpec:
    """The same with a window that holds everything and a low trigger: the strategies run, the floor does not."""
    window = max(size(spec.build(), messages), 200) + spec.reserve
    return dataclasses.replace(spec, window=window, trigger=0.1, target=0.05)


def read(messages: Sequence[Any]) -> list[Message]:
    return [m if isinstance(m, Message) else message_from_dict(m) for m in messages]


# 1. It fits


def check_fits(policy: ContextPolicy, spec: PolicySpec, prompt: Sequence[Any], tools: Sequence[Any]) -> None:
    assert size(policy, read(prompt), tools) <= spec.window - spec.reserve


def check_sum(error: ContextFloorError) -> None:
    assert error.head_tokens + error.tools_tokens + error.tail_tokens == error.needed_tokens > error.budget_tokens


def check_floor_error(error: ContextFloorError, spec: PolicySpec) -> None:
    budget = spec.window - spec.reserve
    assert error.head_tokens + error.tools_tokens + error.tail_tokens == error.needed_tokens > budget
    assert (error.budget_tokens, error.window_tokens) == (budget, spec.window)
    assert min(error.head_tokens, error.tools_tokens, error.tail_tokens) >= 0


@given(conversations(), tool_specs(), policy_specs())
def test_a_prompt_fits_or_the_error_says_by_how_much_not(messages, tools, spec):
    policy = spec.build()
    try:
        prompt = now(policy.prepare(messages, tools=tools))
    except ContextFloorError as error:
        check_floor_error(error, spec)
    else:
        check_fits(policy, spec, prompt.messages, tools)
        assert prompt.plan.tokens_after == size(policy, prompt.messages, tools)


@given(conversations(), tool_specs(), policy_specs())
def test_what_cannot_fit_is_head_pinned_and_newest_group_at_their_smallest(messages, tools, spec):
    policy = spec.build()
    try:
        now(policy.prepare(messages, tools=tools))
    except ContextFloorError:
        assert size(policy, smallest(messages), tools) > spec.window - spec.reserve - MARKER_TOKENS


MARKER_TOKENS = 180  # what a marker costs in the dearest of the counters


def smallest(messages: list[Message]) -> list[Message]:
    """Head, groups with a pinned message, and the newest group, results and arguments at the 200 characters left."""
    head = head_length(messages)
    ranges = groups(messages, head)
    kept = [r for r in ranges[:-1] if any(m.pinned or m.is_system for m in messages[slice(*r)])] + ranges[-1:]
    left = [m for start, stop in kept for m in messages[start:stop]]
    return [*messages[:head], *map(_cut, left)]


def _cut(message: Message) -> Message:
    if message.pinned:
        return message
    if message.role == "tool" and len(message.text) > 200:
        return Message("tool", "x" * 200, (), message.tool_call_id, message.name)
    calls = [replace(c, arguments_json="x" * 200) if len(c.arguments_json) > 200 else c for c in message.tool_calls]
    return replace(message, tool_calls=tuple(calls))


@given(conversations(max_turns=4), policy_specs(), st.sampled_from((0.3, 0.7, 0.99)))
def test_under_pressure_a_prompt_becomes_smaller_or_the_error_says_what_is_needed(messages, spec, pressure):
    policy = spec.build()
    before = fitting(policy, messages)
    assume(size(policy, before.messages))  # what counts nothing can not become smaller
    try:
        prompt = now(policy.prepare(messages, pressure=pressure))
    except ContextFloorError as error:
        check_sum(error)
    else:
        assert size(policy, prompt.messages) < size(policy, before.messages)


# 2. and 3. Order, head, pinned


def check_order(given_messages: Sequence[Any], prompt: Sequence[Any]) -> None:
    """The caller's own objects come in their order; all else stands for a result or call, or is a summary or marker."""
    own = {id(message) for message in given_messages}
    cursor = 0
    for message in prompt:
        if id(message) in own:
            cursor = next(i for i in range(cursor, len(given_messages)) if given_messages[i] is message) + 1
        else:
            written = message if isinstance(message, Message) else message_from_dict(message)
            is_ours = "earlier message" in written.text or written.text.startswith("<record ")
            assert written.role == "tool" or written.tool_calls or (written.role == "user" and is_ours)


def check_kept(given_messages: Sequence[Any], prompt: Sequence[Any]) -> None:
    """The head comes first, the same objects; later system messages and pinned ones are all there, in order."""
    known = read(given_messages)
    head = head_length(known)
    assert [id(m) for m in prompt[:head]] == [id(m) for m in given_messages[:head]]
    must = [id(given_messages[i]) for i in range(head, len(known)) if known[i].pinned or known[i].is_system]
    rest = iter([id(message) for message in prompt[head:]])
    assert all(message in rest for message in must)


@given(conversations(), policy_specs())
def test_the_order_is_kept_and_what_is_not_the_callers_stands_for_something(messages, spec):
    prompt = fitting(spec.build(), messages)
    check_order(messages, prompt.messages)
    sources = [item.source for item in prompt.plan.items(transcript(messages)) if item.source is not None]
    assert sources == sorted(set(sources))


@given(st.data(), conversations(pinned=False), policy_specs())
def test_a_prompt_of_dicts_holds_the_callers_own_dicts_in_order(data, messages, spec):
    dicts = data.draw(as_dicts(messages))
    prompt = fitting(spec.build(), dicts)
    check_order(dicts, prompt.messages)
    check_kept(dicts, prompt.messages)
    assert all(isinstance(message, dict) for message in prompt.messages)


@given(conversations(), policy_specs())
def test_head_pinned_and_later_system_messages_stay_as_they_are(messages, spec):
    check_kept(messages, fitting(spec.build(), messages).messages)


# 4. Pairs


def transcript(messages: Sequence[Message]) -> Transcript:
    return Transcript(messages, count=lambda _: 0)


def check_pairs(messages: Sequence[Message], plan: Any) -> None:
    """Each call without a result and each result without a call was one in the transcript too."""
    items = plan.items(transcript(messages))
    before, after = pair(messages), pair([item.message for item in items])
    assert {items[index].source for index in after.orphans} <= set(before.orphans)
    assert {(items[index].source, call) for index, call in after.unanswered} <= set(before.unanswered)


@given(conversations(), policy_specs())
def test_no_call_is_separated_from_its_result(messages, spec):
    check_pairs(messages, fitting(spec.build(), messages).plan)


@given(conversations(max_turns=5, late=True), policy_specs(strategies=("summarize", "clear")))
def test_no_call_is_separated_from_a_result_that_comes_after_its_call_was_summarised(messages, spec):
    policy, book = spec.build(), SummaryBook()
    for length in range(1, len(messages) + 1):
        try:
            prompt = now(policy.prepare(messages[:length], book=book))
        except ContextFloorError:
            continue
        check_pairs(messages[:length], prompt.plan)


# 5. Idempotent, deterministic


def equal(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return [m if isinstance(m, dict) else message_to_dict(m) for m in a] == [
        m if isinstance(m, dict) else message_to_dict(m) for m in b
    ]


@given(conversations(), policy_specs(), tool_specs())
def test_a_prompt_prepared_again_is_the_same(messages, spec, tools):
    prompt = fitting(spec.build(), messages, tools)
    again = now(spec.build().prepare(prompt.messages, tools=tools))
    assert equal(prompt.messages, again.messages)


@given(st.data(), conversations(pinned=False), policy_specs())
def test_a_prompt_of_dicts_prepared_again_is_the_same(data, messages, spec):
    prompt = fitting(spec.build(), data.draw(as_dicts(messages)))
    again = now(spec.build().prepare(prompt.messages))
    assert equal(prompt.messages, again.messages)


@given(st.data(), conversations(pinned=False), policy_specs(), st.booleans())
def test_a_prompt_that_stays_above_the_trigger_is_the_same_when_prepared_again(data, messages, spec, is_dicts):
    spec = roomy(spec, messages)
    prompt = fitting(spec.build(), data.draw(as_dicts(messages)) if is_dicts else messages)
    again = now(spec.build().prepare(prompt.messages))
    assert equal(prompt.messages, again.messages)


@given(st.data(), conversations(pinned=False), policy_specs(), tool_specs())
def test_the_same_input_gives_the_same_output_again_and_as_dicts(data, messages, spec, tools):
    policy = spec.build()
    first = fitting(policy, messages, tools)
    assert fitting(policy, messages, tools) == first
    assert fitting(spec.build(), list(messages), tools) == first
    dicts = [message_to_dict(message) for message in messages]
    assert equal(fitting(spec.build(), dicts, tools_as_dicts(tools)).messages, first.messages)


SCRIPT = """
import asyncio, json, sys
from aaa.context import *
from aaa.messages import *
def turn(n):
    calls = tuple(ToolCall(f"{n}.{i}", "read", json.dumps({"path": f"src/file_{n}_{i}.py"})) for i in range(3))
    results = (Message("tool", f"lib/x{n}_{call.id} \\u00e9 " * 60, (), call.id) for call in calls)
    return [Message("assistant", None, calls), *results]
messages = [Message("system", "s"), Message("user", "task")] + [m for n in range(9) for m in turn(n)]
summarize = Summarize(summarize=lambda text, previous: f"{len(text)} after {previous}")
policy = ContextPolicy(3000, reserve_output=0, strategies=[ClearToolResults(), summarize, DropOldest()], sticky=True)
fitter = PromptFitter(policy)
prompts = [fitter.fit_sync(messages[:n]).messages for n in range(1, len(messages) + 1)]
sys.stdout.write(repr(prompts) + fitter.state.to_json())
"""


def test_another_process_gives_the_same_bytes_whatever_its_hash_seed():
    def output(seed: str) -> str:
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        return subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            check=True,
            timeout=60,
            encoding="utf-8",
        ).stdout

    first = output("0")
    assert "<record" in first
    assert output("1") == first == output("4242")


# 6. Plan


@given(conversations(), policy_specs(), tool_specs())
def test_prepare_is_the_plan_applied(messages, spec, tools):
    policy = spec.build()
    prompt = fitting(policy, messages, tools)
    plan = now(policy.plan(messages, tools=tools))
    assert plan == prompt.plan
    assert plan.apply(messages) == list(prompt.messages)
    assert plan.report() == prompt.report


@given(conversations(), policy_specs(strategies=("summarize", "drop")))
def test_an_estimate_calls_no_summarizer_and_keeps_nothing(messages, spec):
    policy, book = spec.build(), SummaryBook()
    try:
        now(policy.plan(messages, estimate=True, book=book))
    except ContextFloorError as error:
        check_floor_error(error, spec)
    assert spec.summary_calls == 0
    assert book == SummaryBook()


# 7. Sticky


def lines(prompt: Sequence[Message]) -> list[str]:
    return [canonical_json(message) for message in prompt]


def fit_each(fitter: PromptFitter, messages: Sequence[Message], reports: Sequence[int | None]) -> Any:
    """Fit each beginning of the conversation; None where it cannot fit. Reports follow in turn."""
    for length in range(1, len(messages) + 1):
        try:
            yield length, fitter.fit_sync(messages[:length])
        except ContextFloorError:
            yield length, None
        if reports:
            fitter.record(reports[length % len(reports)])


@given(conversations(max_turns=6), policy_specs(sticky=True), st.lists(usages(), max_size=4))
def test_between_two_compactions_a_sticky_prompt_only_grows_at_its_end(messages, spec, reports):
    before: list[str] = []
    for length, prompt in fit_each(PromptFitter(spec.build()), messages, reports):
        if prompt is None:
            continue
        after = lines(prompt.messages)
        if not prompt.plan.applied:
            assert after[: len(before)] == before, length
        before = after


@given(conversations(max_turns=6, late=True), policy_specs(sticky=True, strategies=("drop", "clear")))
def test_a_late_result_does_not_bring_back_what_was_dropped(messages, spec):
    """Unless it is pinned: then its call comes back with it."""
    messages = [replace(message, pinned=False) for message in messages]
    before: list[str] = []
    for length, prompt in fit_each(PromptFitter(spec.build()), messages, ()):
        if prompt is not None:
            check_pairs(messages[:length], prompt.plan)
            after = lines(prompt.messages)
            assert prompt.plan.applied or after[: len(before)] == before
            before = after


@given(conversations(max_turns=6), policy_specs(sticky=True))
def test_with_exact_usage_a_sticky_prompt_only_grows_and_each_one_fits(messages, spec):
    policy = spec.build()
    fitter = PromptFitter(policy)
    before: list[str] = []
    for length in range(1, len(messages) + 1):
        try:
            prompt = fitter.fit_sync(messages[:length])
        except ContextFloorError as error:
            check_floor_error(error, spec)
            continue
        raw = Measured(policy).raw(prompt.messages)
        if not isinstance(policy.counter, CalibratedCounter):
            assert raw <= spec.window - spec.reserve
        check_pairs(messages[:length], prompt.plan)
        check_kept(messages[:length], prompt.messages)
        after = lines(prompt.messages)
        assert prompt.plan.applied or after[: len(before)] == before
        before = after
        fitter.record(raw)


class Measured:
    """The raw size by a policy's counter."""

    def __init__(self, policy: ContextPolicy) -> None:
        self.measure = policy.measure()

    def raw(self, messages: Sequence[Message]) -> int:
        return self.measure.total(sum(map(self.measure.message, messages)), messages)


# 8. Saved and reloaded


@given(
    conversations(max_turns=6),
    policy_specs(),
    st.lists(usages(), max_size=4),
    st.integers(1, 12),
    st.booleans(),
)
def test_a_reloaded_fitter_goes_on_with_the_same_bytes(messages, spec, reports, at, before_record):
    kept, fitter = PromptFitter(spec.build()), PromptFitter(spec.build())

    def reload(fitter: PromptFitter) -> PromptFitter:
        return PromptFitter(spec.build(), FitterState.from_json(fitter.state.to_json()))

    for length in range(1, len(messages) + 1):
        outcomes = []
        for one in (kept, fitter):
            try:
                outcomes.append(lines(one.fit_sync(messages[:length]).messages))
            except ContextFloorError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1], length
        if length == at and before_record:
            fitter = reload(fitter)
        if reports:
            kept.record(reports[length % len(reports)])
            fitter.record(reports[length % len(reports)])
        if length >= at and not before_record:
            fitter = reload(fitter)
    assert fitter.state.to_json() == kept.state.to_json()


@given(conversations(max_turns=5), policy_specs())
def test_a_call_that_cannot_fit_leaves_the_state_as_it_was(messages, spec):
    fitter = PromptFitter(spec.build())
    before = fitter.state
    for _, prompt in fit_each(fitter, messages, ()):
        if prompt is None:
            assert fitter.state == before
        before = fitter.state


# 9. Tail


@given(conversations(), policy_specs())
def test_the_newest_groups_are_verbatim_unless_the_floor_is_reached(messages, spec):
    prompt = fitting(spec.build(), messages)
    ranges = groups(messages, head_length(messages))[-spec.keep_recent :] if spec.keep_recent else []
    if ranges and not prompt.plan.floor:
        tail = messages[ranges[0][0] :]
        assert [id(m) for m in prompt.messages[-len(tail) :]] == [id(m) for m in tail]


@given(conversations(), policy_specs(), st.integers(0, 3))
def test_the_newest_groups_are_verbatim_whatever_the_strategies_do(messages, spec, keep_recent):
    spec = dataclasses.replace(roomy(spec, messages), keep_recent=keep_recent)
    prompt = fitting(spec.build(), messages)
    assert prompt.plan.floor == ()
    ranges = groups(messages, head_length(messages))[-keep_recent:] if keep_recent else []
    tail = messages[ranges[0][0] :] if ranges else []
    assert [id(m) for m in prompt.messages[len(prompt.messages) - len(tail) :]] == [id(m) for m in tail]


@given(conversations(), policy_specs(), st.integers(0, 1))
def test_the_newest_results_are_never_cleared_unless_the_floor_is_reached(messages, spec, keep_recent):
    spec = dataclasses.replace(roomy(spec, messages), strategies=("clear",), keep_recent=keep_recent)
    prompt = fitting(spec.build(), messages)
    results = [m for m in messages if m.role == "tool"][-spec.keep_last :] if spec.keep_last else []
    if results and not prompt.plan.floor:
        assert [id(m) for m in prompt.messages if m.role == "tool"][-len(results) :] == [id(m) for m in results]


# 10. Inputs


@given(st.data(), conversations(max_turns=5), policy_specs(), tool_specs())
def test_what_is_given_is_never_changed(data, messages, spec, tools):
    dicts, tool_dicts = data.draw(as_dicts(messages)), tools_as_dicts(tools)
    for given_messages, given_tools in ((messages, tools), (dicts, tool_dicts)):
        before, ids = copy.deepcopy((given_messages, given_tools)), [id(message) for message in given_messages]
        fitter = PromptFitter(spec.build())
        try:
            fitter.fit_sync(given_messages, tools=given_tools)
            now(spec.build().prepare(given_messages, tools=given_tools))
        except ContextFloorError:
            pass
        assert (given_messages, given_tools) == before
        assert [id(message) for message in given_messages] == ids


# 11. Nothing to do


@given(st.data(), conversations(), policy_specs(), tool_specs(), st.sampled_from((list, tuple)))
def test_with_nothing_to_do_the_same_sequence_comes_back(data, messages, spec, tools, kind):
    given_messages = kind(data.draw(st.one_of(st.just(messages), as_dicts(messages))))
    policy = spec.build()
    trigger = int(spec.trigger * (spec.window - spec.reserve) + 1e-9)
    assume(size(policy, read(given_messages), tools) <= trigger)
    prompt = fitting(policy, given_messages, tools)
    assert prompt.messages is given_messages
    assert prompt.report is None
    assert (prompt.new_summaries, prompt.tokens_spent, prompt.cost) == ([], 0, 0.0)
    assert PromptFitter(policy).fit_sync(given_messages, tools=tools).messages is given_messages


# 12. One core


@given(conversations(max_turns=5), policy_specs(), tool_specs())
def test_fit_and_fit_sync_give_the_same(messages, spec, tools):
    outcomes = []
    for is_sync in (False, True):
        fitter = PromptFitter(spec.build())
        fit = (
            fitter.fit_sync
            if is_sync
            else lambda *args, fitter=fitter, **kwargs: asyncio.run(fitter.fit(*args, **kwargs))
        )
        for length in (len(messages) // 2, len(messages)):
            try:
                outcomes.append((is_sync, fit(messages[:length], tools=tools)))
            except ContextFloorError as error:
                outcomes.append((is_sync, str(error)))
        outcomes.append((is_sync, fitter.state))
    assert [o for is_sync, o in outcomes if is_sync] == [o for is_sync, o in outcomes if not is_sync]


# 13. Cost


class CountingCounter(HeuristicCounter):
    """Counts what it counts."""

    messages = 0
    characters = 0

    def count_message(self, message: Message) -> int:
        self.messages += 1
        self.characters += len(message.text)
        return super().count_message(message)


@given(st.data(), conversations(), conversations(max_turns=2), st.booleans())
def test_with_nothing_to_do_only_what_is_new_is_counted(data, old, new, is_dicts):
    counter = CountingCounter()
    policy = ContextPolicy(10_000_000, counter=counter)
    fitter = PromptFitter(policy)
    messages = [*old, *new]
    if is_dicts:
        messages = data.draw(as_dicts(messages))
    for fit in (fitter.fit_sync, lambda given_messages: now(policy.prepare(given_messages))):
        counter.messages = 0
        fit(messages[: len(old)])
        assert counter.messages <= len(old)
        counter.messages = 0
        fit(messages)
        assert counter.messages <= (len(new) if old else len(messages))


def test_conversations_with_the_same_instructions_do_not_make_each_other_counted_anew():
    counter = CountingCounter()
    policy = ContextPolicy(10_000_000, counter=counter)
    system = Message("system", "the same for all")
    lists = [[system, *(Message("user", f"{name} {n}") for n in range(50))] for name in "abc"]
    for messages in lists:
        now(policy.prepare(messages))
    counter.messages = 0
    for messages in lists:
        now(policy.prepare([*messages, Message("user", "more")]))
    assert counter.messages <= len(lists)


@given(conversations(), policy_specs(counters=("heuristic",)))
def test_a_compaction_counts_no_more_than_a_few_times_the_prompt(messages, spec):
    policy = spec.build()
    policy.counter = counter = CountingCounter()
    fitter = PromptFitter(policy)
    try:
        fitter.fit_sync(messages)
    except ContextFloorError:
        return
    assert counter.messages <= 5 * len(messages) + 40  # once to read it, four times for the rest


# Branches


@st.composite
def branches(draw: st.DrawFn, messages: list[Message]) -> list[Message]:
    """The conversation after an edit: messages changed, removed or put in, its end regenerated."""
    edited = list(messages)
    for _ in range(draw(st.integers(1, 3))):
        if not edited:
            break
        at = draw(st.integers(0, len(edited) - 1))
        old = edited[at]
        match draw(st.sampled_from(("change", "remove", "put", "cut", "regenerate", "task"))):
            case "change":
                edited[at] = Message(old.role, "edited", old.tool_calls, old.tool_call_id, old.name)
            case "remove":
                del edited[at]
            case "put":
                edited.insert(at, Message("user", "by the way"))
            case "cut":
                del edited[at:]
            case "task":
                head = head_length(edited)
                edited[head - 1 : head] = [Message("user", "another task")]
            case _:
                edited[-1] = Message("assistant", None, (ToolCall("again", "read"),))
    return edited


@given(st.data(), conversations(), policy_specs())
def test_an_edited_list_is_fitted_as_well_as_any_other(data, messages, spec):
    policy = spec.build()
    fitter = PromptFitter(policy)
    for current in (messages, data.draw(branches(messages)), data.draw(branches(messages)), messages):
        try:
            prompt = fitter.fit_sync(current)
        except ContextFloorError as error:
            check_floor_error(error, spec)
            continue
        check_fits(policy, spec, prompt.messages, ())
        check_order(current, prompt.messages)
        check_kept(current, prompt.messages)
        check_pairs(current, prompt.plan)


@given(st.data(), conversations(), policy_specs(), st.booleans())
def test_a_list_edited_after_it_was_summarised_is_fitted_as_well(data, messages, spec, sticky):
    spec = dataclasses.replace(roomy(spec, messages), strategies=("summarize", "drop"), script="good", sticky=sticky)
    fitter = PromptFitter(spec.build())
    for current in (messages, data.draw(branches(messages)), data.draw(branches(messages)), messages):
        try:
            prompt = fitter.fit_sync(current)
        except ContextFloorError as error:
            check_floor_error(error, spec)
            continue
        check_order(current, prompt.messages)
        check_kept(current, prompt.messages)
        check_pairs(current, prompt.plan)


@given(conversations(), policy_specs(), st.booleans())
def test_a_summary_is_paid_for_once(messages, spec, sticky):
    spec = dataclasses.replace(roomy(spec, messages), strategies=("summarize",), script="good", sticky=sticky)
    fitter = PromptFitter(spec.build())
    fitter.fit_sync(messages)
    paid = spec.summary_calls
    assert fitter.fit_sync(messages).tokens_spent == 0
    assert spec.summary_calls == paid


@given(st.data(), conversations(), policy_specs(strategies=("drop", "clear", "truncate")))
def test_the_marker_tells_how_many_messages_are_missing_also_in_an_edited_list(data, messages, spec):
    """Unless there was no room for it: then drops of what no user said have their edits alone, and stay so."""
    fitter, is_left_out = PromptFitter(spec.build()), False
    for current in (messages, data.draw(branches(messages)), data.draw(branches(messages))):
        try:
            prompt = fitter.fit_sync(current)
        except ContextFloorError:
            continue
        is_left_out |= "marker_left_out" in prompt.plan.floor
        drops = [edit for edit in prompt.plan.edits if edit.action == "drop"]
        told = sum(edit.marked for edit in drops)
        assert all(edit.marked or (is_left_out and current[edit.index].role != "user") for edit in drops)
        marked = [m.text for m in prompt.messages if m.kind == "marker"]
        assert marked == ([f"[{told} earlier message{'s' * (told > 1)} left out to save context]"] if told else [])


# Strategies of others


class Careless:
    """A strategy that deletes one message, whatever it is, and says nothing."""

    def __init__(self, at: int, name: str = "careless") -> None:
        self.at = at
        self.name = name

    async def apply(self, work: Any) -> None:
        if len(work.messages) > self.at:
            del work.messages[self.at]


@given(conversations(), st.integers(0, 12))
def test_a_careless_strategy_separates_no_call_from_its_result(messages, at):
    policy = ContextPolicy(500, reserve_output=0, strategies=[Careless(at), ClearToolResults(), DropOldest()])
    prompt = fitting(policy, messages)
    check_pairs(messages, prompt.plan)
    check_order(messages, prompt.messages)
    head = head_length(messages)
    assert prompt.messages[:head] == messages[:head]


class Rewriting:
    """A strategy that cuts every old result to nothing much."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def apply(self, work: Any) -> None:
        work.messages = [
            Message("tool", "…", (), m.tool_call_id, m.name) if m.role == "tool" and i < work.tail else m
            for i, m in enumerate(work.messages)
        ]


@pytest.mark.parametrize("name", ["rewriting", ""])
def test_what_a_strategy_wrote_is_sent_whatever_its_name(name):
    call = ToolCall("1", "read")
    messages = [
        Message("user", "task"),
        Message("assistant", None, (call,)),
        Message("tool", "x" * 5000, (), "1"),
        *[Message("user", "more")] * 3,
    ]
    prompt = now(ContextPolicy(1000, reserve_output=0, strategies=[Rewriting(name)]).prepare(messages))
    assert prompt.messages[2].text == "…"


class Capturing:
    """The last strategy: it changes nothing and keeps what the ones before it left."""

    name = "capturing"

    def __init__(self) -> None:
        self.left: list[Message] | None = None

    async def apply(self, work: Any) -> None:
        self.left = list(work.messages)


def uncounted(messages: Sequence[Message]) -> list[str]:
    """The messages, but for the numbers in markers: the plan's tell also of what others' strategies left out."""
    return [re.sub(r"\[\d+ earlier messages? ", "[n earlier ", line) for line in lines(messages)]


def check_sent_as_left(policy: ContextPolicy, prompt: Any, capturing: Capturing) -> None:
    """The edits of a plan give the very prompt that the strategies left, and what it was counted as."""
    if capturing.left is not None and not prompt.plan.floor:
        assert uncounted(prompt.messages) == uncounted(capturing.left)
    if not isinstance(policy.counter, CalibratedCounter):
        assert prompt.plan.tokens_after == size(policy, prompt.messages)


@given(conversations(max_turns=6, late=True), policy_specs())
def test_what_is_sent_is_what_the_strategies_left(messages, spec):
    policy, capturing = dataclasses.replace(spec, target=1e-9).build(), Capturing()
    policy.strategies = (*policy.strategies, capturing)
    fitter = PromptFitter(policy)
    for _, prompt in fit_each(fitter, messages, ()):
        if prompt is not None:
            check_sent_as_left(policy, prompt, capturing)
        capturing.left = None


class Meddling:
    """A strategy of someone who does as he likes with what comes after the head."""

    def __init__(self, move: str, at: int, name: str = "meddling", *, is_curious: bool = False) -> None:
        self.move = move
        self.at = at
        self.name = name
        self.is_curious = is_curious  # asks for the size when it is done, as a loop would

    def __repr__(self) -> str:
        return f"Meddling({self.move!r}, {self.at}, is_curious={self.is_curious})"

    async def apply(self, work: Any) -> None:
        at = work.head + self.at
        if at < len(work.messages):
            getattr(self, f"_{self.move}")(work, work.messages[at], at)
        if self.is_curious:
            assert work.tokens >= 0

    def _delete(self, work: Any, _old: Message, at: int) -> None:
        del work.messages[at]

    def _insert(self, work: Any, _old: Message, at: int) -> None:
        work.messages.insert(at, Message("assistant", f"note {at}"))

    def _insert_several(self, work: Any, _old: Message, at: int) -> None:
        work.messages[at:at] = [Message("system", "rule"), Message("user", "note"), Message("user", "note")]

    def _remind(self, work: Any, _old: Message, _at: int) -> None:
        work.messages.append(Message("user", "remember"))

    def _replace(self, work: Any, old: Message, at: int) -> None:
        work.messages[at] = Message(old.role, "short", old.tool_calls, old.tool_call_id, old.name, old.pinned, old.kind)

    def _translate(self, work: Any, _old: Message, at: int) -> None:
        work.messages = tuple(Message("user", m.text) if i == at else m for i, m in enumerate(work.messages))

    def _double(self, work: Any, old: Message, at: int) -> None:
        work.messages.insert(at, old)

    def _swap(self, work: Any, old: Message, at: int) -> None:
        work.messages[at], work.messages[-1] = work.messages[-1], old

    def _reverse(self, work: Any, _old: Message, at: int) -> None:
        work.messages = [*work.messages[:at], *work.messages[: at - 1 : -1]]

    def _keep_the_end(self, work: Any, _old: Message, at: int) -> None:
        work.messages = [*work.messages[: work.head], *work.messages[at:]]

    def _summarize(self, work: Any, _old: Message, at: int) -> None:
        note = Message("user", "what was", kind="summary")
        work.messages = [*work.messages[: work.head], note, *work.messages[at:]]

    def _mark(self, work: Any, _old: Message, at: int) -> None:
        note = Message("user", "(cut)", kind="marker")
        work.messages = [*work.messages[: work.head], note, *work.messages[at:]]


MOVES = tuple(name[1:] for name in vars(Meddling) if name[0] == "_" and name[1] != "_")
meddlers = st.builds(Meddling, st.sampled_from(MOVES), st.integers(0, 6), is_curious=st.booleans())


@given(
    conversations(max_turns=5, max_chars=400),
    st.lists(st.one_of(meddlers, st.sampled_from(("summarize", "drop", "clear"))), min_size=1, max_size=4),
    st.booleans(),
)
def test_what_is_sent_is_what_the_strategies_of_others_left(messages, chosen, sticky):
    spec = roomy(
        PolicySpec(sticky=sticky, keep_recent=1, strategies=tuple(x for x in chosen if isinstance(x, str))), messages
    )
    policy, capturing = dataclasses.replace(spec, window=2 * spec.window, target=1e-9).build(), Capturing()
    own = iter(policy.strategies)
    policy.strategies = (*(next(own) if isinstance(x, str) else x for x in chosen), capturing)
    fitter = PromptFitter(policy)
    for length in (len(messages) // 2, len(messages)):
        try:
            prompt = fitter.fit_sync(messages[:length])
        except ContextFloorError:
            continue
        check_sent_as_left(policy, prompt, capturing)
        check_pairs(messages[:length], prompt.plan)
        check_pinned_are_there(messages[:length], prompt.messages)
        capturing.left = None


def check_pinned_are_there(messages: Sequence[Message], prompt: Sequence[Message]) -> None:
    """Head first; pinned ones all there, where no strategy is bound to their order."""
    head = head_length(messages)
    assert lines(prompt[:head]) == lines(messages[:head])
    there = set(lines(prompt))
    assert all(line in there for m, line in zip(messages, lines(messages), strict=True) if m.pinned or m.is_system)


# Anything may change between two calls


@given(st.data(), conversations(max_turns=6, max_chars=2000), policy_specs(counters=("heuristic", "fine", "joined")))
def test_whatever_changes_between_two_calls_the_next_prompt_is_sound(data, messages, spec):
    window = {"tokens": spec.window}
    policy = spec.build()
    policy.max_input_tokens = lambda model: window["tokens"]
    fitter = PromptFitter(policy)
    for _ in range(data.draw(st.integers(2, 5))):
        change = data.draw(st.sampled_from(("grow", "branch", "pin", "unpin", "window", "save", "twin")))
        length = data.draw(st.integers(0, len(messages)))
        match change:
            case "branch":
                messages = data.draw(branches(messages))
            case "pin" | "unpin" if messages:
                at = data.draw(st.integers(0, len(messages) - 1))
                messages = [replace(m, pinned=change == "pin") if i == at else m for i, m in enumerate(messages)]
            case "window":
                window["tokens"] = data.draw(st.integers(200, 4000))
            case "save":
                policy.sticky = data.draw(st.booleans())
                fitter = PromptFitter(policy, FitterState.from_json(fitter.state.to_json()))
            case "twin":
                messages = [replace(message) for message in messages]
            case _:
                length = len(messages)
        tools, model = data.draw(tool_specs()), data.draw(st.sampled_from((None, "m")))
        pressure, current = data.draw(st.sampled_from((1.0, 1.0, 0.9, 0.4))), messages[:length]
        before = fitter.state
        try:
            prompt = fitter.fit_sync(current, tools=tools, model=model, pressure=pressure)
        except ContextFloorError as error:
            assert fitter.state == before
            check_sum(error)
            continue
        raw = size(policy, prompt.messages, tools)
        assert prompt.plan.raw_tokens == raw <= window["tokens"] - spec.reserve
        check_order(current, prompt.messages)
        check_kept(current, prompt.messages)
        check_pairs(current, prompt.plan)
        if data.draw(st.booleans()):
            fitter.record(raw)


# Found by the properties above or by reading; the smallest input of each


def called(call_id: str, *, pinned: bool = False) -> Message:
    return Message("assistant", None, (ToolCall(call_id, "read"),), pinned=pinned)


def said(text: str) -> Message:
    return Message("user", text)


def summarising(text: str = "S") -> Summarize:
    return Summarize(summarize=lambda _text, _previous: text, keep_tokens_ratio=0)


def policy_of(window: int, *strategies: Any, **options: Any) -> ContextPolicy:
    return ContextPolicy(window, reserve_output=0, strategies=strategies, **{"target": 0.5, "keep_recent": 1} | options)


def test_clearing_spares_the_newest_results_also_when_there_are_fewer_of_them():
    turns = [m for n in "123" for m in (called(n), Message("tool", "x" * 900, (), n))]
    prompt = now(
        policy_of(1000, ClearToolResults(keep_last=4), keep_recent=0, trigger=0.6).prepare([said("t"), *turns])
    )
    assert prompt.plan.edits == ()


def test_a_result_that_comes_after_its_call_was_summarised_is_not_sent_alone():
    policy, book = policy_of(120, summarising(), keep_recent=0), SummaryBook()
    messages = [said("t"), called("1"), said("x" * 400), Message("tool", "late", (), "1")]
    now(policy.prepare(messages[:-1], book=book))
    check_pairs(messages, now(policy.prepare(messages, book=book)).plan)


def test_a_summary_that_the_floor_drops_is_gone_and_stays_gone():
    policy = policy_of(110, summarising("S" * 250), sticky=True)
    fitter = PromptFitter(policy)
    messages = [said("t"), said("a" * 300), said("b" * 300), said("c" * 250)]
    first = fitter.fit_sync(messages)
    second = fitter.fit_sync([*messages, Message("assistant", "ok")])
    assert "summary_dropped" in first.plan.floor
    assert lines(second.messages)[: len(first.messages)] == lines(first.messages)


def test_what_was_cleared_in_a_pinned_group_stays_cleared_when_a_summary_spans_it():
    policy = policy_of(200, ClearToolResults(0), summarising(), trigger=0.9, sticky=True)
    fitter = PromptFitter(policy)
    messages = [
        said("t"),
        called("1", pinned=True),
        Message("tool", "r" * 160, (), "1"),
        said("a" * 300),
        said("b" * 100),
    ]
    first = fitter.fit_sync(messages)
    second = fitter.fit_sync([*messages, Message("assistant", "ok")])
    assert second.plan.applied == ()
    assert lines(second.messages)[: len(first.messages)] == lines(first.messages)


def test_a_marker_survives_a_change_of_the_message_before_it():
    fitter = PromptFitter(policy_of(200, DropOldest(), sticky=True))
    messages = [said("task"), *(said(str(n) + "a" * 100) for n in range(8))]
    before = fitter.fit_sync(messages)
    after = fitter.fit_sync([said("edited"), *messages[1:]])
    assert before.messages[1].kind == "marker"
    assert after.messages[1:] == before.messages[1:]


def test_a_marker_counts_only_what_is_still_there_to_be_missing():
    fitter = PromptFitter(policy_of(200, DropOldest(), sticky=True))
    messages = [said("task"), *(said(str(n) + "a" * 100) for n in range(8))]
    assert fitter.fit_sync(messages).messages[1].text.startswith("[6 ")
    assert fitter.fit_sync([*messages[:2], *messages[4:]]).messages[1].text.startswith("[4 ")


def test_a_users_own_words_that_read_like_a_marker_are_left_alone():
    task = said("[3 earlier messages left out to save context]")
    messages = [Message("system", "s"), task, *(Message("assistant", str(n) + "a" * 100) for n in range(8))]
    prompt = now(policy_of(200, DropOldest()).prepare(messages))
    assert prompt.messages[1] is task


def test_what_is_sent_is_what_was_counted_when_a_late_result_makes_a_group_around_a_pinned_message():
    fitter = PromptFitter(policy_of(200, summarising(), keep_recent=0, trigger=0.1, target=0.1, sticky=True))
    late = Message("tool", "x" * 900, (), "1")
    messages = [said("t"), called("1"), said("a" * 60), Message("system", "rule"), late]
    for length in range(1, len(messages) + 1):
        prompt = fitter.fit_sync(messages[:length])
        assert HeuristicCounter().count(prompt.messages) == prompt.plan.tokens_after <= 200


@pytest.mark.parametrize("strategy", [summarising(), DropOldest()])
def test_a_task_said_again_by_the_same_object_stays_at_the_head(strategy):
    again = said("continue")
    messages = [again, said("y" * 100), again, said("z" * 100)]
    prompt = now(policy_of(200, strategy, keep_recent=0, trigger=0.1, target=0.05).prepare(messages))
    assert prompt.messages[0] is again
    assert all(edit.index != 0 or edit.action == "insert" for edit in prompt.plan.edits)


def test_a_report_may_come_after_the_state_was_saved_and_reloaded():
    kept = PromptFitter(ContextPolicy(1000, reserve_output=0))
    kept.fit_sync([said("hi" * 50)])
    reloaded = PromptFitter(kept.policy, FitterState.from_json(kept.state.to_json()))
    for fitter in (kept, reloaded):
        fitter.record(40)
    assert reloaded.state == kept.state


class DearCounter:
    """Not additive: each request costs 50, however many messages it has."""

    def count(self, messages: Sequence[Message], tools: Sequence[Any] = ()) -> int:
        return 50 + sum(len(message.text) for message in messages) // 4


def test_a_head_that_fits_by_a_counter_that_is_not_additive_is_not_refused():
    messages = [*[Message("system", "a")] * 4, said("x")]
    assert now(policy_of(200, counter=DearCounter()).prepare(messages)).messages is messages


@dataclasses.dataclass
class UnhashableCounter:
    """As a dataclass is, by default."""

    def count(self, messages: Sequence[Message], tools: Sequence[Any] = ()) -> int:
        return self.count_tools(tools) + sum(map(self.count_message, messages))

    def count_message(self, message: Message) -> int:
        return len(message.text)

    def count_tools(self, tools: Sequence[Any]) -> int:
        return len(tools)


def test_a_counter_need_not_be_hashable():
    messages = [said("x")]
    prompt = now(policy_of(200, counter=UnhashableCounter()).prepare(messages, tools=[{"name": "read"}]))
    assert prompt.messages is messages


class Halving:
    """Deletes one of two results."""

    name = "halving"

    async def apply(self, work: Any) -> None:
        work.messages = [message for message in work.messages if message.tool_call_id != "1"]


def test_a_result_may_not_be_taken_from_a_call_whose_sibling_is_unanswered_anyway():
    calls = Message("assistant", None, (ToolCall("1", "read"), ToolCall("2", "read")))
    messages = [said("t"), calls, Message("tool", "x" * 900, (), "1")]
    check_pairs(messages, now(policy_of(300, Halving(), keep_recent=0).prepare(messages)).plan)


def test_a_replacement_carries_no_cache_control_that_the_caller_has_since_taken_off():
    def conversation(**mark: Any) -> list[dict[str, Any]]:
        call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        result = {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "x" * 3000, **mark}]}
        task, more = ({"role": "user", "content": text} for text in ("t", "go"))
        return [task, {"role": "assistant", "tool_calls": [call]}, result, more]

    fitter = PromptFitter(policy_of(300, TruncateToolResults(400), sticky=True))
    fitter.fit_sync(conversation(cache_control={"type": "ephemeral"}))
    assert "cache_control" not in json.dumps(fitter.fit_sync(conversation()).messages)


@pytest.mark.parametrize("text", ["\ud800", "\ud83d" + "\ude00", "\U0001f600", "\x00"])
def test_the_state_of_a_conversation_with_odd_text_survives_being_saved(text):
    fitter = PromptFitter(policy_of(150, summarising(text + "S"), sticky=True))
    fitter.fit_sync([said("t"), said("a" * 400), said("b" * 100)])
    saved = fitter.state.to_json()
    assert saved.isascii()
    assert FitterState.from_json(saved) == fitter.state


class Doing:
    """A strategy that is one function."""

    def __init__(self, change: Callable[[Any], object], name: str = "mine") -> None:
        self.change = change
        self.name = name

    async def apply(self, work: Any) -> None:
        self.change(work)


def talk(count: int = 8, chars: int = 100) -> list[Message]:
    """A task and some messages, told apart by their first letter."""
    return [said("t"), *(said("abcdefghijkl"[n] + "." * chars) for n in range(count))]


def test_a_strategy_that_looks_at_the_size_as_it_goes_is_taken_at_its_word():
    def shorten(work: Any) -> None:
        while not work.fits:
            del work.messages[work.head]

    prompt = now(policy_of(200, Doing(shorten)).prepare(talk()))
    assert prompt.plan.applied == ("mine",)
    assert HeuristicCounter().count(prompt.messages) == prompt.plan.tokens_after <= 100


def test_a_strategy_that_looks_at_the_size_is_undone_like_any_other():
    def lose(work: Any) -> None:
        work.messages = [message for message in work.messages if message.role != "tool"]
        assert work.tokens

    messages = [said("t"), called("1"), Message("tool", "x" * 300, (), "1"), said("x")]
    prompt = now(policy_of(200, Doing(lose), trigger=0.5).prepare(messages))
    assert list(prompt.messages) == messages
    assert prompt.plan.rejected == ("mine: undone, it changed head, pins, pairs, summary or order",)


class Wrapping:
    """A strategy that leaves the work to one of ours."""

    name = "wrapping"

    async def apply(self, work: Any) -> None:
        await DropOldest().apply(work)


class Renamed(DropOldest):
    name = "renamed"


@pytest.mark.parametrize("strategy", [Wrapping(), Renamed()])
def test_what_is_dropped_through_ours_by_another_name_is_told_of(strategy):
    prompt = now(policy_of(200, strategy).prepare(talk()))
    assert [m.text for m in prompt.messages if m.kind == "marker"] == ["[6 earlier messages left out to save context]"]


@pytest.mark.parametrize("kind", ["summary", "marker", None])
def test_what_a_strategy_writes_in_the_place_of_what_it_removes_is_sent_whatever_its_kind(kind):
    def replace_old(work: Any) -> None:
        work.messages = [*work.messages[: work.head], Message("user", "so far", kind=kind), *work.messages[work.tail :]]

    prompt = now(policy_of(200, Doing(replace_old)).prepare(talk()))
    assert [message.text[:6] for message in prompt.messages] == ["t", "so far", "h....."]


@pytest.mark.parametrize("at", [1, 2])
def test_what_a_strategy_puts_beside_a_marker_or_a_summary_stays_on_its_side(at):
    insert = Doing(lambda work: work.messages.insert(at, Message("assistant", "note")))
    for first in (DropOldest(), summarising()):
        capturing = Capturing()
        policy = policy_of(500, first, insert, capturing, trigger=0.1, target=1e-9)
        prompt = now(policy.prepare(talk(4)))
        assert lines(prompt.messages) == lines(capturing.left or ())


def test_a_summary_that_another_strategy_rewrites_is_put_back():
    def improve(work: Any) -> None:
        work.messages = [replace(m, content="better") if m.kind == "summary" else m for m in work.messages]

    fitter = PromptFitter(policy_of(200, summarising(), Doing(improve), trigger=0.9, target=1e-9, sticky=True))
    first = fitter.fit_sync(talk())
    second = fitter.fit_sync([*talk(), said("more")])
    assert first.plan.rejected
    assert "better" not in first.messages[1].text
    assert lines(second.messages)[: len(first.messages)] == lines(first.messages)


@pytest.mark.parametrize("reported", [1, 10**9])
@pytest.mark.parametrize("counter", [HeuristicCounter(), CalibratedCounter()])
def test_one_absurd_report_neither_ends_a_conversation_nor_lets_it_grow_without_end(reported, counter):
    fitter = PromptFitter(policy_of(1000, DropOldest(), counter=counter))
    messages = talk(4)
    fitter.fit_sync(messages)
    fitter.record(reported)
    for _ in range(40):
        messages = [*messages, said("x" * 300)]
        prompt = fitter.fit_sync(messages)
        assert HeuristicCounter().count(prompt.messages) <= 1000 / 0.4  # the lowest ratio that is believed


@pytest.mark.parametrize("sticky", [False, True])
def test_a_message_that_is_pinned_after_it_was_summarised_is_sent_again(sticky):
    fitter = PromptFitter(policy_of(400, summarising(), trigger=0.5, target=0.2, sticky=sticky))
    fitter.fit_sync(talk())
    messages = talk()
    messages[2] = replace(messages[2], pinned=True)
    check_kept(messages, fitter.fit_sync(messages).messages)


def test_a_result_that_is_pinned_after_it_was_dropped_is_sent_again_with_its_call():
    fitter = PromptFitter(policy_of(300, DropOldest(), trigger=0.5, target=0.3, sticky=True))
    messages = [said("t"), called("1"), Message("tool", "x" * 100, (), "1"), *talk()[1:]]
    fitter.fit_sync(messages)
    messages[2] = replace(messages[2], pinned=True)
    prompt = fitter.fit_sync(messages)
    check_kept(messages, prompt.messages)
    check_pairs(messages, prompt.plan)


@pytest.mark.parametrize("strategy", [summarising(), DropOldest()])
def test_a_pinned_result_stays_also_when_it_comes_after_its_call_was_removed(strategy):
    fitter = PromptFitter(policy_of(200, strategy, keep_recent=0, trigger=0.1, target=0.1, sticky=True))
    messages = [said("t"), called("1"), said("a" * 300), Message("tool", "late", (), "1", pinned=True)]
    fitter.fit_sync(messages[:3])
    prompt = fitter.fit_sync(messages)
    check_kept(messages, prompt.messages)
    check_pairs(messages, prompt.plan)


def test_no_message_has_two_edits_when_equal_ones_have_moved():
    fitter = PromptFitter(policy_of(60, DropOldest(), sticky=True))
    again = said("c" * 60)
    fitter.fit_sync([said("t"), again, said("y"), again, said("z"), again, said("e")])
    prompt = fitter.fit_sync([said("t"), again, said("y"), said("new"), said("z"), again, said("e")])
    indices = [edit.index for edit in prompt.plan.edits]
    assert len(indices) == len(set(indices))


@pytest.mark.parametrize("ratio", ["NaN", "Infinity", "-1", "0"])
def test_a_saved_state_with_a_ratio_that_is_none_is_refused(ratio):
    with pytest.raises(StateError):
        FitterState.from_json(f'{{"ratios":[[null,{ratio}]]}}')


def test_a_reminder_that_is_put_at_the_end_at_each_compaction_is_there_each_time():
    remind = Doing(lambda work: work.messages.append(Message("user", "remember")))
    fitter = PromptFitter(policy_of(400, remind, DropOldest(), sticky=True))
    messages = talk(0)
    for n in range(40):
        messages = [*messages, said(f"{n}" + "." * 100)]
        prompt = fitter.fit_sync(messages)
        assert HeuristicCounter().count(prompt.messages) == prompt.plan.tokens_after <= 400
    assert 1 <= sum(message.text == "remember" for message in prompt.messages) <= 2


def test_markers_in_the_callers_own_messages_are_counted_in():
    def dropped(total: int) -> Message:
        return said(f"[{total} earlier messages left out to save context]")

    messages, capturing = [said("t"), dropped(7), *talk(4)[1:], dropped(20), *talk(4)[1:]], Capturing()
    prompt = now(policy_of(200, DropOldest(), capturing, target=1e-9).prepare(messages))
    assert prompt.messages[1].text == f"[{7 + 20 + 7} earlier messages left out to save context]"
    assert lines(prompt.messages) == lines(capturing.left or ())


def test_a_book_keeps_its_summaries_and_the_next_call_pays_for_none():
    calls: list[str | None] = []

    def summarize(_text: str, previous: str | None) -> str:
        calls.append(previous)
        return f"part {len(calls)}"

    policy = policy_of(200, Summarize(summarize=summarize, keep_tokens_ratio=0))
    for book in (SummaryBook(), PromptFitter(policy)):
        calls.clear()
        for messages in (talk(), talk(), [*talk(), *talk(6)]):
            if isinstance(book, PromptFitter):
                prompt = book.fit_sync(messages)
            else:
                prompt = now(policy.prepare(messages, book=book))
            assert prompt.messages[1].text.startswith("<record")
        assert calls == [None, "part 1"]


def test_the_floor_cuts_results_before_it_drops_what_a_user_said():
    messages = [said("t"), said("a rule " * 50), called("1"), Message("tool", "x" * 9000, (), "1")]
    prompt = now(policy_of(400).prepare(messages))
    assert prompt.plan.floor == ("cut_results",)
    assert prompt.messages[1] is messages[1]


def held_by_a_pinned_result() -> list[Message]:
    """A long call that stays because its result is pinned, a user's word, and a newest result that is too long."""
    long_call = Message("assistant", None, (ToolCall("1", "read", '{"path":"' + "x" * 400 + '"}'),))
    pinned = Message("tool", "ok", (), "1", pinned=True)
    return [said("t"), long_call, pinned, said("a" * 300), called("2"), Message("tool", "x" * 900, (), "2")]


def test_the_floor_cuts_results_when_dropping_was_not_enough_after_all():
    prompt = now(policy_of(350).prepare(held_by_a_pinned_result()))
    assert prompt.plan.floor[-1] == "cut_results"
    assert HeuristicCounter().count(prompt.messages) <= 350


def test_no_users_word_is_dropped_where_dropping_can_not_be_enough():
    messages = held_by_a_pinned_result()
    assert messages[3] in now(policy_of(350).prepare(messages)).messages


@pytest.mark.parametrize("strategy", [DropOldest(), ClearToolResults(), TruncateToolResults(100), summarising()])
def test_what_a_compaction_counts_grows_with_the_conversation_and_no_faster(strategy):
    counted: list[int] = []
    for calls in (250, 500, 1000):
        counter = CountingCounter()
        fitter = PromptFitter(policy_of(calls * 60, strategy, counter=counter, sticky=True))
        turns = ((called(str(n)), Message("tool", "x" * 400, (), str(n))) for n in range(calls))
        messages = [said("t"), *(message for turn in turns for message in turn)]
        fitter.fit_sync(messages)
        counted.append(counter.messages)
        counter.messages = 0
        fitter.fit_sync([*messages, said("more")])
        assert counter.messages <= 10
    assert counted[2] <= 2.2 * counted[1] <= 2.2 * 2.2 * counted[0]
