"""The reference, name by name: every parameter, default and documented behaviour, one assertion each."""

import asyncio
import dataclasses
import inspect
import json

import pytest

from aaa import context
from aaa.context import (
    CalibratedCounter,
    ClearToolResults,
    ContextPolicy,
    DropOldest,
    HeuristicCounter,
    Prepared,
    Strategy,
    Summarize,
    SummaryBook,
    SummaryRecord,
    TiktokenCounter,
    TokenCounter,
    Transcript,
    TruncateToolResults,
    groups,
)
from aaa.errors import ContextFloorError
from aaa.messages import Message, ToolCall
from tests.context.guide import LOOKUP, ScriptedSummarizer, conversation


def parameters(function):
    """Name → (default, is keyword-only), without self."""
    signature = inspect.signature(function)
    empty, keyword_only = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
    return {
        name: (... if p.default is empty else p.default, p.kind is keyword_only)
        for name, p in signature.parameters.items()
        if name != "self"
    }


def run(awaitable):
    return asyncio.run(awaitable)


def sizes(messages):
    return HeuristicCounter().count(messages, [LOOKUP])


def only(strategy, window=4_000, **settings):
    return ContextPolicy(window, reserve_output=0, strategies=[strategy], **settings)


# --- signatures


def test_context_policy_has_the_specified_parameters():
    assert parameters(ContextPolicy) == {
        "max_input_tokens": (..., False),
        "reserve_output": (4096, True),
        "trigger": (0.85, True),
        "target": (0.6, True),
        "keep_recent": (3, True),
        "strategies": (None, True),
        "counter": (None, True),
        "summarizer": (None, True),
        "summarizer_model": (None, True),
        "sticky": (False, True),
        "provider": (None, True),
        "pin": (None, True),
    }


def test_observe_has_the_specified_parameters():
    assert parameters(ContextPolicy.observe) == dict.fromkeys(
        ("model", "sent", "tools", "actual_prompt_tokens"), (..., False)
    )


def test_prepare_is_async_with_the_specified_parameters():
    assert inspect.iscoroutinefunction(ContextPolicy.prepare)
    assert parameters(ContextPolicy.prepare) == {
        "transcript": (..., False),
        "tools": ((), True),
        "model": (None, True),
        "book": (None, True),
        "pressure": (1.0, True),
    }


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (TruncateToolResults, {"max_chars": (8000, False), "head": (0.7, False)}),
        (
            ClearToolResults,
            {"keep_last": (4, False), "placeholder": ("[tool result removed to save context]", False)},
        ),
        (
            Summarize,
            {
                "client": (None, False),
                "model": (None, False),
                "keep_tokens_ratio": (0.4, True),
                "chunk_tokens": (24000, True),
                "max_summary_tokens": (1200, True),
                "summarize": (None, True),
            },
        ),
        (DropOldest, {}),
        (
            HeuristicCounter,
            {"chars_per_token": (3.5, False), "per_message": (4, False), "per_tool_call": (8, False)},
        ),
        (CalibratedCounter, {"base": (None, False), "smoothing": (0.3, True), "bounds": ((0.4, 3.0), True)}),
        (TiktokenCounter, {"encoding": ("o200k_base", False), "per_message": (4, False)}),
    ],
)
def test_strategies_and_counters_have_the_specified_parameters(strategy, expected):
    has_own = strategy.__init__ is not object.__init__
    assert (parameters(strategy) if has_own else {}) == expected


def test_calibrated_observe_has_the_specified_parameters():
    assert list(parameters(CalibratedCounter.observe)) == ["model", "estimated", "actual"]


def test_groups_has_the_specified_parameters():
    assert parameters(groups) == {"msgs": (..., False), "start": (0, False)}


def test_the_records_have_the_specified_fields_first():
    assert [f.name for f in dataclasses.fields(SummaryRecord)][:3] == ["upto", "prefix_hash", "text"]
    assert SummaryBook().records == []
    fields = {f.name for f in dataclasses.fields(Prepared)}
    assert {"messages", "report", "new_summaries", "tokens_spent", "cost"} <= fields
    assert Prepared([]) == Prepared([], None, [], 0, 0.0)


def test_the_protocols_are_protocols():
    assert isinstance(HeuristicCounter(), TokenCounter)
    assert Strategy.__mro__[1].__name__ == "Protocol"


