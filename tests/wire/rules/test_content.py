"""What repairs put into messages, word for word."""

import pytest

from aaa.messages import Message, OpaquePart, TextPart
from aaa.wire.gemini.parts import call_to
from aaa.wire.lossless import native
from aaa.wire.rules import (
    BRIDGE,
    CONTINUE,
    EMPTY_RESULT,
    EMPTY_USER,
    OPENING,
    SEE_DOCUMENT,
    SHOWN_RESULTS,
    rules_for,
)
from aaa.wire.rules.call_signatures import NO_SIGNATURE
from aaa.wire.rules.merging import merged
from tests.wire.rules.histories import (
    COMPATIBLE_CALL,
    DOCUMENT,
    FOREIGN_IMAGE,
    IMAGE,
    SIGNED_CALL,
    THINKING,
    call,
    result,
)

USER, ASSISTANT = Message("user", "u"), Message("assistant", "a")


def repaired(provider: str, *messages: Message, model: str | None = None) -> list[Message]:
    return rules_for(provider, model).repair(messages)[0]


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


def test_words_of_ours_are_marked_as_ours():
    messages = repaired("bedrock", ASSISTANT, call("a"), result("a", ""), USER, ASSISTANT)
    assert texts(messages) == [OPENING, "a", EMPTY_RESULT, BRIDGE, "u", "a", CONTINUE]
    assert [message.kind for message in messages] == ["marker", None, None, "marker", None, None, "marker"]


def test_an_instruction_stays_in_its_place_with_its_words_in_a_frame():
    later = Message("developer", (TextPart("be "), TextPart("brief"), IMAGE), pinned=True)
    messages = repaired("gemini", USER, ASSISTANT, later, USER)
    assert messages[2] == Message("user", (TextPart("<system>\nbe brief\n</system>"), IMAGE), pinned=True)


def test_instructions_in_front_are_one_with_the_words_of_all():
    memory = Message("developer", (TextPart("Memory: likes tea."),))
    messages = repaired("strict-template", Message("system", "You are Kit."), memory, USER)
    assert messages == [Message("system", (TextPart("You are Kit."), TextPart("Memory: likes tea."))), USER]
    assert texts(repaired("strict-template", *[Message("system", word) for word in "ab"], USER)) == ["a\n\nb", "u"]


def test_neighbours_are_one_message_with_a_blank_line_between():
    assert texts(repaired("perplexity", USER, Message("user", "v"), Message("user", ""), USER)) == ["u\n\nv\n\nu"]


def test_what_is_more_than_text_is_put_side_by_side():
    messages = [Message("assistant", "a"), Message("assistant", (THINKING, TextPart("b"))), call("x")]
    assert merged(messages) == Message("assistant", (TextPart("a"), THINKING, TextPart("b")), call("x").tool_calls)


def test_of_what_stands_beside_merged_messages_reasoning_is_joined_and_layout_left():
    extras = (
        '{"reasoning_content":"one","x":1,"aaa:anthropic":{"plain":true}}',
        '{"content":null,"reasoning_content":"two"}',
    )
    one, two = (Message("assistant", "a", extra=extra) for extra in extras)
    assert merged([one, two]).extra == '{"reasoning_content":"one\\n\\ntwo","x":1}'
    assert merged([ASSISTANT, Message("assistant", None, pinned=True)]) == Message("assistant", "a", pinned=True)


def test_what_results_show_follows_the_last_of_them():
    shown = [result("a", (TextPart("see"), IMAGE)), result("b", (IMAGE,))]
    messages = repaired("openai", USER, call("a", "b"), *shown, ASSISTANT)
    assert messages[2].content == (TextPart("see"), TextPart("[image]"))
    assert messages[4] == Message("user", (TextPart(SHOWN_RESULTS), IMAGE, IMAGE), kind="marker")
    assert [message.role for message in messages] == ["user", "assistant", "tool", "tool", "user", "assistant"]


def test_media_of_other_formats_are_moved_only_where_the_format_does_not_do_it():
    messages = [USER, call("a12345678"), result("a12345678", (FOREIGN_IMAGE,)), ASSISTANT, USER]
    assert repaired("openai", *messages) == messages
    assert texts(repaired("mistral", *messages))[3:5] == [BRIDGE, SHOWN_RESULTS]


def test_a_document_gets_a_word():
    assert repaired("bedrock", Message("user", (DOCUMENT,)))[0].content == (TextPart(SEE_DOCUMENT), DOCUMENT)


@pytest.mark.parametrize("content", ["", " \n", None, (), (TextPart(""),)])
def test_an_empty_turn_of_the_user_is_said_to_be_one(content):
    assert texts(repaired("anthropic", Message("user", content))) == [EMPTY_USER]


def test_texts_of_nothing_are_left_out_beside_others():
    message = Message("user", (TextPart("\n"), IMAGE, TextPart("x")))
    assert repaired("anthropic", message)[0].content == (IMAGE, TextPart("x"))
    assert repaired("gemini", message) == [message]


