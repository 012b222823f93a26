"""Token counters: literal, calibrated, exact."""

import os
import subprocess
import sys
from math import ceil, inf, nan

import pytest

from aaa.context import (
    AdditiveCounter,
    CalibratedCounter,
    HeuristicCounter,
    TiktokenCounter,
    TokenCounter,
    Transcript,
)
from aaa.context.counters import exact
from aaa.context.counters.calibrated import scaled
from aaa.messages import Message, OpaquePart, TextPart, ToolCall, ToolSpec

IMAGE = OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"' + "x" * 10_000 + '"}}')
CALL = ToolCall("call_1", "read", '{ "path": "a.py" }')  # 4 + 15 characters: spaces between tokens do not count
TOOL = ToolSpec("read", "Read a file.", '{"type":"object"}')
TOOLS_TEXT = '[{"name":"read","description":"Read a file.","parameters":{"type":"object"}}]'
EXAMPLES = [
    Message("user", "hello"),
    Message("assistant", None, (CALL, CALL)),
    Message("user", (TextPart("look"), IMAGE)),
    Message("tool", "", tool_call_id="call_1"),
    Message("user", "Grüße 日本 🎈 a\ud800b"),
]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (Message("user", ""), 4),
        (Message("assistant"), 4),
        (Message("user", "a"), 4 + 1),  # 1 / 3.5, rounded up
        (Message("user", "abc"), 4 + 1),
        (Message("user", "abcd"), 4 + 2),
        (Message("user", "abcdefg"), 4 + 2),  # 7 / 3.5, nothing to round
        (Message("user", "abcdefgh"), 4 + 3),
        (Message("user", "日本語"), 4 + 1),  # characters, not bytes
        (Message("system", "x" * 35), 4 + 10),
        (Message("user", (TextPart("abcd"), TextPart("efg"))), 4 + 2),  # rounded once, over all parts
        (Message("user", (TextPart("abc"), IMAGE)), 4 + 1),
        (Message("user", (IMAGE,)), 4),
        (
            Message("tool", "abcdefg", tool_call_id="call_1", name="read"),
            4 + 2,
        ),  # ids and names of messages do not count
        (Message("assistant", None, (CALL,)), 4 + 6 + 8),  # 19 / 3.5
        (Message("assistant", None, (CALL, CALL)), 4 + 11 + 16),  # 38 / 3.5
        (Message("assistant", "abcdefg", (CALL,)), 4 + 8 + 8),  # 26 / 3.5
        (Message("assistant", None, (ToolCall("1", "read", "not json"),)), 4 + 4 + 8),  # 12 / 3.5, as written
        (Message("assistant", None, (ToolCall("1", "read", ""),)), 4 + 2 + 8),
        (Message("user", "a", extra='{"reasoning":"long"}', pinned=True, kind="marker"), 4 + 1),
    ],
)
def test_a_message_is_its_characters_by_3_and_a_half_and_its_overheads(message, expected):
    assert HeuristicCounter().count_message(message) == expected
    assert HeuristicCounter().count([message]) == expected


def test_tools_are_the_characters_of_their_compact_json():
    assert HeuristicCounter().count_tools([TOOL]) == ceil(len(TOOLS_TEXT) / 3.5) == 22
    assert HeuristicCounter().count([], [TOOL]) == 22
    assert HeuristicCounter(1, 0, 0).count_tools([TOOL, TOOL]) == 2 * len(TOOLS_TEXT) - 1


def test_white_space_in_the_json_of_arguments_and_parameters_does_not_count():
    spaced = ToolSpec("read", "Read a file.", '{ "type" : "object" }')
    assert HeuristicCounter(1).count_tools([spaced]) == HeuristicCounter(1).count_tools([TOOL])
    compact = ToolCall("call_1", "read", '{"path":"a.py"}')
    messages = [Message("assistant", None, (call,)) for call in (CALL, compact)]
    assert HeuristicCounter(1).count_message(messages[0]) == HeuristicCounter(1).count_message(messages[1])


def test_nothing_takes_no_tokens():
    assert HeuristicCounter().count([]) == 0
    assert HeuristicCounter().count([], []) == 0
    assert HeuristicCounter().count_tools([]) == 0


