"""A compaction that is asked for: what it replaces, and what stays as it was when it fails."""

import asyncio

import pytest

from aaa.context import ContextPolicy, FitterState, HeuristicCounter, PromptFitter, Summarize
from aaa.context.summaries import is_summary
from aaa.errors import ContextOverflowError, SummaryError
from aaa.llm import FakeLLMClient
from aaa.llm.fake import text
from aaa.messages import LLMResponse, Message, OpaquePart, TextPart, ToolCall

TALK = [Message("user", "Wipe the index."), Message("assistant", "Wiped."), Message("user", "List files.")]
LONG = [Message("user", "task"), *(Message("assistant", f"{n} " * 400) for n in range(8)), Message("user", "go on")]


def fitter_of(*replies, **settings):
    client = FakeLLMClient(list(replies) if len(replies) != 1 or not callable(replies[0]) else replies[0])
    limits = {key: settings.pop(key) for key in ("chunk_tokens",) if key in settings}
    policy = ContextPolicy(settings.pop("window", 100_000), strategies=[Summarize(client, **limits)], **settings)
    return PromptFitter(policy), client


def compacted(fitter, messages, **asked):
    asyncio.run(fitter.compact(messages, **({"keep_recent": 1} | asked)))
    return list(asyncio.run(fitter.fit(messages)).messages)


def test_an_old_request_is_a_record_and_the_newest_words_are_the_last():
    fitter, _ = fitter_of(text("The index was wiped."))
    prompt = compacted(fitter, TALK)
    assert [message.role for message in prompt] == ["user", "user"]
    assert is_summary(prompt[0])
    assert prompt[0].text.endswith("The user's first words, long ago: Wipe the index.\n</record>")
    assert prompt[1] is TALK[2]


def test_a_task_stays_while_it_is_the_last_that_the_user_said():
    messages = [Message("system", "s"), Message("user", "task"), *(Message("assistant", "a" * 400) for _ in range(3))]
    fitter, client = fitter_of(text("It went on."))
    assert compacted(fitter, messages)[:2] == messages[:2]
    assert "task" in client.requests[0].messages[-1].text


def test_pinned_words_and_instructions_stay_beside_the_summary():
    messages = [Message("system", "s"), Message("user", "rule", pinned=True), *TALK]
    fitter, _ = fitter_of(text("S"))
    prompt = compacted(fitter, messages)
    assert [message.text for message in prompt if not is_summary(message)] == ["s", "rule", "List files."]


def test_a_call_under_way_is_kept_for_its_answer():
    call = Message("assistant", None, (ToolCall("k1", "confirm", "{}"),))
    talk = [Message("user", "pay"), call, *(Message(role, "word " * 40) for role in ("user", "assistant") * 3)]
    fitter, _ = fitter_of(text("S"))
    asyncio.run(fitter.compact(talk, keep_recent=2))
    answer = Message("tool", "yes", tool_call_id="k1")
    prompt = list(asyncio.run(fitter.fit([*talk, answer])).messages)
    assert any(is_summary(message) for message in prompt)
    assert call in prompt
    assert prompt[-1] is answer


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (text(""), "empty"),
        (text(" \n\t "), "empty"),
        (LLMResponse(Message("assistant", "half"), finish_reason="length"), "cut off"),
        (text("w" * 9000), "too large"),
        (ConnectionError(), "failed"),
    ],
)
def test_a_summary_that_can_not_be_used_is_an_error_and_nothing_changes(reply, reason):
    fitter, _ = fitter_of(reply, reply)
    with pytest.raises(SummaryError) as error:
        compacted(fitter, TALK)
    assert error.value.reason == reason
    assert list(asyncio.run(fitter.fit(TALK)).messages) == TALK
    assert fitter.state.records == ()