def test_what_a_format_does_not_say_is_nothing():
    foreign = Message("assistant", (OpaquePart("reasoning", "{}", "openai-responses"),))
    assert repaired("anthropic", USER, foreign, USER) == [USER, USER]
    own = Message("assistant", (OpaquePart("server_tool_use", "{}", "anthropic"),))
    assert repaired("anthropic", USER, own, USER) == [USER, own, USER]


def test_a_message_that_says_something_beside_its_content_stays():
    refusing = Message("assistant", None, extra='{"refusal":"no"}')
    assert repaired("mistral", USER, refusing, USER) == [USER, refusing, USER]
    assert repaired("openai", USER, refusing, USER) == [USER, refusing, USER]
    silent = Message("assistant", None, extra='{"refusal":null}')
    assert repaired("openai", USER, silent, USER)[1].content == ""


def test_a_result_says_something_also_where_it_is_no_error():
    failed = Message("tool", "", tool_call_id="a", extra='{"aaa:anthropic":{"block":{"is_error":true}}}')
    assert repaired("anthropic", USER, call("a"), failed)[2].content == EMPTY_RESULT
    assert repaired("anthropic", USER, call("a"), result("a", ""))[2].content == EMPTY_RESULT


def test_half_an_answer_keeps_its_words_without_the_white_space_behind_them():
    half = Message("assistant", (TextPart("x "), TextPart("so far \n")))
    assert repaired("anthropic", USER, half, model="claude-haiku-4-5")[1].content == (
        TextPart("x "),
        TextPart("so far"),
    )


def test_a_prefix_may_end_and_nothing_else():
    prefix = Message("assistant", "so far", extra='{"prefix":true,"x":1}')
    assert repaired("mistral", USER, prefix) == [USER, prefix]
    assert repaired("mistral", USER, prefix, USER)[1].extra == '{"x":1}'


def test_reasoning_that_is_missing_is_empty_and_other_keys_stay():
    messages = [USER, call("a"), result("a"), Message("assistant", "a", extra='{"x":1}')]
    assert [message.extra for message in repaired("deepseek", *messages)[1::2]] == [
        '{"reasoning_content":""}',
        '{"reasoning_content":"","x":1}',
    ]
    assert [message.extra for message in repaired("moonshot", *messages)[1::2]] == [
        '{"reasoning_content":""}',
        '{"x":1}',
    ]


@pytest.mark.parametrize(
    ("provider", "model", "params"),
    [
        ("deepseek", "deepseek-chat", {}),
        ("deepseek", None, {"thinking": {"type": "disabled"}}),
        ("moonshot", "moonshot-v1-8k", {}),
        ("moonshot", "kimi-k2-0905-preview", {}),
        ("moonshot", None, {"thinking": {"type": "disabled"}}),
    ],
)
def test_models_that_do_not_think_want_no_reasoning(provider, model, params):
    messages = [USER, call("a"), result("a"), ASSISTANT]
    assert rules_for(provider, model, params=params).repair(messages) == (messages, [])


def test_the_dummy_signature_is_written_where_gemini_looks_for_it():
    first = repaired("gemini", USER, call("a", "b"))[1].tool_calls[0]
    assert call_to(first)["thoughtSignature"] == NO_SIGNATURE


@pytest.mark.parametrize("extra", [SIGNED_CALL, COMPATIBLE_CALL])
def test_a_signature_that_is_there_is_kept_wherever_it_came_from(extra):
    messages = [USER, call("a", extra=extra), result("a")]
    assert repaired("gemini", *messages) == messages
    assert call_to(messages[1].tool_calls[0])["thoughtSignature"] == "c2ln"


def test_signatures_are_asked_of_the_first_call_of_each_step_of_the_current_turn_alone():
    step = [call("a", "b"), result("a"), result("b")]
    other = [call("c"), result("c")]
    messages = repaired("gemini", USER, *step, USER, call("d"), result("d"), *other)
    signed = [[bool(native(call.extra, "gemini")) for call in message.tool_calls] for message in messages]
    assert [flags for flags in signed if flags] == [[False, False], [True], [True]]
    assert rules_for("gemini", "gemini-2.5-pro").repair(messages) == (messages, [])


def test_what_had_words_and_calls_says_them_one_after_the_other():
    messages = repaired(
        "mistral", USER, call("a12345678", content="let me see"), result("a12345678"), model="open-mixtral-8x22b"
    )
    assert [(message.content, bool(message.tool_calls)) for message in messages[1:3]] == [
        ("let me see", False),
        ("", True),
    ]


@pytest.mark.parametrize("content", ["", " \n", None, (TextPart(""),)])
def test_where_nothing_is_known_of_a_server_a_user_who_said_nothing_is_not_sent_as_nothing(content):
    repaired, _ = rules_for("chat").repair([Message("user", content), Message("assistant", "a"), Message("user", "b")])

    assert [message.text for message in repaired] == [EMPTY_USER, "a", "b"]
