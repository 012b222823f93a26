"""Images, sound, films and documents, counted by the provider's rule."""

import asyncio
import json
import struct
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.context import CalibratedCounter, ContextPolicy, HeuristicCounter, PromptFitter, counter_for
from aaa.context.counters.media import media_rule
from aaa.context.counters.shapes import Shape, shape_of
from aaa.errors import ContextFloorError
from aaa.messages import Message, OpaquePart, TextPart, ToolCall


def png(width, height):
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", width, height)


def jpeg(width, height):
    app = b"\xff\xe0" + struct.pack(">H", 300) + b"x" * 298
    return b"\xff\xd8" + app + b"\xff\xc0" + struct.pack(">HBHH", 17, 8, height, width) + b"\x00" * 10


def gif(width, height):
    return b"GIF89a" + struct.pack("<HH", width, height)


def webp(width, height):
    size = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return b"RIFF\x00\x00\x00\x00WEBPVP8X" + b"\x00" * 8 + size


def webp_lossless(width, height):
    bits = (width - 1) | (height - 1) << 14
    return b"RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f" + struct.pack("<I", bits)


def webp_lossy(width, height):
    return b"RIFF\x00\x00\x00\x00WEBPVP8 " + b"\x00" * 10 + struct.pack("<HH", width, height)


def image(data, detail=None, pad=0):
    text = b64encode(data + b"\x00" * pad).decode()
    fields = {"url": f"data:image/png;base64,{text}"} | ({"detail": detail} if detail else {})
    return OpaquePart("image_url", json.dumps({"type": "image_url", "image_url": fields}))


def linked(url="https://example.org/a.png"):
    return OpaquePart("image_url", json.dumps({"type": "image_url", "image_url": {"url": url}}))


def document(data, mime_type="application/pdf"):
    source = {"type": "base64", "media_type": mime_type, "data": b64encode(data).decode()}
    return OpaquePart("document", json.dumps({"type": "document", "source": source}), "anthropic")


def sound(data):
    fields = {"data": b64encode(data).decode(), "format": "wav"}
    return OpaquePart("input_audio", json.dumps({"type": "input_audio", "input_audio": fields}))


def shown(*parts):
    return Message("user", (TextPart("see"), *parts))


@pytest.mark.parametrize("write", [png, jpeg, gif, webp, webp_lossless, webp_lossy])
def test_the_size_of_an_image_is_read_from_its_first_bytes(write):
    assert shape_of(image(write(640, 480), pad=900_000)) == Shape("image", 640, 480)


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"\xff\xd8\xff\xe0\x00\x00" * 9, b"GIF", b"<svg/>"]
)
def test_an_image_that_can_not_be_read_has_no_known_size(data):
    assert shape_of(image(data)) == Shape("image")
    assert shape_of(linked()) == Shape("image")


