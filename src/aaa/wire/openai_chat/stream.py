"""A streamed reply of OpenAI's chat format.

Usage comes in the last chunk, which has no choices; llama-server's `timings` stand for it where it was not asked for.
An error in mid-stream is a chunk with `error` (OpenRouter adds the finish reason "error"; llama-server ends there):
it is kept in `error`, for the client to tell what it means. Source: recorded streams of 15 servers, 2026.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from aaa.errors import BrokenReplyError
from aaa.messages import Delta, LLMResponse
from aaa.wire.lossless import Fields, mapping
from aaa.wire.openai_chat.calls import CallFragments
from aaa.wire.openai_chat.delta import laid, thought_in, visible_in
from aaa.wire.openai_chat.reply import broken_by, error_in, response_of, usage_in
from aaa.wire.usage import merged_usage

__all__ = ["ReplyStream"]


class ReplyStream:
    """Reads the chunks of one reply; of several choices the first.

    `error` is the provider's own error object, once one has come.
    """

    def __init__(self) -> None:
        self.error: Mapping[str, Any] | None = None
        self._message: Fields = {}
        self._calls = CallFragments()
        self._model: str | None = None
        self._finish_reason: str | None = None
        self._usage: Fields = {}

    def feed(self, event: Mapping[str, Any]) -> Sequence[Delta]:
        """Take in one chunk; what became visible by it.

        Raises:
            WireError: it is no object.
        """
        chunk = mapping(event, "a chunk")
        self.error = self.error or error_in(chunk)
        self._model = self._model or chunk.get("model") or None
        self._usage = merged_usage([self._usage, usage_in(chunk)])
        choices = [mapping(choice, "a choice") for choice in chunk.get("choices") or ()]
        return [delta for choice in choices if not choice.get("index") for delta in self._take(choice)]

    def response(self) -> LLMResponse:
        """The whole reply.

        Raises:
            BrokenReplyError: it ended without a finish reason, with an error, or is not what the format says.
        """
        if self.error is not None:
            raise broken_by(self.error)
        if self._finish_reason is None:
            raise BrokenReplyError("the stream ended without a finish_reason")
        message = self._message | ({"tool_calls": self._calls.calls} if self._calls.calls else {})
        return response_of(message, self._finish_reason, usage=self._usage, model=self._model)

    def _take(self, choice: Mapping[str, Any]) -> list[Delta]:
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        if self._finish_reason == "error" and self.error is None:
            self.error = {"message": "the reply ended with finish_reason 'error'"}
        delta = choice.get("delta", choice.get("message"))
        if not delta:
            return []
        fields = mapping(delta, "a delta")
        laid(self._message, fields)
        shown = [Delta("thinking", thought_in(fields)), Delta("text", visible_in(fields))]
        return [piece for piece in [*shown, *self._call_deltas(fields)] if piece.text]

    def _call_deltas(self, delta: Mapping[str, Any]) -> list[Delta]:
        pieces: list[Delta] = []
        for fragment in delta.get("tool_calls") or ():
            place, text = self._calls.add(mapping(fragment, "a tool call"))
            pieces.append(Delta("arguments", text, place))
        if isinstance(delta.get("function_call"), Mapping):  # before November 2023: one call, without an id
            pieces.append(Delta("arguments", self._legacy(cast("Mapping[str, Any]", delta["function_call"]))))
        return pieces

    def _legacy(self, fragment: Mapping[str, Any]) -> str:
        call: Fields = self._message.setdefault("function_call", {"name": "", "arguments": ""})
        call["name"] = call["name"] or fragment.get("name") or ""
        text = fragment.get("arguments")
        call["arguments"] += text if isinstance(text, str) else ""
        return text if isinstance(text, str) else ""