@pytest.mark.parametrize("counter", [HeuristicCounter(), TiktokenCounter(), HeuristicCounter(2.0, 0, 1)])
def test_a_whole_is_the_sum_of_its_parts(counter):
    assert isinstance(counter, AdditiveCounter)
    parts = sum(map(counter.count_message, EXAMPLES))
    assert counter.count(EXAMPLES) == parts
    assert counter.count(tuple(EXAMPLES), (TOOL,)) == counter.count_tools([TOOL]) + parts


def test_the_numbers_of_the_formula_can_be_set():
    counter = HeuristicCounter(chars_per_token=2, per_message=10, per_tool_call=100)
    assert counter.count_message(Message("assistant", "abc", (CALL,))) == 10 + 11 + 100


@pytest.mark.parametrize("value", [0, -1, -0.5, nan])
def test_characters_per_token_must_be_above_zero(value):
    with pytest.raises(ValueError, match=f"chars_per_token.*{value}"):
        HeuristicCounter(value)


@pytest.mark.parametrize("settings", [{"per_message": -1}, {"per_tool_call": -2}])
def test_overheads_must_not_be_negative(settings):
    ((name, value),) = settings.items()
    with pytest.raises(ValueError, match=f"{name}={value}"):
        HeuristicCounter(**settings)


@pytest.mark.parametrize("counter", [HeuristicCounter(), TiktokenCounter()])
@pytest.mark.parametrize("nested", ["[" * 100_000, '{"a":' * 100_000], ids=["lists", "objects"])
def test_arguments_nested_too_deep_to_parse_are_counted_as_they_are(counter, nested):
    call = ToolCall("1", "read", nested)
    assert counter.count_message(Message("assistant", None, (call,))) > 1000


@pytest.mark.parametrize("counter", [HeuristicCounter(), TiktokenCounter()])
def test_lone_surrogates_are_counted_wherever_they_stand(counter):
    plain = [Message("user", "?"), Message("assistant", None, (ToolCall("1", "?", '"?"'),))]
    odd = [Message("user", "\ud800"), Message("assistant", None, (ToolCall("1", "\ud800", '"\ud800"'),))]
    assert counter.count(odd) == counter.count(plain)
    assert counter.count_tools([ToolSpec("read", "a\ud800b", '{"title":"\ud800"}')]) > 0


def test_a_model_never_observed_is_counted_as_the_base_counts():
    counter = CalibratedCounter()
    assert isinstance(counter, TokenCounter)
    assert counter.ratio("m") == 1
    assert counter.count(EXAMPLES, [TOOL], model="m") == HeuristicCounter().count(EXAMPLES, [TOOL])


def test_the_first_observation_sets_the_ratio():
    counter = CalibratedCounter()
    counter.observe("m", 100, 150)
    assert counter.ratio("m") == 1.5
    assert counter.count([Message("user", "x" * 21)], model="m") == 15  # 10 raw


def test_later_observations_move_the_ratio_by_the_smoothing():
    counter = CalibratedCounter(smoothing=0.25)
    counter.observe("m", 100, 100)
    counter.observe("m", 100, 200)
    assert counter.ratio("m") == 1.25
    counter.observe("m", 100, 125)
    assert counter.ratio("m") == 1.25
    counter.observe("m", 1000, 250)
    assert counter.ratio("m") == 1.0


def test_the_default_smoothing_is_three_tenths():
    counter = CalibratedCounter()
    counter.observe("m", 100, 100)
    counter.observe("m", 100, 200)
    assert counter.ratio("m") == pytest.approx(1.3)


def test_a_smoothing_of_one_follows_the_last_observation():
    counter = CalibratedCounter(smoothing=1)
    for actual in (100, 250, 70):
        counter.observe("m", 100, actual)
    assert counter.ratio("m") == pytest.approx(0.7)


@pytest.mark.parametrize(("actual", "ratio"), [(1, 0.4), (39, 0.4), (40, 0.4), (41, 0.41), (300, 3.0), (10_000, 3.0)])
def test_the_ratio_stays_within_its_bounds(actual, ratio):
    counter = CalibratedCounter()
    counter.observe("m", 100, actual)
    assert counter.ratio("m") == ratio


