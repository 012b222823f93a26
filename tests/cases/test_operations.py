"""What the operations do with the smallest cases."""

import pytest

from tests.cases.found import Found
from tests.cases.operations import OPERATIONS
from tests.cases.running import run

TALK = [{"role": "user" if place % 2 == 0 else "assistant", "content": word} for place, word in enumerate("abcd")]


def problem_of(check, **case):
    expected = {"say": "", **check}
    return run({"id": "x", "kind": "y", "input": case, "expect": [expected]}).problem


def found_of(**case):
    found = Found(case)
    OPERATIONS[case["op"]](found)
    return found


def raced(*steps):
    return found_of(op="race", messages=TALK, keep_recent_messages=2, steps=list(steps))


def has_summary(found):
    return any("<record" in message.text for message in found.after)


@pytest.mark.parametrize(
    ("steps", "is_summarised", "last"),
    [
        (("snapshot", "summary_done", "commit"), True, "d"),
        (("snapshot", "summary_failed", "commit"), False, "d"),
        (("snapshot", "summary_error:rate_limit", "commit"), False, "d"),
        (("snapshot", "summary_timeout", "commit"), False, "d"),
        (("snapshot", "summary_empty", "commit"), False, "d"),
        (("snapshot", "cancel", "commit"), False, "d"),
        (("snapshot", "edit:0:other", "summary_done", "commit"), False, "d"),
        (("snapshot", "delete:0", "summary_done", "commit"), False, "d"),
        (("snapshot", "undo", "summary_done", "commit"), True, "c"),
        (("snapshot", "undo:3", "summary_done", "commit"), False, "a"),
        (("snapshot", "rewind:1", "summary_done", "commit"), False, "a"),
        (("snapshot", "summary_done", "crash"), False, "d"),
        (("snapshot", "summary_done", "commit", "crash"), True, "d"),
        (("snapshot", "restart"), False, "d"),
        (("compact", "restart"), True, "d"),
        (("compact", "switch_model"), True, "d"),
    ],
)
def test_the_steps_of_a_race_do_what_they_say(steps, is_summarised, last):
    found = raced(*steps)

    assert (has_summary(found), found.after[-1].text) == (is_summarised, last)


def test_a_summary_that_fails_is_the_error_of_the_race():
    assert raced("snapshot", "summary_failed", "commit").error is not None
    assert raced("snapshot", "summary_done", "commit").error is None


@pytest.mark.parametrize("window", [16_000, 200_000])
def test_messages_whose_keeping_is_planned_are_small_beside_the_window(window):
    found = found_of(op="plan_keep", window=window, keep_recent_tokens=2 * window, fixed_tokens=6_000)

    assert found.error is None
    assert 0 < found.value <= window - 6_000


def test_fixed_parts_without_room_for_a_message_are_an_error_and_no_breakdown():
    assert found_of(op="plan_keep", window=6_000, keep_recent_tokens=10, fixed_tokens=6_000).error is not None


def test_half_a_surrogate_pair_is_saved_and_loaded():
    saved = [{"role": "user", "content": "a\ud83db"}]

    assert problem_of({"check": "well_formed_unicode"}, op="roundtrip_save_load", messages=saved) is None


def test_what_is_appended_answers_calls_from_before_without_ids():
    call = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}
    late = {"role": "tool", "tool_name": "f", "content": "late"}
    messages = [*TALK[:3], call]

    found = found_of(
        op="compact",
        format="ollama",
        summarizer="echo_ok",
        messages=messages,
        keep_recent_messages=1,
        then_append=[late],
    )
    assert found.after[-1].text == "late"


def test_an_empty_marker_is_a_setting_that_is_refused():
    assert (
        problem_of({"check": "raises", "kind": "config_error"}, op="clear_tool_results", marker="", messages=TALK)
        is None
    )


def test_a_crash_is_tried_at_every_write():
    found = found_of(
        op="crash_matrix", messages=TALK, summarizer=[{"text": "S"}], keep_recent_messages=1, crash_at=["after_commit"]
    )
    states = list(found.facts["states"].values())

    assert len(states) > 20
    assert found.facts["states"]["after_commit"] != found.facts["old"]
    assert found.facts["old"] in states
    assert all(state in (found.facts["old"], found.facts["states"]["after_commit"]) for state in states)


def test_a_prompt_is_made_after_a_restart():
    found = found_of(
        op="compact_save_load", messages=TALK, summarizer=[{"text": "S"}], keep_recent_messages=1, state={"todo": 1}
    )

    assert has_summary(found)
    assert found.facts["state"] == {"todo": 1}


def value_of(op, **case):
    return found_of(op=op, **case).value


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input": 1, "output": 2, "cacheRead": 30, "cacheWrite": 400}, 433),
        ({"input": 1, "output": 2, "cache_read": 30, "cache_write": 400}, 433),
        ({"inputTokens": 1, "outputTokens": 2, "cacheReadTokens": 30, "cacheWriteTokens": 400}, 433),
        ({"input": 1, "output": 2, "reasoning": 5000, "cache": {"read": 30, "write": 400}}, 5433),
        ({"prompt_token_count": 30, "candidates_token_count": 2}, 32),
    ],
)
def test_a_report_is_read_by_the_keys_it_has(usage, tokens):
    assert value_of("usage_to_context", provider="x", usage=usage) == tokens


@pytest.mark.parametrize("last", [None, {"prompt_tokens": 0, "completion_tokens": 0}])
def test_of_a_session_the_last_report_counts_that_says_something(last):
    reports = [{"prompt_tokens": 30, "completion_tokens": 2}, last]

    assert value_of("usage_to_context", provider="openai", session_usage=reports) == 32


