"""A reply in Anthropic's format while it streams, put together to the body that it would be in one piece.

    message_start
        content_block_start   content_block_delta …   content_block_stop        one such run for each block
    message_delta                                                               why it stopped; usage
    message_stop

Pieces of text, thinking and a call's input are joined, citations listed; any other delta (a signature, the summary of
a compaction, a kind that we do not know) brings whole values of its block's fields.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from aaa.errors import BrokenReplyError, WireError, quoted
from aaa.messages import Delta, LLMResponse
from aaa.wire.anthropic.notes import note_once
from aaa.wire.anthropic.reply import reply_errors, response_from_body
from aaa.wire.arguments import object_or_wrapped
from aaa.wire.lossless import Fields, mapping

__all__ = ["ReplyStream"]

_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
_VALUES = ("signature_delta", "compaction_delta")
_PROMPT_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_VISIBLE: dict[str, Literal["text", "thinking"]] = {"text": "text", "thinking": "thinking"}


class ReplyStream:
    """Reads a streamed reply event by event; `error` is the body of an error event, if one came."""

    def __init__(self) -> None:
        self.error: Mapping[str, Any] | None = None
        self._message: Fields = {}
        self._blocks: dict[int, _Block] = {}
        self._usage: Fields = {}
        self._is_whole = False

    def feed(self, event: Mapping[str, Any]) -> Sequence[Delta]:
        """Take in the next event; what became visible by it. Events of unknown types are passed over.

        Raises:
            BrokenReplyError: it is not what the format says.
        """
        with reply_errors():
            fields = mapping(event, "an event")
            match fields.get("type"):
                case "message_start":
                    self._note(mapping(fields["message"], "the message of a message_start event"))
                case "content_block_start":
                    return self._begin(fields["index"], mapping(fields["content_block"], "a content block"))
                case "content_block_delta":
                    return self._grow(fields["index"], mapping(fields["delta"], "a delta"))
                case "message_delta":
                    self._note({**mapping(fields["delta"], "a delta"), "usage": fields.get("usage")})
                case "message_stop":
                    self._is_whole = True
                case "error":
                    self.error = fields
                case _:
                    pass
        return ()

    def response(self) -> LLMResponse:
        """The whole reply.

        Raises:
            BrokenReplyError: an error came, or the stream ended before its end was announced.
        """
        if self.error is not None:
            raise BrokenReplyError(f"an error ended the reply: {quoted(str(self.error.get('error')))}")
        if not self._is_whole:
            raise BrokenReplyError(f"the reply ended half-way, in block {len(self._blocks)}; no message_stop came")
        with reply_errors():
            content = [block.fields() for _, block in sorted(self._blocks.items())]
            return response_from_body(self._message | {"content": content, "usage": self._usage})

    def _note(self, fields: Mapping[str, Any]) -> None:
        self._usage = _usage_after(self._usage, mapping(fields.get("usage") or {}, "usage"))
        self._message.update((key, value) for key, value in fields.items() if value is not None)

    def _begin(self, index: int, fields: Mapping[str, Any]) -> Sequence[Delta]:
        calls = sum(block.is_call for block in self._blocks.values())
        self._blocks[index] = _Block(fields, calls)
        if fields.get("type") == "fallback":  # another model goes on from here
            self._message["model"] = fields["to"]["model"]
        kind = _VISIBLE.get(fields["type"])
        return (Delta(kind, fields[kind]),) if kind and fields.get(kind) else ()

    def _grow(self, index: int, delta: Mapping[str, Any]) -> Sequence[Delta]:
        if index not in self._blocks:
            raise WireError("a delta came for a block that has not begun")
        return self._blocks[index].grow(delta)


class _Block:
    """A block that grows; `number` is how many calls there are before it."""

    def __init__(self, fields: Mapping[str, Any], number: int) -> None:
        self._fields = dict(fields)
        self._pieces: dict[str, list[str]] = {}
        self._number = number

    @property
    def is_call(self) -> bool:
        return self._fields.get("type") == "tool_use"

    def grow(self, delta: Mapping[str, Any]) -> Sequence[Delta]:
        kind = delta["type"]
        if kind in _PIECES:
            return self._join(_PIECES[kind], delta[_PIECES[kind]])
        if kind == "citations_delta":
            self._fields["citations"] = [*(self._fields.get("citations") or ()), delta["citation"]]
            return ()
        if kind not in _VALUES:
            note_once("deltas of type %s are not known; they are laid over their block", str(kind))
        self._fields.update((key, value) for key, value in delta.items() if key != "type")
        return ()

    def _join(self, key: str, piece: str) -> Sequence[Delta]:
        self._pieces.setdefault(key, []).append(piece)
        if not piece:
            return ()
        if key in _VISIBLE:
            return (Delta(_VISIBLE[key], piece),)
        return (Delta("arguments", piece, self._number),) if self.is_call else ()

    def fields(self) -> Fields:
        """The block as it is in a reply of one piece."""
        joined = {key: "".join(pieces) for key, pieces in self._pieces.items()}
        arguments = joined.pop("partial_json", "")
        fields = self._fields | {key: (self._fields.get(key) or "") + text for key, text in joined.items()}
        return fields | {"input": object_or_wrapped(arguments)} if arguments else fields


def _usage_after(before: Fields, news: Mapping[str, Any]) -> Fields:
    """Usage when more of it is known. Counts are those of the whole call so far, so a zero is news too: after a
    compaction nothing of the prompt is from the cache. Only zeros for all of the prompt are none (gateways)."""
    is_of_prompt = any(news.get(key) for key in _PROMPT_COUNTS)
    usage = {key: value for key, value in before.items() if key != "cache_creation" or not is_of_prompt}
    usage.update(
        (key, value) for key, value in news.items() if value is not None and (is_of_prompt or key not in _PROMPT_COUNTS)
    )
    return usage
