"""A message of Anthropic's as the events of its stream.

    message_start, for each block: content_block_start, its deltas, content_block_stop; message_delta, message_stop

A ping may come anywhere. A call without arguments has one empty delta; thinking ends with its signature.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.replies import Reply
from tests.servers.transport import dumped
from tests.servers.turn import arguments_of, pieces_of

__all__ = ["message_events", "named_frame"]

_STOP = ("stop_reason", "stop_sequence", "stop_details")
_EMPTY: Mapping[str, Any] = {"text": "", "thinking": "", "signature": "", "input": {}}


def named_frame(event: Mapping[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event["type"].encode(), dumped(event))


def message_events(message: Mapping[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
    """`reply` is where the message came from: of a call that was cut the message no longer has what was written."""
    usage = message["usage"]
    started = {**message, "content": [], **dict.fromkeys(_STOP), "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": started}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        is_last = index == len(message["content"]) - 1
        yield from _block_events(index, block, reply if reply.is_cut and is_last else None)
    yield {
        "type": "message_delta",
        "delta": {key: message[key] for key in _STOP},
        "usage": {key: usage[key] for key in usage if key.endswith("_tokens")},
        **{key: message[key] for key in message if key == "input_transformations"},
    }
    yield {"type": "message_stop"}


def _block_events(index: int, block: Mapping[str, Any], cut: Reply | None) -> Iterator[dict[str, Any]]:
    started = {**block, **{key: value for key, value in _EMPTY.items() if key in block}}
    yield {"type": "content_block_start", "index": index, "content_block": started}
    for delta in _deltas(block, cut):
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _deltas(block: Mapping[str, Any], cut: Reply | None) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "text":
            yield from ({"type": "text_delta", "text": piece} for piece in pieces_of(block["text"]))
        case "thinking":
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces_of(block["thinking"]))
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use":
            written = arguments_of(cut.calls[-1], True) if cut else dumped(block["input"]).decode()
            pieces = ["", *(pieces_of(written) if cut or block["input"] else ())]
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
