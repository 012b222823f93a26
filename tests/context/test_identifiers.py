"""What counts as an identifier, and which of them are listed."""

import subprocess
import sys

import pytest

from aaa.context.identifiers import identifiers_in, missing_identifiers
from aaa.messages import Message, TextPart, ToolCall


@pytest.mark.parametrize(
    "word",
    [
        "src/app/main.py",
        "/etc/hosts",
        "~/notes.txt",
        "./run.sh",
        "C:\\temp\\log.txt",
        "src/x.py:12",
        "README.md",
        "os.path.join",
        "max_tokens",
        "_private",
        "__init__",
        "MAX_SIZE",
        "parseQuery",
        "HttpClient",
        "v1.2.3",
        "utf8",
        "3fa9",
        "9fceb02d0ae598e95dc970b74767f19372d61af8",
        "call_rI3WKPYvVwlOgCGR",
        "123",
        "8080",
        "0017",
        "a" * 119 + "1",
    ],
)
def test_paths_symbols_hashes_and_long_numbers_are_identifiers(word):
    assert list(identifiers_in(f"see {word} there")) == [word]


@pytest.mark.parametrize(
    "word",
    [
        "hello",
        "Hello",
        "WARNING",
        "well-known",
        "isn't",
        "a_b",
        "x1",
        "1",
        "42",
        "...",
        "----",
        "////",
        "",
        "é",
        "日本語",
    ],
)
def test_plain_words_and_short_numbers_are_not(word):
    assert list(identifiers_in(f"see {word} there")) == []


def test_a_word_of_more_than_120_characters_is_not():
    assert list(identifiers_in("a" * 120 + "1")) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Open `src/main.py`, then (max_tokens).", ["src/main.py", "max_tokens"]),
        ('{"path":"a/b.txt","line":120}', ["a/b.txt", "120"]),
        ("the end of foo_bar. Then baz_qux!", ["foo_bar", "baz_qux"]),
        ("x=first_name&y=last_name", ["first_name", "last_name"]),
    ],
)
def test_punctuation_around_an_identifier_is_no_part_of_it(text, words):
    assert list(identifiers_in(text)) == words


def test_identifiers_come_once_each_in_order_of_first_appearance():
    assert list(identifiers_in("b_two a_one b_two 404 a_one")) == ["b_two", "a_one", "404"]


def test_long_runs_of_one_character_take_no_more_than_linear_time():
    """In a process of its own, so that a search without end ends the wait and not the test run."""
    runs = ["-", "/", ".", "~", "\\", "a", "a_", "-x", "7", ". "]
    code = f"from aaa.context.identifiers import identifiers_in\nfor run in {runs}: identifiers_in(run * 150_000)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


def missing(messages, summary="", *, max_tokens=1000, **more):
    return missing_identifiers(messages, summary, max_tokens=max_tokens, **more)


def test_what_the_summary_already_names_is_not_listed():
    assert missing([Message("user", "first_one and second_one")], "kept first_one") == ("second_one",)


def test_nothing_is_listed_for_nothing():
    assert missing([]) == ()
    assert missing([Message("user", "just plain words")]) == ()
    assert missing([Message("user")]) == ()


def test_later_mentions_rank_before_earlier_ones():
    messages = [Message("user", "first_one"), Message("assistant", "second_one"), Message("user", "third_one")]
    assert missing(messages) == ("third_one", "second_one", "first_one")


def test_what_user_or_assistant_mention_ranks_before_what_only_tools_returned():
    messages = [Message("user", "asked_for"), Message("tool", "dumped_one"), Message("tool", "dumped_two")]
    assert missing(messages) == ("asked_for", "dumped_two", "dumped_one")


def test_an_identifier_ranks_by_its_best_mention():
    messages = [Message("tool", "zz_both zz_tool"), Message("assistant", "zz_both"), Message("tool", "zz_both aa_tool")]
    assert missing(messages) == ("zz_both", "aa_tool", "zz_tool")


def test_equals_rank_by_their_letters():
    assert missing([Message("user", "c_three a_one b_two")]) == ("a_one", "b_two", "c_three")
    assert missing([Message("user", "b_two c_three a_one")]) == ("a_one", "b_two", "c_three")


def test_identifiers_listed_before_come_again_ranked_as_the_oldest_mention():
    messages = [Message("user", "new_name"), Message("tool", "dumped_one")]
    assert missing(messages, earlier=("old_name",)) == ("new_name", "old_name", "dumped_one")


def test_the_list_stays_within_its_tokens():
    words = [f"name_{number:02}" for number in range(30)]  # 7 characters and a separator of 3: 10 / 3.5 tokens each
    listed = missing([Message("user", " ".join(words))], max_tokens=10)
    assert listed == ("name_00", "name_01", "name_02")
    assert missing([Message("user", " ".join(words))], max_tokens=0) == ()


def test_a_word_too_long_for_what_is_left_gives_way_to_a_shorter_one():
    messages = [Message("user", "short_one"), Message("user", "a_" + "long" * 20)]
    assert missing(messages, max_tokens=5) == ("short_one",)


def test_text_parts_and_arguments_of_calls_are_read():
    messages = [
        Message("user", (TextPart("part_one"),)),
        Message("assistant", None, (ToolCall("1", "read", '{"path":"src/two.py"}'),)),
    ]
    assert set(missing(messages)) == {"part_one", "src/two.py"}


def test_arguments_of_calls_are_read_as_what_they_say_and_not_as_escaped_json():
    call = ToolCall("1", "run", r'{"code":"total = 1\nload_file(total)"}')
    assert missing([Message("assistant", None, (call,))]) == ("load_file",)
