"""What a prompt holds beside the text and the calls of its messages, which is all that a literal counter sees.

| in a message | counts |
|---|---|
| media: in parts, in what parts hold, under keys we have no field for | by the rule of the provider |
| words of other parts (thinking, calls a provider ran itself) | as text |
| `reasoning_content`, `reasoning`, … of a chat message | the longest, as text: names for one thing |
| `function_call`, `refusal` of a chat message | as text |
| what is encrypted | what is in it, if more than the words beside it, which tell it in short |
| a signature of thinking | nothing beside words; alone it holds them |
| a signature of Gemini's | nothing |

Sources: "Full thinking content is encrypted and returned in the signature field" (Bedrock's guide to Claude, 2026-11);
the length of what is encrypted as OpenAI's own client has it (openai/codex, context_manager/history.rs); Gemini's
signatures are said to be charged and measured not to be (googleapis/python-genai, issue 1129).
"""

import json
from collections.abc import Callable, Iterator
from math import ceil
from typing import Any, cast

from aaa.context.counters.media import MediaRule
from aaa.context.counters.protocol import TokenCounter
from aaa.context.counters.shapes import Shape, shape_in, shape_of
from aaa.messages import Message, OpaquePart

__all__ = ["beside_tokens"]

_THOUGHTS = ("reasoning_content", "reasoning", "reasoning_text", "reasoning_details")  # "thinking": a caller's own
_SAID = ("function_call", "refusal")
_COUNTED = ("role", "content", "tool_calls", "tool_call_id", "name")  # in a message's own fields
_OURS = "aaa:"  # notes on how to write a message, of which nothing is sent twice
_ENCRYPTED = ("encrypted_content", "data", "redactedContent")
_SIGNATURE = "signature"
_NO_WORDS = frozenset(("thoughtSignature", "thought_signature", "id", "type"))
_IMAGES = frozenset(
    ("image", "image_url", "input_image", "output_image", "image_file", "computer_screenshot", "image_generation_call")
)
_MIME_TYPES = ("mimeType", "mime_type", "media_type", "contentType", "content_type")
_ENVELOPE = 650  # bytes that are not the text
_CHARS_PER_TOKEN = 4  # of what can not be read, where the counter does not go by characters


def beside_tokens(message: Message, counter: TokenCounter, rule: MediaRule) -> int:
    """Tokens of what `counter`, which is literal, does not see in a message: media by `rule`, words as it counts text.

    Cost: none for a message of plain text; else O(parts, length of what is no text). Media of parts are read once.
    """
    if not message.extra and not isinstance(message.content, tuple):
        return 0
    found = list(_found_in(message))
    words = "".join(word for one in found for word in one.words)
    hidden = sum(one.hidden for one in found) / getattr(counter, "chars_per_token", _CHARS_PER_TOKEN)
    return sum(rule(shape) for one in found for shape in one.shapes) + _text_tokens(words, counter) + ceil(hidden)


def _text_tokens(words: str, counter: TokenCounter) -> int:
    return counter.count((Message("user", words),)) - counter.count((Message("user", ""),)) if words else 0


class _Found:
    """The words, media and characters of what can not be read in a JSON value."""

    __slots__ = ("_encrypted", "_signed", "shapes", "words")

    def __init__(self, *shapes: Shape) -> None:
        self.shapes = list(shapes)
        self.words: list[str] = []
        self._encrypted = self._signed = 0

    @property
    def hidden(self) -> int:
        """Characters that the words do not tell."""
        if self._encrypted or self.words:
            return max(self._encrypted - sum(map(len, self.words)), 0)
        return self._signed

    @property
    def length(self) -> int:
        """Characters, of words or not."""
        return sum(map(len, self.words)) + self.hidden

    def take(self, value: Any, key: str = "") -> "_Found":
        """Add what is in `value`, which stands under `key`."""
        match value:
            case str():
                self._take_text(value, key)
            case list():
                for item in cast("list[Any]", value):
                    self.take(item, key)
            case dict() if _is_image(cast("dict[str, Any]", value)):
                self.shapes += _images_in(list(cast("dict[str, Any]", value).values()))
            case dict():
                for name, item in cast("dict[str, Any]", value).items():
                    self.take(item, name)
            case _:
                pass
        return self

    def _take_text(self, text: str, key: str) -> None:
        shape = shape_in(text)
        if shape is not None:
            self.shapes.append(shape)
        elif key in _ENCRYPTED:
            self._encrypted += _length_decrypted(text)
        elif key == _SIGNATURE:
            self._signed += _length_decrypted(text)
        elif key not in _NO_WORDS and text:
            self.words.append(text)


def _found_in(message: Message) -> Iterator[_Found]:
    for part in message.content if isinstance(message.content, tuple) else ():
        if isinstance(part, OpaquePart):
            shape = shape_of(part)
            yield from (_Found(shape),) if shape is not None else _read(part.json, _found_in_part)
    if message.extra:
        yield from _read(message.extra, _found_in_extra)


def _read(text: str, find: Callable[[Any], Iterator[_Found]]) -> list[_Found]:
    """What `find` makes of JSON text; the text itself if it can not be read."""
    try:
        return list(find(json.loads(text)))
    except (ValueError, RecursionError):
        return [_Found().take(text)]


def _found_in_part(value: Any) -> Iterator[_Found]:
    yield _Found().take(value)


def _found_in_extra(value: Any) -> Iterator[_Found]:
    """What is under the keys of a message that we have no field for."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    thoughts = [_Found().take(fields[key]) for key in _THOUGHTS if key in fields]
    yield from sorted(thoughts, key=lambda thought: thought.length)[-1:]
    for key, item in fields.items():
        if key in _SAID:
            yield _Found().take(item)
        elif key == "images" and isinstance(item, list):
            yield _Found(*(shape for image in cast("list[Any]", item) for shape in _images_in(image)))
        elif key not in (*_THOUGHTS, *_COUNTED) and not key.startswith(_OURS):
            yield _Found(*_Found().take(item).shapes)


def _is_image(fields: dict[str, Any]) -> bool:
    return str(fields.get("type")) in _IMAGES or any(str(fields.get(key)).startswith("image/") for key in _MIME_TYPES)


def _images_in(value: Any) -> list[Shape]:
    """The media in what is known to be an image; one of unknown size if they can not be read."""
    return _Found().take(value).shapes or [Shape("image")]


def _length_decrypted(text: str) -> int:
    return max(len(text) * 3 // 4 - _ENVELOPE, 0)