def test_the_bounds_can_be_set():
    counter = CalibratedCounter(bounds=(1, 1.5))
    counter.observe("low", 100, 10)
    counter.observe("high", 100, 1000)
    assert (counter.ratio("low"), counter.ratio("high")) == (1, 1.5)


def test_each_model_has_a_ratio_of_its_own():
    counter = CalibratedCounter()
    counter.observe("a", 100, 200)
    counter.observe(None, 100, 50)
    assert (counter.ratio("a"), counter.ratio("b"), counter.ratio(None)) == (2, 1, 0.5)
    message = Message("user", "x" * 21)
    assert [counter.count([message], model=model) for model in ("a", "b", None)] == [20, 10, 5]


@pytest.mark.parametrize(
    ("estimated", "actual"),
    [
        *((100, 0), (100, -5), (0, 100), (-100, 100), (0, 0), (-3, -3)),
        *((100, nan), (nan, 100), (100, inf), (inf, 100), (inf, inf), (100, -inf)),
    ],
)
def test_a_count_that_is_no_finite_number_above_zero_teaches_nothing(estimated, actual):
    counter = CalibratedCounter()
    counter.observe("m", estimated, actual)
    assert counter.ratios == {}
    counter.observe("m", 100, 150)
    counter.observe("m", estimated, actual)
    assert counter.ratio("m") == 1.5


def test_a_copy_learns_for_itself():
    counter = CalibratedCounter(smoothing=1)
    counter.observe("m", 100, 150)
    other = counter.copy()
    other.observe("m", 100, 200)
    assert (counter.ratio("m"), other.ratio("m")) == (1.5, 2)
    assert counter.copy({"m": 0.5}).ratio("m") == 0.5
    assert (other.base, other.smoothing, other.bounds) == (counter.base, 1, counter.bounds)


@pytest.mark.parametrize("value", [0, -0.1, 1.1, nan])
def test_smoothing_must_be_above_zero_and_at_most_one(value):
    with pytest.raises(ValueError, match=f"smoothing.*{value}"):
        CalibratedCounter(smoothing=value)


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (2, 1), (nan, 1), (1, nan)])
def test_bounds_must_be_above_zero_and_in_order(bounds):
    with pytest.raises(ValueError, match=f"bounds.*{bounds[0]}.*{bounds[1]}"):
        CalibratedCounter(bounds=bounds)


@pytest.mark.parametrize(
    ("raw", "ratio", "expected"),
    [
        (0, 1.7, 0),
        (1, 1.0, 1),
        (10, 1.25, 13),
        (10, 1.2, 12),
        (3, 0.1 * 3 / 0.3, 3),
        (100, 1.1, 110),
        (1000, 1.1, 1100),
    ],
)
def test_a_calibrated_size_is_rounded_up_from_the_product(raw, ratio, expected):
    assert scaled(raw, ratio) == expected


def test_a_prompt_just_observed_has_exactly_the_size_reported():
    """⌈raw · (reported / raw)⌉ is one too many wherever the last bit of the float is above the truth."""
    pairs = [(raw, raw + more) for raw in (7, 49, 999, 123_457, 1_999_993) for more in range(-raw // 3, raw, raw // 7)]
    assert any(ceil(raw * (reported / raw)) > reported for raw, reported in pairs)
    assert [(raw, reported) for raw, reported in pairs if scaled(raw, reported / raw) != reported] == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [  # published by OpenAI: "How to count tokens with tiktoken"
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 8),
        ("", 0),
    ],
)
def test_exact_counts_are_those_of_the_encoding(text, tokens):
    assert TiktokenCounter("o200k_base", per_message=0).count_message(Message("user", text)) == tokens
    assert TiktokenCounter().count([Message("user", text)]) == 4 + tokens


def test_another_encoding_counts_differently():
    counter = TiktokenCounter("cl100k_base", per_message=0)
    assert counter.count([Message("user", "hello world")]) == 2
    assert counter.count([Message("user", "お誕生日おめでとう")]) == 9


