"""The append-only transcript, and how a caller's list is recognised as one that has grown."""

import asyncio
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from time import sleep

import pytest
from msgspec.structs import replace

from aaa.context import ContextPolicy, HeuristicCounter, Transcript
from aaa.context.transcript import Digested
from aaa.context.transcript_cache import TranscriptCache, begins_with
from aaa.messages import EMPTY_DIGEST, Message, chain, digest
from aaa.wire.openai_chat import message_from_dict
from tests.messages.talk import talk


class Counting:
    """Counts a message as the length of its text, and keeps which it was asked about."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, message: Message) -> int:
        self.asked.append(message.text)
        return len(message.text)

    def new(self) -> list[str]:
        """What was counted since the last question."""
        asked, self.asked = self.asked, []
        return asked


def texts(*words: str) -> list[Message]:
    return [Message("user", word) for word in words]


def chained(messages: Sequence[Message]) -> str:
    so_far = EMPTY_DIGEST
    for message in messages:
        so_far = chain(so_far, digest(message))
    return so_far


def assert_is_of(transcript: Transcript, messages: Sequence[Message]) -> None:
    """`transcript` answers every question as one made of `messages` alone would."""
    assert list(transcript) == list(messages)
    assert len(transcript) == len(messages)
    for length in range(len(messages) + 1):
        assert transcript.digest(length) == chained(messages[:length])
        assert transcript.tokens(0, length) == sum(len(message.text) for message in messages[:length])
    assert [transcript.message_digest(index) for index in range(len(messages))] == [digest(m) for m in messages]


MESSAGES = talk("s u a:x t:x a")


def test_a_transcript_is_a_sequence():
    transcript = Transcript(MESSAGES, count=Counting())
    assert isinstance(transcript, Sequence)
    assert len(transcript) == 5
    assert list(transcript) == MESSAGES
    assert list(reversed(transcript)) == MESSAGES[::-1]
    assert MESSAGES[3] in transcript
    assert Message("user", "other") not in transcript
    assert transcript.index(MESSAGES[3]) == 3
    assert transcript.count(MESSAGES[3]) == 1


@pytest.mark.parametrize("index", [0, 2, 4, -1, -5])
def test_items_are_reached_by_index_from_both_ends(index):
    assert Transcript(MESSAGES, count=Counting())[index] is MESSAGES[index]


@pytest.mark.parametrize("index", [5, -6, 100])
def test_an_index_outside_raises(index):
    with pytest.raises(IndexError):
        _ = Transcript(MESSAGES, count=Counting())[index]


@pytest.mark.parametrize(
    "span", [slice(None), slice(1, 3), slice(-2, None), slice(None, None, 2), slice(None, None, -1), slice(3, 1)]
)
def test_a_slice_is_a_list(span):
    assert Transcript(MESSAGES, count=Counting())[span] == MESSAGES[span]


def test_an_empty_transcript_has_no_tokens_and_the_digest_of_nothing():
    transcript = Transcript(count=Counting())
    assert (len(transcript), list(transcript), transcript.tokens(), transcript.head) == (0, [], 0, 0)
    assert transcript.digest() == EMPTY_DIGEST


def test_tokens_are_those_of_a_half_open_span():
    transcript = Transcript(texts("a", "bb", "cccc"), count=Counting())
    assert transcript.tokens() == 7
    assert transcript.tokens(1) == 6
    assert transcript.tokens(0, 1) == 1
    assert transcript.tokens(1, 3) == 6
    assert transcript.tokens(2, 2) == 0
    assert transcript.tokens(3) == 0


def test_the_digest_of_a_beginning_is_that_of_its_messages_in_order():
    transcript = Transcript(MESSAGES, count=Counting())
    assert transcript.digest() == transcript.digest(5) == chained(MESSAGES)
    assert transcript.digest(0) == EMPTY_DIGEST
    assert transcript.digest(2) == chained(MESSAGES[:2])
    assert transcript.message_digest(2) == digest(MESSAGES[2])


def test_each_message_is_counted_once_however_often_is_asked():
    counting = Counting()
    transcript = Transcript(texts("a", "bb"), count=counting)
    transcript.append(Message("user", "ccc"))
    transcript.extend(texts("dddd"))
    for _ in range(3):
        transcript.tokens(0, 2)
        transcript.digest(3)
    assert counting.new() == ["a", "bb", "ccc", "dddd"]
    assert_is_of(transcript, texts("a", "bb", "ccc", "dddd"))


def test_the_head_grows_with_the_first_messages_only():
    transcript = Transcript(count=Counting())
    heads = []
    for message in talk("s s u u a"):
        transcript.append(message)
        heads.append(transcript.head)
    assert heads == [1, 2, 3, 3, 3]


def test_a_message_that_can_not_be_counted_leaves_the_transcript_as_it_was():
    def count(message: Message) -> int:
        if message.text == "bad":
            raise RuntimeError("no count")
        return len(message.text)

    transcript = Transcript(texts("a"), count=count)
    with pytest.raises(RuntimeError, match="no count"):
        transcript.append(Message("user", "bad"))
    assert_is_of(transcript, texts("a"))
    transcript.append(Message("user", "bb"))
    assert_is_of(transcript, texts("a", "bb"))


def test_a_list_that_can_not_be_counted_once_is_prepared_right_the_next_time():
    failures = ["bb"]

    def count(message: Message) -> int:
        if message.text in failures:
            failures.remove(message.text)
            raise RuntimeError("no count")
        return len(message.text)

    cache = TranscriptCache(count)
    messages = texts("a")
    cache.transcript_of(messages)
    messages += texts("bb", "ccc")
    with pytest.raises(RuntimeError, match="no count"):
        cache.transcript_of(messages)
    assert_is_of(cache.transcript_of(messages), messages)


def test_following_the_same_objects_counts_nothing():
    counting = Counting()
    transcript = Transcript(MESSAGES, count=counting)
    counting.new()
    assert_is_of(transcript.follow(MESSAGES), MESSAGES)
    assert_is_of(transcript.follow(tuple(MESSAGES)), MESSAGES)
    assert counting.new() == []


def test_following_a_grown_list_counts_only_what_is_new():
    counting = Counting()
    messages = texts("a", "bb")
    transcript = Transcript(messages, count=counting)
    counting.new()
    grown = [*messages, *texts("ccc", "dddd")]
    assert_is_of(transcript.follow(grown), grown)
    assert counting.new() == ["ccc", "dddd"]


def test_following_leaves_the_followed_transcript_as_it_was():
    messages = texts("a", "bb")
    transcript = Transcript(messages, count=Counting())
    transcript.follow([*messages, *texts("ccc")])
    assert_is_of(transcript, messages)


def test_two_that_follow_one_transcript_do_not_mix():
    messages = texts("a", "bb")
    transcript = Transcript(messages, count=Counting())
    one = transcript.follow([*messages, *texts("one")])
    other = transcript.follow([*messages, *texts("other", "more")])
    one.append(Message("user", "last"))
    transcript.append(Message("user", "own"))
    assert_is_of(one, [*messages, *texts("one", "last")])
    assert_is_of(other, [*messages, *texts("other", "more")])
    assert_is_of(transcript, [*messages, *texts("own")])


def test_equal_messages_that_are_other_objects_are_not_counted_again():
    counting = Counting()
    dicts = [{"role": "user", "content": "a"}, {"role": "assistant", "content": [{"type": "text", "text": "bb"}]}]
    transcript = Transcript(map(message_from_dict, dicts), count=counting)
    counting.new()
    again = [message_from_dict(fields) for fields in dicts]
    assert again[0] is not transcript[0]
    assert_is_of(transcript.follow(again), again)
    assert counting.new() == []


@pytest.mark.parametrize(
    "changes",
    [{"content": "xx"}, {"role": "assistant"}, {"name": "ann"}, {"pinned": True}, {"kind": "summary"}],
    ids=str,
)
def test_a_difference_in_what_is_sent_or_in_pin_or_kind_is_a_branch_from_there_on(changes):
    counting = Counting()
    messages = texts("a", "bb", "ccc")
    transcript = Transcript(messages, count=counting)
    counting.new()
    edited = [messages[0], replace(messages[1], **changes), messages[2]]
    followed = transcript.follow(edited)
    assert_is_of(followed, edited)
    assert followed[1] is edited[1]
    assert counting.new() == [edited[1].text, "ccc"]
    assert_is_of(transcript, messages)


def test_following_a_shorter_list_is_its_beginning():
    counting = Counting()
    messages = texts("a", "bb", "ccc")
    transcript = Transcript(messages, count=counting)
    counting.new()
    for length in range(4):
        assert_is_of(transcript.follow(messages[:length]), messages[:length])
    assert counting.new() == []
    assert_is_of(transcript, messages)


def test_following_another_conversation_shares_nothing():
    transcript = Transcript(texts("a", "bb"), count=Counting())
    assert_is_of(transcript.follow(texts("x", "bb")), texts("x", "bb"))
    assert_is_of(transcript.follow([]), [])


def test_the_cache_recognises_a_list_that_has_grown():
    counting = Counting()
    cache = TranscriptCache(counting)
    messages = texts("a")
    for word in ("bb", "ccc", "dddd"):
        messages.append(Message("user", word))
        assert_is_of(cache.transcript_of(messages), messages)
    assert counting.new() == ["a", "bb", "ccc", "dddd"]


def test_the_cache_recognises_a_copy_of_the_list_and_equal_messages():
    counting = Counting()
    cache = TranscriptCache(counting)
    cache.transcript_of(texts("a", "bb"))
    counting.new()
    assert_is_of(cache.transcript_of(texts("a", "bb", "ccc")), texts("a", "bb", "ccc"))
    assert counting.new() == ["ccc"]


def test_the_cache_recognises_a_branch():
    counting = Counting()
    cache = TranscriptCache(counting)
    cache.transcript_of(texts("a", "bb", "ccc"))
    counting.new()
    assert_is_of(cache.transcript_of(texts("a", "bb", "xx", "y")), texts("a", "bb", "xx", "y"))
    assert counting.new() == ["xx", "y"]


def test_the_cache_sees_that_a_list_was_edited_in_place():
    counting = Counting()
    cache = TranscriptCache(counting)
    messages = texts("a", "bb", "ccc")
    before = cache.transcript_of(messages)
    counting.new()
    messages[1] = Message("user", "xx")
    assert_is_of(cache.transcript_of(messages), messages)
    assert counting.new() == ["xx", "ccc"]
    del messages[0]
    assert_is_of(cache.transcript_of(messages), messages)
    messages.clear()
    assert_is_of(cache.transcript_of(messages), [])
    assert_is_of(before, texts("a", "bb", "ccc"))


def test_the_cache_never_mixes_two_conversations():
    cache = TranscriptCache(Counting())
    one, other = texts("a", "one"), texts("a", "other")
    for turn in range(5):
        for messages in (one, other):
            messages.append(Message("user", f"{messages[1].text} {turn}"))
            assert_is_of(cache.transcript_of(messages), messages)


@pytest.mark.parametrize("beginning", [("a",), ("a", "bb", "ccc")], ids=len)
def test_conversations_that_begin_alike_and_take_turns_are_each_counted_once(beginning):
    counting = Counting()
    cache = TranscriptCache(counting)
    conversations = [texts(*beginning, f"task {number}") for number in range(3)]
    for messages in conversations:
        cache.transcript_of(messages)
    counting.new()
    for turn in range(3):
        for number, messages in enumerate(conversations):
            messages.append(Message("user", f"{number} says {turn}"))
            assert_is_of(cache.transcript_of(messages), messages)
            assert counting.new() == [f"{number} says {turn}"]


def test_the_cache_forgets_the_conversation_not_seen_for_longest():
    counting = Counting()
    cache = TranscriptCache(counting, size=2)
    for word in ("a", "bb", "a", "ccc"):
        cache.transcript_of(texts(word))
    assert counting.new() == ["a", "bb", "ccc"]
    cache.transcript_of(texts("a"))
    assert counting.new() == []
    cache.transcript_of(texts("bb"))
    assert counting.new() == ["bb"]


@pytest.fixture
def hasty_threads():
    """Threads that are interrupted as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_that_prepare_equal_and_different_lists_on_one_policy_do_not_mix_them():
    """Sixteen threads, four conversations, one beginning: each grows its own copy and asks after every message."""
    threads, turns = 16, 30
    counter = HeuristicCounter()
    policy = ContextPolicy(1_000_000, counter=counter)
    beginning = talk("s u")
    barrier = Barrier(threads, timeout=60)

    def converse(number: int) -> list[str]:
        problems: list[str] = []
        messages = [*beginning]
        barrier.wait()
        for turn in range(turns):
            messages.append(Message("user", f"{number % 4} says {'x' * turn} {turn}"))
            prepared = asyncio.run(policy.prepare(messages))
            if prepared.messages is not messages or prepared.report is not None:
                problems.append(f"{number} at {turn}: not its own messages")
            if prepared.plan.tokens_before != counter.count(messages):
                problems.append(f"{number} at {turn}: {prepared.plan.tokens_before} tokens")
        return problems

    with ThreadPoolExecutor(threads) as pool:
        results = [pool.submit(converse, number) for number in range(threads)]
        assert [problem for result in results for problem in result.result(timeout=120)] == []


