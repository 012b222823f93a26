"""Media are seen in the parts of every format, and of libraries that keep their own."""

import json

import pytest

from aaa.messages import OpaquePart
from aaa.wire.media import Media, media_of

PNG = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("format", "part", "expected"),
    [
        ("", {"type": "image", "data": PNG, "mimeType": "image/png"}, Media("image", "image/png", PNG)),
        ("anthropic", {"type": "image", "data": PNG, "mimeType": "image/png"}, Media("image", "image/png", PNG)),
        ("", {"type": "image", "image": f"data:image/png;base64,{PNG}"}, Media("image", "image/png", PNG)),
        ("", {"type": "image", "image": PNG}, Media("image", "", PNG)),
        ("", {"type": "image", "image": "https://x.org/a.png"}, Media("image", url="https://x.org/a.png")),
        ("", {"type": "image", "base64": PNG, "mime_type": "image/png"}, Media("image", "image/png", PNG)),
        ("", {"type": "image", "url": "https://x.org/a.png"}, Media("image", url="https://x.org/a.png")),
        ("", {"type": "file", "data": PNG, "mediaType": "image/png"}, Media("image", "image/png", PNG)),
        (
            "",
            {"type": "file", "data": "JVBERi0=", "mediaType": "application/pdf", "filename": "a.pdf"},
            Media("document", "application/pdf", "JVBERi0=", name="a.pdf"),
        ),
        ("", {"type": "audio", "data": "UklG", "mimeType": "audio/wav"}, Media("audio", "audio/wav", "UklG")),
        (
            "",
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            Media("image", "image/png", PNG),
        ),
        ("", {"type": "image"}, None),
        ("", {"type": "image", "image": {"url": PNG}}, None),
        ("", {"type": "file"}, None),
    ],
)
def test_the_media_of_a_part_are_seen_whatever_library_wrote_it(format, part, expected):
    assert media_of(OpaquePart(part["type"], json.dumps(part), format)) == expected
