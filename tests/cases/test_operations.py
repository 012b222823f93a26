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