def test_every_name_of_the_reference_is_exported():
    names = "ContextPolicy TruncateToolResults ClearToolResults Summarize DropOldest Strategy HeuristicCounter "
    names += "CalibratedCounter TiktokenCounter TokenCounter SummaryBook SummaryRecord Prepared groups"
    assert set(names.split()) <= set(context.__all__)


# --- the policy


def test_the_window_may_be_a_function_of_the_model():
    policy = ContextPolicy(lambda model: 10_000 if model == "big" else 4_000, reserve_output=0)
    assert policy.settings("big").window_tokens == 10_000
    assert policy.settings(None).window_tokens == 4_000


def test_the_reserve_is_kept_free():
    policy = ContextPolicy(6_000, reserve_output=2_000)
    messages = run(policy.prepare(conversation(25), tools=[LOOKUP])).messages
    assert sizes(messages) <= 0.6 * (6_000 - 2_000)


def test_the_default_strategies_are_cheap_first_and_summarize_only_with_a_summarizer():
    assert [s.name for s in ContextPolicy(9_000).strategies] == [
        "truncate_tool_results",
        "clear_tool_results",
        "drop_oldest",
    ]
    with_summarizer = ContextPolicy(9_000, summarizer=ScriptedSummarizer())
    assert [s.name for s in with_summarizer.strategies][2] == "summarize"


def test_below_the_trigger_nothing_is_done_and_the_own_sequence_comes_back():
    messages = conversation(6)
    prepared = run(ContextPolicy(4_000, reserve_output=0).prepare(messages, tools=[LOOKUP]))
    assert prepared.messages is messages
    assert prepared.report is None


def test_above_the_trigger_it_goes_below_the_target():
    prepared = run(ContextPolicy(4_000, reserve_output=0).prepare(conversation(7), tools=[LOOKUP]))
    assert prepared.report == {"tokens_before": 3876, "tokens_after": 2349, "applied": ["clear_tool_results(3)"]}


def test_strategies_stop_as_soon_as_the_target_is_reached():
    policy = ContextPolicy(4_000, reserve_output=0)
    prepared = run(policy.prepare(conversation(7), tools=[LOOKUP]))
    assert not any("drop_oldest" in name for name in prepared.report["applied"])


def test_the_head_is_untouched():
    head = [Message("system", "rules"), Message("user", "research everything")]
    prepared = run(only(DropOldest()).prepare([*head, *conversation(9)[1:]], tools=[LOOKUP]))
    assert prepared.messages[:2] == head


def test_the_recent_groups_stay_verbatim():
    messages = conversation(9)
    prepared = run(only(DropOldest(), keep_recent=2).prepare(messages, tools=[LOOKUP]))
    assert prepared.messages[-4:] == messages[-4:]


def test_pressure_cuts_deeper_than_the_request_that_overflowed():
    policy = ContextPolicy(8_000, reserve_output=0)
    messages = conversation(9)
    sent = run(policy.prepare(messages, tools=[LOOKUP])).messages
    assert sent is messages
    retry = run(policy.prepare(messages, tools=[LOOKUP], pressure=0.5)).messages
    assert sizes(retry) <= 0.5 * min(sizes(sent), 0.6 * 8_000)


def test_observe_calibrates_by_model():
    policy = ContextPolicy(4_000, reserve_output=0)
    messages = conversation(4)
    policy.observe("m", messages, [LOOKUP], 2 * sizes(messages))
    assert run(policy.prepare(messages, tools=[LOOKUP])).report is None
    assert run(policy.prepare(messages, tools=[LOOKUP], model="m")).report is not None


def test_a_stored_summary_is_used_again_without_a_call():
    summarizer = ScriptedSummarizer()
    policy = ContextPolicy(4_000, reserve_output=0, summarizer=summarizer)
    book = SummaryBook()
    run(policy.prepare(conversation(9), tools=[LOOKUP], book=book))
    again = run(policy.prepare(conversation(10), tools=[LOOKUP], book=book))
    assert len(summarizer.requests) == 1
    assert again.report["applied"] == ["stored_summary"]


# --- strategies


def test_truncate_keeps_start_and_end_of_a_result_that_is_too_long():
    call, result = conversation(1)[1:]
    long = Message("tool", "A" * 9_000 + "Z" * 9_000, tool_call_id=result.tool_call_id)
    messages = [Message("user", "go"), call, long, *conversation(3)[1:]]
    prepared = run(only(TruncateToolResults(), window=6_000).prepare(messages, tools=[LOOKUP]))
    cut = prepared.messages[2].content
    assert 7_900 < len(cut) <= 8_000
    assert cut.count("A") == pytest.approx(0.7 * 8_000, rel=0.02)
    assert cut.count("Z") == pytest.approx(0.3 * 8_000, rel=0.03)


