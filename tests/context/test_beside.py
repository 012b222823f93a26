"""What a prompt holds beside text and calls: thinking, legacy calls, media under keys we have no field for."""

import asyncio
import json
from base64 import b64encode
from math import ceil

import pytest

from aaa.context import ContextPolicy, HeuristicCounter, TiktokenCounter, counter_for
from aaa.context.counters import Measure
from aaa.context.counters.media import media_rule
from aaa.context.counters.shapes import Shape, shape_in
from aaa.messages import Message, OpaquePart, TextPart, ToolCall
from aaa.wire.openai_chat import message_from_dict
from tests.context.test_media import image, jpeg, png, webp

WORDS = "we think " * 100
SEALED = "A" * 8000  # 6,000 bytes, of which 650 are no text
COUNTERS = [HeuristicCounter(), TiktokenCounter(), counter_for("claude-opus-4-8"), counter_for("gpt-4o")]
UNKNOWN = media_rule(None)(Shape("image"))


def base64(data):
    return b64encode(data).decode()


def beside(message, counter=None):
    """Tokens of a message that are not in its text and its calls."""
    counter = counter or HeuristicCounter()
    plain = Message(message.role, tuple(map(TextPart, message.texts)), message.tool_calls)
    measure = Measure(counter)
    return measure.message(message) - measure.message(plain)


def text_tokens(text, counter):
    return counter.count([Message("user", text)]) - counter.count([Message("user", "")])


def said(**fields):
    return message_from_dict({"role": "assistant", "content": "x", **fields})


def part(format="anthropic", **fields):
    return Message("assistant", (OpaquePart(fields["type"], json.dumps(fields), format), TextPart("x")))


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize(
    "message",
    [
        said(reasoning_content=WORDS),
        said(reasoning=WORDS),
        said(reasoning_details=[{"type": "reasoning.text", "text": WORDS, "signature": SEALED}]),
        said(function_call={"name": "", "arguments": WORDS}),
        said(refusal=WORDS),
        part(type="thinking", thinking=WORDS, signature=SEALED),
        part("ollama", type="thinking", thinking=WORDS),
        part("gemini", type="thought", text=WORDS, thoughtSignature=SEALED),
        part("openai-responses", type="reasoning", summary=[{"type": "summary_text", "text": WORDS}]),
    ],
    ids=lambda message: message.extra[:20] or message.content[0].type,
)
def test_words_count_as_text_and_their_signatures_do_not(message, counter):
    assert beside(message, counter) == text_tokens(WORDS, counter) > 100


def test_words_told_under_several_names_count_once():
    details = [{"type": "reasoning.text", "text": WORDS}]
    message = said(reasoning="short", reasoning_content=WORDS, reasoning_details=details)
    assert beside(message) == beside(said(reasoning=WORDS))


@pytest.mark.parametrize(
    "message",
    [
        part(type="redacted_thinking", data=SEALED),
        part(type="thinking", thinking="", signature=SEALED),
        part("openai-responses", type="reasoning", summary=[], encrypted_content=SEALED),
        part("openai-responses", type="compaction", encrypted_content=SEALED),
        said(reasoning_details=[{"type": "reasoning.encrypted", "data": SEALED}]),
    ],
    ids=lambda message: message.extra[:20] or message.content[0].type,
)
def test_what_is_encrypted_counts_by_what_is_in_it(message):
    assert beside(message) == ceil(5350 / 3.5)
    assert beside(message, TiktokenCounter()) == ceil(5350 / 4)


def test_what_is_encrypted_is_not_counted_beside_the_words_that_tell_it_in_short():
    summary = [{"type": "summary_text", "text": WORDS}]
    long = part("openai-responses", type="reasoning", summary=summary, encrypted_content=SEALED)
    short = part("openai-responses", type="reasoning", summary=summary, encrypted_content="A" * 900)
    assert beside(long) == ceil(900 / 3.5) + ceil((5350 - 900) / 3.5)
    assert beside(short) == ceil(900 / 3.5)


def test_signatures_of_gemini_count_nothing():
    extra = json.dumps({"aaa:gemini": {"part": {"thoughtSignature": SEALED}}})
    assert beside(Message("assistant", "x", (ToolCall("1", "f", "{}", extra),), extra=extra)) == 0