@pytest.mark.parametrize(("provider", "comes_back"), [("openai-chat", False), ("openai-responses", True)])
def test_what_was_thought_comes_back_where_the_library_says_so(provider, comes_back):
    names = ("prompt", "completion") if provider == "openai-chat" else ("input", "output")
    prompt, reply = (f"{name}_tokens" for name in names)
    usage = {prompt: 10, reply: 90, f"{reply}_details": {"reasoning_tokens": 80}}

    assert value_of("should_compact", provider=provider, window=100, threshold=50, usage=usage) is comes_back


def test_a_ratio_above_one_is_an_error_of_settings():
    asked = {"op": "should_compact", "window": 100, "threshold_ratio": 85, "usage": {"prompt_tokens": 90}}

    assert problem_of({"check": "raises", "kind": "config_error"}, **asked) is None


@pytest.mark.parametrize(
    ("case", "tokens"),
    [
        ({"configured": 100, "server": {"max_model_len": 40}}, 40),
        ({"configured": 40, "server": {"n_ctx": 100}}, 40),
        ({"server": {"max_context_length": 900, "state": "not-loaded"}, "catalog": 40}, 40),
        ({"server": {"n_ctx_train": 900}, "catalog": 40}, 40),
        ({"server": {"num_ctx": 40, "context_length": 900}, "provider": "ollama"}, 40),
        ({"server": {"parameters": "num_ctx 40"}, "provider": "ollama"}, 40),
    ],
)
def test_the_window_is_what_the_server_has_and_the_operator_wants(case, tokens):
    assert value_of("learn_window", **case) == tokens


def test_a_published_output_holds_where_nobody_says_another():
    assert found_of(op="learn_window", catalog=100, catalog_max_output=9).facts["max_output"] == 9
    facts = found_of(op="learn_window", catalog=100, catalog_max_output=9, configured_max_output=4).facts
    assert facts["max_output"] == 4


def test_room_for_the_reply_has_two_names_and_may_be_null():
    assert value_of("input_budget", window=100, reserve_output=40) == 60
    assert value_of("input_budget", window=100, max_output=None) == 100
    assert value_of("trigger", window=100, reserve_output=40, threshold_ratio=0.5) == 30
    assert value_of("max_output_for", window=100, prompt=10, wanted=None, model_max_output=20) == 20


@pytest.mark.parametrize(
    "case",
    [
        {"op": "usage_report", "window": 0, "context": 1},
        {"op": "budget_report", "window": 10, "buffer": 20, "fixed_tokens": 1, "messages_tokens": 1},
        {"op": "switch_model", "from_window": 100, "to_window": 10, "reserve_output": 20, "messages": TALK},
    ],
)
def test_settings_that_are_refused_are_the_error_of_a_case(case):
    assert problem_of({"check": "raises", "kind": "config_error"}, **case) is None


TOOL = {"type": "function", "function": {"name": "t", "description": "d" * 400, "parameters": {"type": "object"}}}


def test_tools_count_wherever_a_case_has_them():
    counter = {"chars_per_token": 4}
    without, with_tool = value_of("count_many", counter=counter, lists=[TALK, {"messages": TALK, "tools": [TOOL]}])
    assert with_tool > without + 100
    assert value_of("context_size", counter=counter, messages=TALK, tools=[TOOL]) > without + 100
    turn = found_of(
        op="run_turn",
        messages=TALK,
        provider=[{"text": "ok"}],
        summarizer="echo_ok",
        tools=[TOOL],
        window=50,
        counter=counter,
    )
    assert (turn.error is None, turn.provider.requests) == (False, [])


ASKED = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
]}  # fmt: skip
SHOWN = {"role": "tool", "tool_call_id": "c", "content": "r" * 500}


def test_a_limit_on_results_holds_in_a_wide_window_too():
    found = found_of(op="fit", messages=[TALK[0], ASKED, SHOWN], max_tool_result_chars=100, window=100_000)

    assert len(found.after[-1].text) <= 100


@pytest.mark.parametrize("key", ["protect_tools", "exclude_tools"])
def test_results_of_some_tools_are_not_cleared(key):
    case = {"op": "clear_tool_results", "messages": [TALK[0], ASKED, SHOWN], "keep_last_results": 0}

    assert found_of(**case).after[-1].text != SHOWN["content"]
    assert found_of(**case, **{key: ["look"]}).after[-1].text == SHOWN["content"]


@pytest.mark.parametrize("check", ["idempotent", "deterministic"])
@pytest.mark.parametrize("op", ["fit", "clear_tool_results"])
def test_a_prompt_is_made_again_and_from_the_same_messages_twice(op, check):
    assert problem_of({"check": check}, op=op, messages=[TALK[0], ASKED, SHOWN], window=10_000) is None


@pytest.mark.parametrize("format", ["openai", "anthropic", "gemini"])
def test_what_was_cleared_can_be_read_again_in_any_format(format):
    reads = [{"id": "a", "key": "x", "content": "r" * 200}]
    case = {"op": "prune_then_read", "format": format, "reads": reads, "prune": ["a"], "read_again": "x"}

    assert problem_of({"check": "one_of", "options": ["full"]}, **case) is None


def test_a_summary_of_more_than_there_is_is_not_used():
    entries = [{"m": TALK[0]}, {"summary": "SUM", "covers": 9}]

    assert [message.text for message in found_of(op="resume", entries=entries).after] == ["a"]


@pytest.mark.parametrize(("provider", "asked"), [("ollama", 8192), ("openai-compatible", None)])
def test_only_ollama_is_asked_for_a_window(provider, asked):
    case = {"op": "build_request", "provider": provider, "window": 8192, "messages": TALK}

    assert problem_of({"check": "request_field", "path": "options.num_ctx", "equals": asked}, **case) is None