@pytest.mark.usefixtures("hasty_threads")
def test_threads_that_share_a_cache_get_the_transcripts_of_their_own_lists():
    threads, turns = 16, 40
    cache = TranscriptCache(Counting())
    barrier = Barrier(threads, timeout=60)

    def converse(number: int) -> list[int]:
        wrong: list[int] = []
        kept: list[tuple[Transcript, list[Message]]] = []
        messages = texts("a")
        barrier.wait()
        for turn in range(turns):
            messages.append(Message("user", f"{number % 4} {turn}"))
            kept.append((cache.transcript_of(messages), [*messages]))
        for turn, (transcript, expected) in enumerate(kept):
            same = list(transcript) == expected and transcript.digest() == chained(expected)
            if not same or transcript.tokens() != sum(len(message.text) for message in expected):
                wrong.append(turn)
        return wrong

    with ThreadPoolExecutor(threads) as pool:
        results = [pool.submit(converse, number) for number in range(threads)]
        assert [result.result(timeout=120) for result in results] == [[]] * threads


def test_a_thread_that_asks_while_another_is_counting_does_not_get_into_its_transcript():
    counting_one, asking = Event(), Event()

    def count(message: Message) -> int:
        if message.text == "one":
            counting_one.set()
            assert asking.wait(60)
            for _ in range(1000):
                sleep(0)  # no wait: lets the other thread go as far as it can
        return len(message.text)

    def ask_for_other() -> Transcript:
        assert counting_one.wait(60)
        asking.set()
        return cache.transcript_of(texts("a", "other"))

    cache = TranscriptCache(count)
    cache.transcript_of(texts("a"))
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(cache.transcript_of, texts("a", "one"))
        other = pool.submit(ask_for_other)
        assert_is_of(one.result(timeout=120), texts("a", "one"))
        assert_is_of(other.result(timeout=120), texts("a", "other"))