@given(st.binary(max_size=200), st.sampled_from((b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF1234WEBPVP8X")))
def test_no_bytes_make_reading_fail(data, start):
    assert shape_of(image(start + data)).kind == "image"


def test_a_part_that_shows_nothing_has_no_shape():
    assert shape_of(OpaquePart("thinking", '{"type":"thinking","thinking":"x"}', "anthropic")) is None


@pytest.mark.parametrize(
    ("name", "size", "tokens"),
    [
        ("gpt-4o", (1024, 1024), 765),
        ("gpt-4o", (2048, 4096), 1105),
        ("openai", (64, 64), 255),
        ("gpt-4.1-mini", (1024, 1024), 1659),
        ("gpt-4.1-mini", (8000, 8000), 2489),
        ("openai/o4-mini", (320, 320), 172),
        ("claude-sonnet-4-5", (1000, 750), 1000),
        ("claude-sonnet-4-5-20250929", (8000, 8000), 1600),
        ("claude-opus-4-8", (1800, 1500), 3600),
        ("anthropic", (100, 100), 14),
        ("gemini-2.5-pro", (300, 384), 258),
        ("gemini", (1000, 1000), 4 * 258),
        ("gemini", (2**32 - 1, 2**31), 4 * 2 * 258),
        ("gemini", (1000, 0), 4 * 258),
        (None, (1000, 750), 1000),
        ("something", (8, 8), 85),
    ],
)
def test_an_image_costs_what_the_provider_says(name, size, tokens):
    assert media_rule(name)(Shape("image", *size)) == tokens


@pytest.mark.parametrize("name", [None, "openai", "gpt-4.1-nano", "claude-opus-4-1", "claude-opus-5-0", "gemini-3-pro"])
def test_an_image_of_unknown_size_is_taken_to_be_large(name):
    rule = media_rule(name)
    assert 85 < rule(Shape("image")) <= 5000
    assert rule(Shape("image")) >= rule(Shape("image", 700, 700))


def test_low_detail_has_one_price():
    counter = counter_for("gpt-4o")
    high, low = shown(image(png(2000, 2000))), shown(image(png(2000, 2000), "low"))
    assert counter.count([low]) - counter.count([shown()]) == 85
    assert counter.count([high]) - counter.count([shown()]) == 765


def test_the_length_of_the_encoding_does_not_matter_and_two_pictures_cost_more_than_one():
    counter = counter_for(None)
    small, large = shown(image(png(500, 500))), shown(image(png(500, 500), pad=3_000_000))
    assert counter.count([small]) == counter.count([large])
    assert counter.count([shown(image(png(500, 500)), image(png(500, 500)))]) > counter.count([small])


def test_documents_cost_by_the_page_sound_by_the_second_and_plain_text_by_its_length():
    rule = media_rule("claude-opus-4-1")
    pages = b"%PDF-1.7 /Type /Pages " + b"/Type /Page >>" * 7
    assert rule(shape_of(document(pages))) == 7 * 3000
    assert rule(shape_of(document(b"x" * 3500, "text/plain"))) == 1000
    wave = b"RIFF\x00\x00\x00\x00WAVE" + b"\x00" * 16 + struct.pack("<I", 8000)
    assert media_rule("gemini")(shape_of(sound(wave + b"\x00" * (80_000 - len(wave))))) == 320
    assert media_rule("openai")(shape_of(sound(b"\x00" * 160_000))) == 100
    assert media_rule("gemini")(Shape("video", seconds=10)) == 2630


@pytest.mark.parametrize("rate", [0, 1, 36, 999, 2**32 - 1])
def test_a_wav_header_that_tells_no_speed_of_sound_recordings_is_not_believed(rate):
    header = b"RIFF\x00\x00\x00\x00WAVE" + b"\x00" * 16 + struct.pack("<I", rate)
    assert shape_of(sound(header + b"\x00" * (160_000 - len(header)))).seconds == 10


def test_thinking_counts_by_its_words_and_not_by_its_signature():
    def thought(words, signature):
        fields = {"type": "thinking", "thinking": words, "signature": signature}
        return Message("assistant", (OpaquePart("thinking", json.dumps(fields), "anthropic"),))

    counter = counter_for("claude-opus-4-1")
    short, long = counter.count([thought("a" * 100, "s" * 9000)]), counter.count([thought("a" * 10_000, "s")])
    assert short < 100
    assert long > 4000


def test_newer_models_of_a_family_have_more_tokens_for_the_same_text():
    message = Message("user", "some words about code\n" * 200)
    sizes = [
        counter_for(name).count([message]) for name in ("gpt-4o", "gemini-2.5-pro", "claude-3-5", "claude-opus-4-8")
    ]
    assert sizes == sorted(sizes)


def test_the_heuristic_is_literal_and_a_policy_is_not():
    messages = [shown(image(png(1000, 750)))]
    assert HeuristicCounter().count(messages) == 5
    fitter = PromptFitter(ContextPolicy(10_000))
    assert fitter.fit_sync(messages).plan is not None
    assert fitter.sent.raw == 1005


def test_a_report_about_an_image_does_not_make_text_dearer():
    policy = ContextPolicy(100_000)
    fitter = PromptFitter(policy)
    fitter.fit_sync([shown(image(png(1000, 750)))])
    fitter.record(1005)
    assert fitter.counter.ratio(None) == 1.0
    policy.observe(None, [shown(image(png(1000, 750)))], (), 1005)
    assert policy.counter.ratio(None) == 1.0


def screenshots(count):
    messages = [Message("user", "look around")]
    for number in range(count):
        call = ToolCall(str(number), "screenshot")
        picture = (TextPart("done"), image(png(1000, 750), pad=number))
        messages += [Message("assistant", None, (call,)), Message("tool", picture, (), str(number))]
    return messages


@pytest.mark.parametrize("counter", [None, HeuristicCounter(), counter_for("anthropic"), CalibratedCounter()])
def test_a_prompt_of_screenshots_is_made_to_fit(counter):
    policy = ContextPolicy(8_000, reserve_output=0, counter=counter)
    prompt = asyncio.run(policy.prepare(screenshots(30)))
    pictures = [m for m in prompt.messages if isinstance(m.content, tuple) and len(m.content) == 2]
    assert 1 <= len(pictures) <= 7
    assert prompt.plan.tokens_after <= 8_000


def test_the_first_picture_of_a_conversation_is_left_alone():
    messages = [Message("system", "sys"), shown(image(b"", pad=1_000_000))]
    assert asyncio.run(ContextPolicy(200_000).prepare(messages)).messages is messages


def test_a_picture_that_can_not_fit_is_named_in_the_error():
    messages = [Message("user", "t"), Message("assistant", "ok"), shown(image(png(1000, 750)))]
    with pytest.raises(ContextFloorError) as caught:
        asyncio.run(ContextPolicy(500, reserve_output=0).prepare(messages))
    assert caught.value.largest[0] == (2, "user", 1005)
    assert caught.value.needed_tokens >= 1005
