"""A reply of Gemini's while it streams: chunks in the shape of whole replies, whose parts come one after the other.

Pieces of text are joined as long as they are of one kind and nothing stands beside them. A signature stays on the part
it came with, which may be an empty text at the end: joined to another, it would not be valid any more (Gemini API,
"Thought signatures", November 2026).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from aaa.errors import BrokenReplyError, quoted
from aaa.messages import Delta, LLMResponse
from aaa.wire.gemini.names import camel
from aaa.wire.gemini.partial import PartialCall
from aaa.wire.gemini.reply import first_candidate, reply_errors, response_from_body
from aaa.wire.lossless import Fields, compact, mapping

__all__ = ["ReplyStream"]


class ReplyStream:
    """Reads a streamed reply chunk by chunk; `error` is the chunk that told of an error, if one did."""

    def __init__(self) -> None:
        self.error: Mapping[str, Any] | None = None
        self._parts: list[Fields] = []
        self._calls = 0
        self._open: PartialCall | None = None
        self._reply: Fields = {}
        self._candidate: Fields = {}

    def feed(self, event: Mapping[str, Any]) -> Sequence[Delta]:
        """Take in the next chunk; what became visible by it.

        Raises:
            BrokenReplyError: it is not what the format says.
        """
        with reply_errors():
            fields = mapping(event, "a chunk")
            if fields.get("error"):
                self.error = fields
                return ()
            self._reply |= {key: value for key, value in fields.items() if key != "candidates" and value is not None}
            candidate = first_candidate(fields)
            return self._grow(candidate) if candidate is not None else ()

    def response(self) -> LLMResponse:
        """The whole reply.

        Raises:
            BrokenReplyError: an error came, or the stream ended before its end was announced.
        """
        if self.error is not None:
            raise BrokenReplyError(quoted(f"an error ended the reply: {self.error['error']}"))
        if not self._is_whole():
            raise BrokenReplyError(f"the reply ended half-way, after {len(self._parts)} parts; no finishReason came")
        self._close()
        if not self._candidate:
            return response_from_body(self._reply)
        content = {"role": "model", "parts": self._parts}
        return response_from_body(self._reply | {"candidates": [self._candidate | {"content": content}]})

    def _is_whole(self) -> bool:
        return bool(self._candidate.get("finishReason")) or (not self._candidate and "promptFeedback" in self._reply)

    def _grow(self, candidate: Mapping[str, Any]) -> list[Delta]:
        self._candidate |= {key: value for key, value in candidate.items() if key != "content" and value is not None}
        self._candidate.setdefault("index", 0)
        content = mapping(candidate.get("content") or {}, "the content of a candidate")
        deltas: list[Delta] = []
        for part in cast("Sequence[Any]", content.get("parts") or ()):
            fields, _ = camel(mapping(part, "a part"))
            deltas += self._call(fields) if isinstance(fields.get("functionCall"), Mapping) else self._part(fields)
        return deltas

    def _part(self, part: Fields) -> list[Delta]:
        text = part.get("text")
        if text == "" and _is_bare(part):
            return []  # the last chunk often has one
        deltas = self._close()
        if not isinstance(text, str):
            self._parts.append(part)
            return deltas
        kind: Literal["text", "thinking"] = "thinking" if part.get("thought") is True else "text"
        if self._parts and _are_joined(self._parts[-1], part):
            self._parts[-1] = self._parts[-1] | {"text": self._parts[-1]["text"] + text}
        else:
            self._parts.append(part)
        return [*deltas, Delta(kind, text)] if text else deltas

    def _call(self, part: Fields) -> list[Delta]:
        call, _ = camel(part["functionCall"])
        deltas = self._close() if call.get("name") else []
        if self._open is None:
            if not call.get("name") and _is_bare(part):
                return deltas  # the end of a call that has ended
            self._open = PartialCall()
        self._open.grow(part, call)
        return deltas if call.get("willContinue") else [*deltas, *self._close()]

    def _close(self) -> list[Delta]:
        """The call that was growing is whole."""
        if self._open is None:
            return []
        part, self._open = self._open.part(), None
        self._parts.append(part)
        self._calls += 1
        return [Delta("arguments", compact(part["functionCall"].get("args") or {}), self._calls - 1)]


def _is_bare(part: Fields) -> bool:
    """Whether nothing stands beside a text, or in a call."""
    return not any(value for key, value in part.items() if key not in ("text", "thought"))


def _are_joined(before: Fields, part: Fields) -> bool:
    is_text = isinstance(before.get("text"), str) and _is_bare(before) and _is_bare(part)
    return is_text and bool(before.get("thought")) == bool(part.get("thought"))
