"""A reply of Ollama's, in one piece or line by line.

    {"message": {"content": "It "}, "done": false}
    {"message": {"content": "is."}, "done": true, "done_reason": "stop", "prompt_eval_count": 26, "eval_count": 3}

Text and thinking come in pieces, each call in one. Usage stands in the last line, beside `done`.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, cast

from aaa.errors import BrokenReplyError, WireError, quoted
from aaa.messages import Delta, LLMResponse
from aaa.wire.lossless import Fields, compact, errors_at, mapping
from aaa.wire.made_ids import stem_of
from aaa.wire.ollama.messages import reply_from
from aaa.wire.usage import usage_from

__all__ = ["ReplyStream", "response_from_body"]


_KINDS: dict[str, Literal["text", "thinking"]] = {"thinking": "thinking", "content": "text"}


def response_from_body(body: Mapping[str, Any]) -> LLMResponse:
    """Read a reply.

    Raises:
        BrokenReplyError: it is not what the format says.
    """
    with _reply_errors():
        fields = mapping(body, "a reply")
        message = reply_from(fields.get("message"), stem_of(fields.get("created_at")))
        model, reason = fields.get("model"), fields.get("done_reason")
        if message.tool_calls and reason in (None, "", "stop"):
            reason = "tool_calls"
        return LLMResponse(
            message,
            usage_from("ollama", fields),
            model if isinstance(model, str) else None,
            reason if isinstance(reason, str) and reason else None,
        )


class ReplyStream:
    """Reads a streamed reply line by line; `error` is the line that told of an error, if one did."""

    def __init__(self) -> None:
        self.error: Mapping[str, Any] | None = None
        self._last: Fields = {}
        self._message: Fields = {}
        self._pieces: dict[str, list[str]] = {key: [] for key in _KINDS}
        self._calls: list[Any] = []

    def feed(self, event: Mapping[str, Any]) -> Sequence[Delta]:
        """Take in the next line; what became visible by it.

        Raises:
            BrokenReplyError: it is not what the format says.
        """
        with _reply_errors():
            fields = mapping(event, "a line of the reply")
            if fields.get("error"):
                self.error = fields
                return ()
            self._last = dict(fields)
            return self._grow(mapping(fields.get("message") or {}, "the message of a reply"))

    def response(self) -> LLMResponse:
        """The whole reply.

        Raises:
            BrokenReplyError: an error came, or the stream ended before its end was announced.
        """
        if self.error is not None:
            raise BrokenReplyError(quoted(f"an error ended the reply: {self.error['error']}"))
        if self._last.get("done") is not True:
            raise BrokenReplyError(f"the reply ended half-way, after {sum(map(len, self._pieces.values()))} pieces")
        said = {key: "".join(pieces) for key, pieces in self._pieces.items() if pieces or key == "content"}
        calls = {"tool_calls": self._calls} if self._calls else {}
        return response_from_body(self._last | {"message": self._message | said | calls})

    def _grow(self, message: Mapping[str, Any]) -> list[Delta]:
        deltas: list[Delta] = []
        for key, kind in _KINDS.items():
            if piece := message.get(key):
                if not isinstance(piece, str):
                    raise WireError(f"{key} must be a string, not {type(piece).__name__}")
                self._pieces[key].append(piece)
                deltas.append(Delta(kind, piece))
        for call in cast("Sequence[Any]", message.get("tool_calls") or ()):
            function = mapping(mapping(call, "a tool call").get("function"), "the function of a tool call")
            deltas.append(Delta("arguments", compact(function.get("arguments") or {}), len(self._calls)))
            self._calls.append(call)
        self._message |= {key: value for key, value in message.items() if value and key not in self._pieces}
        return deltas


@contextmanager
def _reply_errors() -> Generator[None, None, None]:
    """A reply that is not in the format is the server's fault, not the caller's."""
    try:
        with errors_at(None, ""):
            yield
    except WireError as error:
        raise BrokenReplyError(f"ollama's reply is not in its format: {error.problem}") from error
