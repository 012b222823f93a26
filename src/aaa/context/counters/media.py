"""What images, sound, films and documents cost, by each provider's rule.

| provider | image | other |
|---|---|---|
| OpenAI, tiles | within 2048², short side 768: 170 for each 512² and 85; low detail 85 | sound 10 / s, page 1,500 |
| OpenAI, patches | 32² each, at most 1,536, times a factor of the model | |
| Anthropic | w · h / 750, scaled to 1,568 (from 4.7 on: 2,576) pixels and a cap | page 3,000 |
| Gemini | within 3,072²: 258 for each 768², 258 in all up to 384² | sound 32 / s, film 263 / s, page 258 |
| others | w · h / 750, from 85 to 1,600 | as the dearest of these |

What can not be looked at is taken to be large. Source: the providers' pages as of 2026-11; factors of gpt-5 models as
users measured them.
"""

import re
from collections.abc import Callable
from functools import cache, partial
from math import ceil

from aaa.context.counters.shapes import Shape

__all__ = ["MediaRule", "media_rule"]

MediaRule = Callable[[Shape], int]

_PATCH_FACTORS = (
    ("gpt-4.1-mini", 1.62),
    ("gpt-4.1-nano", 2.46),
    ("o4-mini", 1.72),
    ("gpt-5-nano", 1.5),
    ("gpt-5-mini", 1.2),
    ("gpt-5.", 1.2),
)
_PATCHES = 1536
_CHARS_PER_TOKEN = 3.5
_NEWER_CLAUDE = (4, 7)


def media_rule(*names: str | None) -> MediaRule:
    """The rule of the first of `names` that is a known model or provider; the general one if none is."""
    rules = (_rule_of((name or "").rsplit("/", maxsplit=1)[-1].lower()) for name in names)
    return next((rule for rule in rules if rule is not None), _general)


@cache
def _rule_of(name: str) -> MediaRule | None:
    if name.startswith(("openai", "gpt", "o1", "o3", "o4", "chatgpt")):
        factor = next((factor for start, factor in _PATCH_FACTORS if name.startswith(start)), None)
        return _openai_tiles if factor is None else partial(_openai_patches, factor=factor)
    if name.startswith(("anthropic", "claude")):
        return _newer_claude if _claude_version(name) >= _NEWER_CLAUDE else _claude
    return _gemini if name.startswith("gemini") else None


def _claude_version(name: str) -> tuple[int, int]:
    found = re.search(r"claude-[a-z]+-(\d{1,2})(?:[-.](\d{1,2})(?!\d))?", name)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def _openai_tiles(shape: Shape) -> int:
    if shape.kind != "image":
        return _other(shape, per_second=10, per_page=1500)
    if shape.detail == "low":
        return 85
    width, height = _within(shape.width or 2048, shape.height or 768, longest=2048)
    shrink = min(1.0, 768 / min(width, height))
    return 85 + 170 * ceil(width * shrink / 512 - 1e-9) * ceil(height * shrink / 512 - 1e-9)


def _openai_patches(shape: Shape, factor: float) -> int:
    if shape.kind != "image":
        return _openai_tiles(shape)
    patches = ceil(shape.width / 32) * ceil(shape.height / 32) or _PATCHES
    return ceil(min(patches, _PATCHES) * factor)


def _claude(shape: Shape) -> int:
    return _by_area(shape, longest=1568, cap=1600) if shape.kind == "image" else _other(shape, per_page=3000)


def _newer_claude(shape: Shape) -> int:
    return _by_area(shape, longest=2576, cap=4784) if shape.kind == "image" else _other(shape, per_page=3000)


def _gemini(shape: Shape) -> int:
    if shape.kind != "image":
        return _other(shape, per_second=263 if shape.kind == "video" else 32, per_page=258)
    if not shape.width or not shape.height:
        return 4 * 258
    if max(shape.width, shape.height) <= 384:
        return 258
    width, height = _within(shape.width, shape.height, longest=3072)
    return 258 * ceil(width / 768 - 1e-9) * ceil(height / 768 - 1e-9)


def _general(shape: Shape) -> int:
    if shape.kind == "image":
        return max(_by_area(shape, longest=1568, cap=1600), 85)
    return _other(shape, per_second=263 if shape.kind == "video" else 32, per_page=3000)


def _by_area(shape: Shape, *, longest: int, cap: int) -> int:
    if not shape.width or not shape.height:
        return cap
    width, height = _within(shape.width, shape.height, longest=longest)
    return min(ceil(width * height / 750), cap)


def _within(width: int, height: int, *, longest: int) -> tuple[float, float]:
    shrink = min(1.0, longest / max(width, height))
    return max(width * shrink, 1.0), max(height * shrink, 1.0)


def _other(shape: Shape, *, per_page: int, per_second: int = 32) -> int:
    return ceil(shape.seconds * per_second + shape.pages * per_page + shape.chars / _CHARS_PER_TOKEN)
