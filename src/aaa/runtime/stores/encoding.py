r"""How an event becomes a row, and a row an event; the same for every store.

An event is frozen by encoding it: what is read is made anew each time and shares nothing with what was appended. A lone
surrogate (half a character cut off by a tool) has no UTF-8 form and is kept as the text of its escape, `\udXXX`.
"""

import math
from typing import Any, NamedTuple, NotRequired, TypedDict, cast

import msgspec

from aaa.errors import StoreError
from aaa.messages.digest import escape_surrogates
from aaa.runtime.events import Event
from aaa.runtime.unread import UnreadMessages

__all__ = ["Row", "decode_event", "decode_to_replay", "encode_event", "is_storable"]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


_REQUESTED = "aaa.llm.requested"


class _Conv(TypedDict):
    prev: NotRequired[str]
    delta: NotRequired[msgspec.Raw]  # msgspec 0.23 refuses one that is required
    digests: NotRequired[list[str]]
    digest: str
    length: int


class _Requested(TypedDict):
    key: str
    conv: _Conv
    model: NotRequired[Any]
    params: NotRequired[Any]


_decode_requested = msgspec.json.Decoder(_Requested).decode


class Row(NamedTuple):
    """One event without its place in a log; `data` is JSON."""

    id: str
    type: str
    at: float
    version: int
    data: bytes


def encode_event(event: Event) -> Row:
    """The event as a row.

    Raises:
        StoreError: its data has no JSON form, or its time is no number.
    """
    if not math.isfinite(event.at):
        raise StoreError(f"the time of an event of type {event.type} is {event.at}; it must be finite")
    return Row(_escape_text(event.id), _escape_text(event.type), event.at, event.version, _encode_data(event))


def decode_event(row: Row, run_id: str, seq: int, epoch: int) -> Event:
    """The event of a row at its place in a log."""
    return Event(
        type=row.type,
        data=_data(row.data, run_id, seq),
        id=row.id,
        at=row.at,
        run_id=run_id,
        seq=seq,
        epoch=epoch,
        version=row.version,
    )


def decode_to_replay(type: str, data: bytes, run_id: str, *, seq: int, epoch: int, version: int) -> Event:
    """The event as `ReplayStore` describes it."""
    fields = _unread(data) if type == _REQUESTED else None
    if fields is None:
        fields = _data(data, run_id, seq)
    return Event(type=type, data=fields, id="", at=0.0, run_id=run_id, seq=seq, epoch=epoch, version=version)


def _data(data: bytes, run_id: str, seq: int) -> dict[str, Any]:
    try:
        return _decode(data)
    except msgspec.DecodeError as error:
        raise StoreError(f"event {seq} of run {run_id!r} holds no JSON object; the store is damaged") from error


def _unread(data: bytes) -> dict[str, Any] | None:
    """A request with its messages unread; None if it has another shape."""
    try:
        fields = cast("dict[str, Any]", _decode_requested(data))
    except msgspec.DecodeError:
        return None
    conv = fields["conv"]
    if "delta" in conv:
        conv["delta"] = UnreadMessages(conv["delta"])
    return fields


def is_storable(run_id: str) -> bool:
    """Whether the id has a UTF-8 form."""
    try:
        run_id.encode()
    except UnicodeEncodeError:
        return False
    return True


def _encode_data(event: Event) -> bytes:
    try:
        return _encode(event.data)
    except UnicodeEncodeError:
        return _encode(_escape(msgspec.to_builtins(event.data)))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise StoreError(f"the data of an event of type {event.type} has no JSON form: {error}") from error


def _escape(value: object) -> object:
    match value:
        case dict():
            items = cast("dict[object, object]", value).items()
            return {escape_surrogates(key): _escape(item) for key, item in items}
        case list() | tuple():
            return [_escape(item) for item in cast("list[object]", value)]
        case _:
            return escape_surrogates(value)


def _escape_text(text: str) -> str:
    return text if text.isascii() else cast("str", escape_surrogates(text))