def test_parts_that_were_written_before_a_failure_are_kept_and_not_paid_for_again():
    fitter, client = fitter_of(text("one"), text("two"), ConnectionError(), text("three"), chunk_tokens=700)
    with pytest.raises(SummaryError):
        compacted(fitter, LONG)
    done = len(fitter.state.records)
    assert done == 2
    client._script = [text("more")] * 20
    prompt = compacted(fitter, LONG)
    assert is_summary(prompt[0]) or is_summary(prompt[1])
    assert len(client.requests) == 3 + 4 - done


def test_a_request_for_a_summary_leaves_room_for_its_reply():
    fitter, client = fitter_of(lambda _: text("S"), window=2_000, reserve_output=200)
    compacted(fitter, LONG)
    for request in client.requests:
        assert HeuristicCounter().count(request.messages) + request.params["max_tokens"] <= 2_000


def test_after_an_overflow_the_same_part_is_handed_over_in_smaller_pieces():
    error = ContextOverflowError(limit=600, requested=1000)
    fitter, client = fitter_of(error, *[text("S")] * 20)
    compacted(fitter, LONG)
    first, second = (len(request.messages[-1].text) for request in client.requests[:2])
    assert second < 0.6 * first


def test_what_is_shown_is_a_word_in_the_request():
    image = OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}')
    messages = [Message("user", (TextPart("look"), image)), Message("assistant", "a cat"), Message("user", "more")]
    fitter, client = fitter_of(text("S"))
    compacted(fitter, messages)
    asked = client.requests[0].messages[-1].text
    assert "look\n[image]" in asked
    assert "base64" not in asked


def test_a_time_out_of_a_part_is_an_error():
    async def hang(_):
        await asyncio.Event().wait()

    fitter, _ = fitter_of(hang)
    with pytest.raises(SummaryError) as error:
        asyncio.run(fitter.compact(TALK, keep_recent=1, timeout_seconds=0.01))
    assert error.value.reason == "timeout"


def test_a_restart_goes_on_with_the_summary_and_what_follows_it():
    fitter, _ = fitter_of(text("The index was wiped."))
    live = compacted(fitter, TALK)
    resumed = PromptFitter(fitter.policy, FitterState.from_json(fitter.state.to_json()))
    assert list(asyncio.run(resumed.fit(TALK)).messages) == live


def test_a_policy_without_summaries_says_so():
    with pytest.raises(ValueError, match="summarizer"):
        asyncio.run(PromptFitter(ContextPolicy(10_000)).compact(TALK))


def looking(count):
    for number in range(count):
        yield Message("assistant", None, (ToolCall(f"c{number}", "look"),))
        yield Message("tool", "page " * 20, tool_call_id=f"c{number}")


def test_the_request_that_is_worked_on_stays_and_the_first_one_is_quoted_and_not_handed_over_again():
    """What was answered is none: a record that repeats it would have it done again."""
    fitter, client = fitter_of(lambda _: text("Half done."), chunk_tokens=200)
    work = [*TALK, *looking(12)]
    prompt = compacted(fitter, work, keep_recent=2)
    assert prompt[1] is TALK[2]
    assert "long ago: Wipe the index." in prompt[0].text
    assert len(client.requests) > 2
    read = [request.messages[-1].text for request in client.requests]
    assert not any("Wipe" in words for words in read[1:])
    assert not any("List files." in words for words in read)
    answered = [*work, Message("assistant", "Two files."), Message("assistant", "That is all.")]
    assert not any("List files." in message.text for message in compacted(fitter_of(text("S"))[0], answered))


def test_a_long_conversation_is_read_in_time_that_grows_with_it():
    counted = []

    class Counting(HeuristicCounter):
        def count_message(self, message):
            counted.append(1)
            return super().count_message(message)

    def calls_for(turns):
        fitter, _ = fitter_of(lambda _: text("S"), counter=Counting())
        counted.clear()
        asyncio.run(fitter.compact([Message("user", "go"), *looking(turns)]))
        return len(counted)

    assert calls_for(400) < 5 * calls_for(100)