def test_clear_leaves_the_calls_and_the_newest_results():
    messages = conversation(9)
    prepared = run(only(ClearToolResults(keep_last=5), keep_recent=1).prepare(messages, tools=[LOOKUP]))
    contents = [m.content for m in prepared.messages if m.role == "tool"]
    assert contents == ["[tool result removed to save context]"] * 4 + [m.content for m in messages[10::2]]
    assert [m for m in prepared.messages if m.role == "assistant"] == messages[1::2]


def test_clear_writes_the_placeholder_it_is_given():
    strategy = ClearToolResults(keep_last=1, placeholder="(gone)")
    prepared = run(only(strategy).prepare(conversation(8), tools=[LOOKUP]))
    assert prepared.messages[2].content == "(gone)"


def test_summarize_stands_between_head_and_recent_tail():
    messages = conversation(8)
    prepared = run(only(Summarize(ScriptedSummarizer("Eight topics."))).prepare(messages, tools=[LOOKUP]))
    head, summary, *tail = prepared.messages
    assert (head, tail) == (messages[0], messages[-6:])
    assert "Eight topics." in summary.content


def test_summarize_folds_the_earlier_summary_in_and_reads_originals():
    seen = []

    async def summarize(text, previous):
        seen.append((text, previous))
        return f"summary {len(seen)}"

    policy = ContextPolicy(4_000, reserve_output=0, strategies=[ClearToolResults(), Summarize(summarize=summarize)])
    book = SummaryBook()
    for turns in range(1, 16):
        run(policy.prepare(conversation(turns), tools=[LOOKUP], book=book))
    assert [previous for _, previous in seen] == [None, "summary 1"]
    assert "Notes on topic 1: lorem ipsum" in seen[0][0]
    assert "removed to save context" not in seen[0][0]


def test_summarize_reads_in_chunks():
    seen = []

    async def summarize(text, previous):
        seen.append(previous)
        return "so far"

    policy = only(Summarize(chunk_tokens=1_200, summarize=summarize))
    run(policy.prepare(conversation(9), tools=[LOOKUP]))
    assert seen == [None, "so far", "so far"]


def test_summarize_asks_for_at_most_max_summary_tokens():
    client = ScriptedSummarizer()
    run(only(Summarize(client, "small", max_summary_tokens=77)).prepare(conversation(8), tools=[LOOKUP]))
    assert client.requests[0].model == "small"
    assert client.requests[0].params == {"max_tokens": 77}


def test_the_tail_of_a_summary_grows_into_its_share_of_the_target():
    wide = Summarize(ScriptedSummarizer(), keep_tokens_ratio=1.0)
    messages = conversation(12)
    prepared = run(only(wide, window=6_000, keep_recent=1).prepare(messages, tools=[LOOKUP]))
    assert prepared.messages[2:] == messages[-12:]  # six groups of 544 tokens fit into 0.6 of 6,000


def test_drop_oldest_leaves_one_line():
    prepared = run(only(DropOldest()).prepare(conversation(8), tools=[LOOKUP]))
    assert prepared.messages[1].content == "[8 earlier messages left out to save context]"
    assert prepared.report["applied"] == ["drop_oldest(8)"]


def test_a_strategy_is_any_object_with_name_and_apply():
    class KeepLastPair:
        name = "keep_last_pair"

        async def apply(self, work):
            work.messages = [*work.messages[: work.head], *work.messages[-2:]]
            work.applied.append(self.name)

    prepared = run(only(KeepLastPair()).prepare(conversation(8), tools=[LOOKUP]))
    assert len(prepared.messages) == 3
    assert prepared.report["applied"] == ["keep_last_pair"]


def test_a_summarizer_is_taken_from_the_policy():
    policy = ContextPolicy(4_000, reserve_output=0, strategies=[Summarize()], summarizer=ScriptedSummarizer())
    assert run(policy.prepare(conversation(8), tools=[LOOKUP])).report["applied"] == ["summarize(10 messages)"]


# --- counters


