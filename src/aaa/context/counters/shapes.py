"""How large an image, a sound, a film or a document is: what a provider's price of it depends on.

Read from the first bytes, not from the length of the base64 text; each part once.
"""

import re
from base64 import b64decode
from typing import Literal, cast

import msgspec

from aaa.messages import OpaquePart

__all__ = ["Shape", "shape_in", "shape_of"]

_HEADER = 1 << 18  # characters of base64 in which the size of an image is looked for
_KEPT = 4096  # shapes that are remembered
_BYTES_PER_SECOND = {"audio": 16_000, "video": 250_000}  # of usual recordings; WAV says it itself
_RATES_OF_WAV = range(1_000, 10_000_000)  # bytes a second, from speech codecs to eight channels of a studio
_SECONDS = 60.0  # of a recording that is not here to be looked at
_PAGES = 10  # of a document likewise
_PAGE = re.compile(rb"/Type\s*/Page(?![a-zA-Z])")
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)[^,]{0,200};base64,")
_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]+")
_BEGINNINGS = (("iVBORw0KGgo", "image"), ("/9j/", "image"), ("R0lGOD", "image"), ("JVBERi0", "document"))  # in base64
_RIFF = "UklGR"
_ANY_BEGINNING = (_RIFF, *(beginning for beginning, _ in _BEGINNINGS))
_KIND_IN_RIFF = {b"WEBP": "image", b"AVI ": "video"}
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}

Kind = Literal["image", "audio", "video", "document"]


class Shape(msgspec.Struct, frozen=True):
    """`width` and `height` in pixels, 0 if unknown; `detail` is what the caller asked for (OpenAI: low, high, auto).

    `chars` is the length of a document that is plain text.
    """

    kind: Kind
    width: int = 0
    height: int = 0
    detail: str = ""
    seconds: float = 0.0
    pages: int = 0
    chars: int = 0


_known: dict[tuple[int, int], Shape | None] = {}


def shape_of(part: OpaquePart) -> Shape | None:
    """The shape of the media in a part; None if it holds none. Cost: O(size), once; later a look-up."""
    key = (hash(part), len(part.json))  # not the part itself, which may be megabytes
    if key not in _known:
        if len(_known) >= _KEPT:
            _known.clear()
        _known[key] = _read(part)
    return _known[key]


def shape_in(text: str) -> Shape | None:
    """The shape of a file that a JSON string is: a data URL, or base64 that begins as files do; None if it is words.

    Cost: O(1) for words, else O(size).
    """
    url = _DATA_URL.match(text)
    if url is not None:
        kind = url[1].split("/", maxsplit=1)[0]
        is_known = kind in ("image", "audio", "video")
        return _shape(cast("Kind", kind) if is_known else "document", url[1], text[url.end() :])
    kind = _kind_begun(text)
    return None if kind is None else _shape(kind, "", text)


def _kind_begun(text: str) -> Kind | None:
    if not text.startswith(_ANY_BEGINNING) or not _BASE64.fullmatch(text[:64]):
        return None
    if text.startswith(_RIFF):
        return cast("Kind", _KIND_IN_RIFF.get(_decoded(text[:16])[8:12], "audio"))
    return next(cast("Kind", kind) for beginning, kind in _BEGINNINGS if text.startswith(beginning))


def _read(part: OpaquePart) -> Shape | None:
    from aaa.wire.media import media_of  # not needed before there is any

    media = media_of(part)
    return None if media is None else _shape(media.kind, media.mime_type, media.data, _detail(part))


def _shape(kind: Kind, mime_type: str, data: str | None, detail: str = "") -> Shape:
    if kind == "image":
        width, height = _pixels(_decoded((data or "")[:_HEADER]))
        return Shape("image", width, height, detail=detail)
    decoded = None if data is None else _decoded(data)
    if kind == "document":
        return _document(decoded, mime_type)
    return Shape(kind, seconds=_SECONDS if decoded is None else _seconds(decoded, kind))


def _decoded(data: str) -> bytes:
    try:
        return b64decode(data[: len(data) - len(data) % 4])
    except ValueError:
        return b""


def _detail(part: OpaquePart) -> str:
    found = re.search(r'"detail":\s?"(low|high|auto)"', part.json[:200] + part.json[-200:])
    return found[1] if found else ""


def _document(data: bytes | None, mime_type: str) -> Shape:
    if data is None:
        return Shape("document", pages=_PAGES)
    if mime_type.startswith("text/"):
        return Shape("document", chars=len(data))
    return Shape("document", pages=max(len(_PAGE.findall(data)), 1))


def _seconds(data: bytes, kind: str) -> float:
    rate = int.from_bytes(data[28:32], "little") if data[:4] == b"RIFF" and data[8:12] == b"WAVE" else 0
    return len(data) / (rate if rate in _RATES_OF_WAV else _BYTES_PER_SECOND[kind])


def _pixels(data: bytes) -> tuple[int, int]:
    """Width and height of a PNG, GIF, WebP or JPEG; zeros if it is none of these."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR":
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    return _jpeg(data) if data[:2] == b"\xff\xd8" else (0, 0)


def _webp(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
        case _:
            return 0, 0


def _jpeg(data: bytes) -> tuple[int, int]:
    """The size in the first start-of-frame segment."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        if data[at + 1] in _START_OF_FRAME:
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 0, 0