@pytest.mark.parametrize("length", range(4))
def test_a_list_begins_with_any_part_of_it_and_both_are_left_as_they_were(length):
    messages = texts("a", "bb", "ccc")
    beginning = messages[:length]
    assert begins_with(messages, beginning)
    assert (beginning, messages) == (messages[:length], texts("a", "bb", "ccc"))


def test_a_list_does_not_begin_with_a_longer_one_or_another():
    messages = texts("a", "bb")
    assert not begins_with(messages, texts("a", "bb", "ccc"))
    assert not begins_with(messages, texts("b"))
    assert not begins_with(messages, texts("a", "b"))
    assert not begins_with([], texts("a"))


def test_digests_that_are_known_are_taken_for_equal_messages_only():
    messages = texts("a", "bb")
    known = Digested(texts("a", "bb"), ["known a", "known bb"])
    transcript = TranscriptCache(Counting()).transcript_of(messages, known)
    assert [transcript.message_digest(index) for index in range(2)] == known.digests
    assert transcript.digest() == chain(chain(EMPTY_DIGEST, "known a"), "known bb")
    others = texts("a", "cc")
    assert_is_of(TranscriptCache(Counting()).transcript_of(others, known), others)


def test_a_message_that_cannot_be_counted_leaves_the_transcript_as_it_was():
    def count(message):
        return {"a": 1, "bb": 2}[message.text]

    transcript = Transcript(texts("a"), count=count)
    with pytest.raises(KeyError):
        transcript.extend(texts("bb", "ccc"))
    assert list(transcript) == texts("a")
    assert transcript.tokens() == 1
    transcript.append(Message("user", "bb"))
    assert transcript.tokens() == 3