def test_exact_counts_cover_text_parts_and_names_and_arguments_of_calls():
    counter = TiktokenCounter(per_message=3)
    tokens = {text: counter.count_message(Message("user", text)) - 3 for text in ("read", '{"path":"a.py"}', "look")}
    assert counter.count_message(Message("user", (TextPart("look"), IMAGE))) == 3 + tokens["look"]
    call = 3 + tokens["read"] + tokens['{"path":"a.py"}']
    assert counter.count_message(Message("assistant", None, (CALL,))) == call
    assert counter.count_message(Message("assistant", "look", (CALL,))) == call + tokens["look"]


def test_exact_counts_of_tools_are_those_of_their_compact_json():
    counter = TiktokenCounter(per_message=0)
    assert counter.count_tools([TOOL]) == counter.count_message(Message("user", TOOLS_TEXT)) > 10
    assert counter.count([], [TOOL]) == counter.count_tools([TOOL])


def test_nothing_has_no_exact_tokens_either():
    assert TiktokenCounter().count([]) == TiktokenCounter().count_tools([]) == 0
    assert TiktokenCounter().count_message(Message("assistant")) == 4


@pytest.mark.parametrize("text", ["<|endoftext|>", "<|im_start|>", "<|endofprompt|>"])
def test_text_that_looks_like_a_special_token_is_counted_as_the_text_it_is(text):
    counter = TiktokenCounter(per_message=0)
    assert counter.count([Message("user", text)]) > 3
    assert counter.count([Message("user", f"say {text} now")]) > 5


@pytest.mark.parametrize("encoding", ["none_such", "", "gpt-4o"])
def test_an_unknown_encoding_is_refused_by_name(encoding):
    with pytest.raises(ValueError, match=f"encoding '{encoding}'"):
        TiktokenCounter(encoding)


def test_a_negative_overhead_is_refused():
    with pytest.raises(ValueError, match=r"per_message.*-1"):
        TiktokenCounter(per_message=-1)


def test_without_a_tokenizer_the_error_names_what_to_install(tmp_path):
    code = (
        "import sys\n"
        "sys.modules['toktok'] = sys.modules['tiktoken'] = None  # importing them raises ImportError\n"
        "from aaa.context import HeuristicCounter, TiktokenCounter\n"
        "assert HeuristicCounter().count([]) == 0\n"
        "try:\n"
        "    TiktokenCounter()\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert "aaa-agents[tokens]" in result.stdout
    assert "o200k_base" in result.stdout


def test_an_endless_ratio_of_characters_leaves_the_overheads():
    assert HeuristicCounter(inf).count_message(Message("assistant", "abc", (CALL,))) == 12


@pytest.mark.parametrize(("variable", "is_found"), [("folder", True), ("", False)])
def test_a_vocabulary_is_at_hand_only_where_tiktoken_would_look_for_it(tmp_path, monkeypatch, variable, is_found):
    name = "fb374d419588a4632f3f557e76b4b70aebbca790"  # sha1 of the address of o200k_base, as tiktoken names the file
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path) if variable else "")
    assert exact._is_cached("o200k_base") is is_found
    assert not exact._is_cached("cl100k_base")


def test_a_text_is_cut_to_tokens_between_characters():
    counter = TiktokenCounter("cl100k_base", per_message=0)
    assert [counter.first("🎉" * 10, limit) for limit in range(1, 8)] == ["🎉" * n for n in (0, 0, 1, 1, 1, 2, 2)]
    assert counter.first("short", 100) == "short"


def test_a_report_far_above_what_was_known_and_out_of_bounds_teaches_nothing():
    counter = CalibratedCounter(bounds=(0.4, 8.0))
    for actual in (4800, 5100, 47_000, 4900):
        counter.observe("m", 1000, actual)
    assert 4.8 < counter.ratio("m") < 5.0


def test_a_message_like_an_earlier_one_is_counted_once():
    counted = []

    class Counting(HeuristicCounter):
        def count_message(self, message):
            counted.append(message)
            return super().count_message(message)

    messages = [Message("user", "same"), Message("assistant", "x"), Message("user", "same")]
    transcript = Transcript(messages, count=Counting().count_message)
    assert transcript.tokens() == HeuristicCounter().count(messages)
    assert len(counted) == 2