def test_the_calibrated_counter_scales_by_what_was_seen():
    counter = CalibratedCounter()
    counter.observe("m", 100, 150)
    assert counter.count([Message("user", "x" * 35)], model="m") == 21
    counter.observe("m", 100, 250)
    assert counter.ratio("m") == pytest.approx(1.5 + 0.3 * (2.5 - 1.5))
    assert counter.ratio("other") == 1.0


def test_the_calibrated_counter_keeps_within_bounds():
    counter = CalibratedCounter()
    counter.observe(None, 100, 1_000)
    assert counter.ratio(None) == 3.0


def test_the_default_counter_is_calibrated_over_the_heuristic():
    counter = ContextPolicy(9_000).counter
    assert isinstance(counter, CalibratedCounter)
    assert isinstance(counter.base, HeuristicCounter)


def test_tiktoken_counts_exactly():
    assert TiktokenCounter().count([Message("user", "hello world")]) == 4 + 2


# --- summaries and groups


def test_best_is_the_longest_prefix_that_matches_by_content():
    transcript = Transcript(conversation(4), count=lambda _: 1)
    short, long = (SummaryRecord(n, transcript.digest(n), "s") for n in (3, 5))
    alien = SummaryRecord(7, transcript.digest(6), "another conversation")
    book = SummaryBook([alien, long, short])
    assert book.best(transcript) == long
    assert book.best(list(transcript)[:4]) == short
    assert book.best(conversation(1)[:1]) is None


def test_groups_hold_a_call_with_its_results():
    messages = [
        Message("user", "go"),
        Message("assistant", None, (ToolCall("a", "f"), ToolCall("b", "f"))),
        Message("tool", "1", tool_call_id="b"),
        Message("tool", "2", tool_call_id="a"),
        Message("assistant", "done"),
    ]
    assert groups(messages) == [(0, 1), (1, 4), (4, 5)]
    assert groups(messages, 1) == [(1, 4), (4, 5)]


# --- refusals


@pytest.mark.parametrize(
    ("make", "numbers"),
    [
        (lambda: ContextPolicy(4_000), "4096|4,096"),
        (lambda: ContextPolicy(-1, reserve_output=0), "-1"),
        (lambda: ContextPolicy(9_000, trigger=0.5, target=0.6), "0.6.*0.5"),
        (lambda: ContextPolicy(9_000, trigger=1.5), "1.5"),
        (lambda: ContextPolicy(9_000, keep_recent=-1), "-1"),
        (lambda: ContextPolicy(9_000, reserve_output=-1), "-1"),
        (lambda: ContextPolicy(9_000, strategies=[Summarize()]), "Summarize"),
        (lambda: TruncateToolResults(0), "0"),
        (lambda: TruncateToolResults(head=1.5), "1.5"),
        (lambda: ClearToolResults(-1), "-1"),
        (lambda: ClearToolResults(placeholder=" "), "placeholder"),
        (lambda: Summarize(keep_tokens_ratio=2), "2"),
        (lambda: Summarize(chunk_tokens=0), "0"),
        (lambda: HeuristicCounter(0), "0"),
        (lambda: CalibratedCounter(smoothing=0), "0"),
        (lambda: CalibratedCounter(bounds=(3.0, 0.4)), "3.0"),
    ],
)
def test_invalid_settings_raise_at_once_with_the_numbers(make, numbers):
    with pytest.raises(ValueError, match=numbers):
        make()


def test_head_and_tools_above_the_budget_are_refused_on_the_first_call():
    with pytest.raises(ContextFloorError) as caught:
        run(ContextPolicy(100, reserve_output=0).prepare([Message("user", "x" * 700)], tools=[LOOKUP]))
    error = caught.value
    assert (error.head_tokens, error.tools_tokens, error.tail_tokens) == (204, 58, 0)
    assert "262" in str(error)
    assert "100" in str(error)


def test_plain_dicts_come_back_as_the_own_dicts():
    dicts = [{"role": "user", "content": "research everything", "id": "kept"}]
    for number in range(1, 9):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
        dicts.append({"role": "assistant", "content": None, "tool_calls": [call]})
        dicts.append({"role": "tool", "tool_call_id": f"c{number}", "content": "lorem ipsum " * 150})
    before = json.dumps(dicts)
    messages = run(ContextPolicy(4_000, reserve_output=0).prepare(dicts)).messages
    assert messages[0] is dicts[0]
    assert messages[1] is dicts[1]
    assert messages[2] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "[tool result removed to save context]",
    }
    assert json.dumps(dicts) == before