@pytest.mark.parametrize(
    "message",
    [
        said(content=None, tool_calls=None),
        said(thinking=WORDS, id="x" * 999, usage={"text": WORDS}, annotations=[{"quote": WORDS}]),
        Message("user", (TextPart("x", json.dumps({"cache_control": {"type": "ephemeral"}})),)),
    ],
)
def test_keys_that_no_server_shows_its_model_count_nothing(message):
    assert beside(message) == 0


@pytest.mark.parametrize("text", ["{" * 5000, "[" * 100_000, '{"a":' * 100_000])
def test_what_can_not_be_read_counts_as_it_stands(text):
    expected = ceil(len(text) / 3.5)
    assert beside(Message("assistant", (OpaquePart("odd", text), TextPart("x")))) == expected
    assert beside(Message("assistant", "x", extra=text)) == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"images": [base64(png(1000, 750))]},
        {"images": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64(png(1000, 750))}"}}]},
        {"attachments": [{"type": "image", "data": base64(jpeg(1000, 750))}]},
        {"experimental_attachments": [{"contentType": "image/webp", "url": base64(webp(1000, 750))}]},
        {"screenshot": base64(png(1000, 750))},
    ],
    ids=str,
)
def test_images_under_other_keys_count_by_the_rule(fields):
    assert beside(message_from_dict({"role": "user", "content": "x", **fields})) == 1000


@pytest.mark.parametrize(
    "fields",
    [
        {"images": ["AAAA" * 999]},
        {"images": ["https://example.org/a.png"]},
        {"attachments": [{"type": "image", "data": "AAAA" * 999}]},
        {"attachments": [{"mimeType": "image/heic", "uri": "file:1", "name": WORDS}]},
    ],
    ids=str,
)
def test_an_image_under_another_key_that_can_not_be_read_is_taken_to_be_large(fields):
    assert beside(message_from_dict({"role": "user", "content": "x", **fields})) == UNKNOWN


@pytest.mark.parametrize(
    "shown",
    [
        part("", type="image", data=base64(png(1000, 750)), mimeType="image/png"),
        part("", type="image", image=f"data:image/png;base64,{base64(png(1000, 750))}"),
        part(
            "openai-responses",
            type="computer_call_output",
            output={"type": "computer_screenshot", "image_url": f"data:image/png;base64,{base64(png(1000, 750))}"},
        ),
        part("openai-responses", type="image_generation_call", result=base64(png(1000, 750))),
    ],
    ids=lambda message: message.content[0].type,
)
@pytest.mark.parametrize("counter", [HeuristicCounter(), counter_for(None)])
def test_images_inside_parts_that_we_do_not_read_as_media_count_by_the_rule(shown, counter):
    assert beside(shown, counter) == 1000


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("data:audio/wav;base64,AAAA", "audio"),
        ("data:video/mp4;base64,AAAA", "video"),
        ("data:application/pdf;base64,AAAA", "document"),
        (base64(b"%PDF-1.7 /Type /Page "), "document"),
        (base64(b"RIFF1234WAVEfmt "), "audio"),
        (base64(b"RIFF1234AVI LIST"), "video"),
        (base64(webp(9, 9)), "image"),
    ],
)
def test_a_string_is_known_for_a_file_by_its_beginning(text, kind):
    assert shape_in(text).kind == kind


@pytest.mark.parametrize(
    "text", ["", "words", "data: 1/2, 3", "data:a/b, c", "data:image", "/9j/ is a path", "R0lGOD? no", "AAAA" * 99]
)
def test_words_are_no_file(text):
    assert shape_in(text) is None


def test_a_message_of_plain_text_is_counted_without_a_look_beside_it():
    class Counting(HeuristicCounter):
        def count(self, messages, tools=()):
            raise AssertionError("counted twice")

    assert Measure(Counting()).message(Message("user", "abc", (ToolCall("1", "f"),))) == 14


def test_a_policy_does_not_send_thoughts_that_it_did_not_count():
    thought = said(reasoning_content=WORDS * 10)
    messages = [Message("user", "q"), *[thought, Message("user", "n")] * 20]
    plan = asyncio.run(ContextPolicy(10_000, reserve_output=0).plan(messages))
    assert plan.tokens_before > 20 * 9000 / 3.5
    assert plan.tokens_after <= 10_000


def test_media_parts_and_words_add_up():
    parts = (image(png(1000, 750)), OpaquePart("thinking", json.dumps({"type": "thinking", "thinking": "t" * 35})))
    assert beside(Message("assistant", parts, extra='{"refusal":"abcdefg"}')) == 1000 + 12
