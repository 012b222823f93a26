"""The tokens of a request, and how much of it a prompt cache had.

The rule of every server here: the parts of the prompt in the order in which providers cache them (tools, system,
messages), each as compact JSON without `cache_control`; four characters are a token. Media count IMAGE_TOKENS each,
whatever their size.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

__all__ = ["CHARS_PER_TOKEN", "IMAGE_TOKENS", "BreakpointCache", "PrefixCache", "rendered", "tokens"]

CHARS_PER_TOKEN = 4
IMAGE_TOKENS = 768
_MEDIA_KEYS = {"data", "file_data", "images", "image_data"}
_MEDIA = "#" * (IMAGE_TOKENS * CHARS_PER_TOKEN)
_LOOKBACK = 20  # blocks before a breakpoint that Anthropic looks at


def tokens(text: str) -> int:
    return len(text) // CHARS_PER_TOKEN


def rendered(value: Any) -> str:
    """A part of the prompt as the text that is counted and cached."""
    return json.dumps(_without_media(value), ensure_ascii=False, separators=(",", ":"))


def _without_media(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        is_hidden = value.get("type") == "redacted_thinking"
        return {k: _without_media(v, "" if is_hidden else k) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list):
        return [_without_media(item, key) for item in value]
    is_media = isinstance(value, str) and (key in _MEDIA_KEYS or value.startswith("data:"))
    return _MEDIA if is_media else value


class PrefixCache:
    """Automatic caching: what a prompt shares with the beginning of an earlier one, down to a multiple of `step`."""

    def __init__(self, minimum: int = 0, step: int = 1) -> None:
        self.minimum = minimum
        self.step = step
        self._seen: list[str] = []

    def read(self, prompt: str) -> int:
        """Tokens of `prompt` that were cached; it is cached from now on. Never all: the last is always computed."""
        shared = max((_shared(prompt, seen) for seen in self._seen), default=0)
        self._seen = [*self._seen[-31:], prompt]
        cached = min(shared, len(prompt) - CHARS_PER_TOKEN) // CHARS_PER_TOKEN // self.step * self.step
        return cached if cached >= max(self.minimum, 1) else 0


class BreakpointCache:
    """Anthropic's: prefixes are written where `cache_control` stands, and read at or a little before it."""

    def __init__(self, minimum: int = 0) -> None:
        self.minimum = minimum
        self._written: set[bytes] = set()

    def read(self, blocks: Sequence[tuple[str, bool]]) -> tuple[int, int]:
        """(tokens read, tokens written) of a prompt, given as its blocks and whether each carries a breakpoint."""
        prefixes = list(_prefixes(text for text, _ in blocks))
        marked = [index for index, (_, is_breakpoint) in enumerate(blocks) if is_breakpoint]
        near = {at for index in marked for at in range(max(0, index - _LOOKBACK + 1), index + 1)}
        cached = max((prefixes[at][1] for at in near if prefixes[at][0] in self._written), default=0)
        written = self._write([prefixes[index] for index in marked])
        return cached, max(0, written - cached)

    def _write(self, prefixes: Sequence[tuple[bytes, int]]) -> int:
        long_enough = [(digest, size) for digest, size in prefixes if size >= self.minimum]
        self._written.update(digest for digest, _ in long_enough)
        return max((size for _, size in long_enough), default=0)


def _prefixes(texts: Iterable[str]) -> Iterator[tuple[bytes, int]]:
    """Of each prefix its digest and its tokens."""
    digest, characters = sha256(), 0
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass"))
        characters += len(text)
        yield digest.digest(), characters // CHARS_PER_TOKEN


def _shared(one: str, other: str) -> int:
    """Characters that two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low
