"""The parts of Gemini's contents: text, calls, thoughts, media, and what the provider runs itself.

{"text": …}                    TextPart     a signature beside it stays in its `extra`
{"functionCall": …}            ToolCall     likewise
{"text": …, "thought": true}   OpaquePart "thought", as it came
{"inlineData": …}, others      OpaquePart of that name, as it came (media in the spelling of the reference)
"""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

from aaa.messages import OpaquePart, Part, TextPart, ToolCall
from aaa.wire.arguments import object_or_wrapped, text_of
from aaa.wire.gemini.media import part_of_media
from aaa.wire.gemini.names import camel, snake
from aaa.wire.gemini.notes import FORMAT, own_note
from aaa.wire.lossless import Fields, compact, native
from aaa.wire.made_ids import CallIds

__all__ = ["call_from", "call_to", "is_call", "part_from", "part_to"]

_log = logging.getLogger("aaa.wire")

_MEDIA = ("inlineData", "fileData")
_KNOWN = (
    *("functionCall", "functionResponse", *_MEDIA, "executableCode", "codeExecutionResult"),
    *("toolCall", "toolResponse", "text", "thoughtSignature"),
)
_warned: set[str] = set()


def is_call(fields: Fields) -> bool:
    """Whether a part (in the spelling we know) is a call that we can read."""
    call: Any = fields.get("functionCall")
    if not isinstance(call, Mapping):
        return False
    call = cast("Mapping[str, Any]", call)
    return isinstance(call.get("name"), str) and isinstance(call.get("args", {}), Mapping | None)


def call_from(fields: Fields, names: Sequence[str], ids: CallIds) -> ToolCall:
    """Read a call from its part; `names` were spelled with underscores."""
    inner, inner_names = camel(fields["functionCall"])
    given: Any = inner.get("id")
    has_id = isinstance(given, str) and bool(given)
    call_id = ids.id_of(inner["name"], given if has_id else None)
    args = inner.get("args")
    note = {
        "made": not has_id,
        "part": _without(fields, "functionCall"),
        "call": _without(inner, "name", *(("args",) if args is not None else ()), *(("id",) if has_id else ())),
        "no_args": "args" not in inner,
        "snake": [*names, *inner_names],
    }
    return ToolCall(call_id, inner["name"], text_of(args or {}), own_note(note))


def call_to(call: ToolCall) -> Fields:
    """Write a call as a part."""
    note = native(call.extra, FORMAT)
    given: Fields = note.get("call", {})
    inner: Fields = {"name": call.name, "args": object_or_wrapped(call.arguments_json)}
    if not inner["args"] and (note.get("no_args") or "args" in given):
        del inner["args"]
    if call.id and not note.get("made"):
        inner["id"] = call.id
    inner = given | inner
    names = note.get("snake", ())
    part = {"functionCall": snake(inner, names)}
    return snake((note["part"] if "part" in note else _signature(call)) | part, names)


def part_from(fields: Fields, names: Sequence[str], given: Mapping[str, Any]) -> tuple[Part, list[str]]:
    """Read any other part, and which names of it must be spelled with underscores again.

    `fields` is `given` in the spelling we know.
    """
    text, is_thought = fields.get("text"), fields.get("thought") is True
    if isinstance(text, str) and not is_thought:
        rest = _without(fields, "text")
        note = {"part": rest, "snake": list(names), "kept": not text and not rest}
        return TextPart(text, own_note(note)), []
    kind = "thought" if is_thought else _kind(fields)
    if kind in _MEDIA and isinstance(fields[kind], Mapping):
        blob, more = camel(fields[kind])
        return OpaquePart(kind, compact(fields | {kind: blob}), FORMAT), [*names, *more]
    return OpaquePart(kind, compact(given), FORMAT), []


def part_to(part: Part, names: Sequence[str] = ()) -> Fields | None:
    """Write a part; None if it says nothing to this provider. An empty text is left out: Vertex refuses it."""
    if isinstance(part, TextPart):
        note = native(part.extra, FORMAT)
        return snake({"text": part.text} | note.get("part", {}), note.get("snake", ())) if part.text or note else None
    if part.format != FORMAT:
        return part_of_media(part)
    fields: Fields = json.loads(part.json)
    if part.type in _MEDIA and names:
        fields[part.type] = snake(fields[part.type], names)
    return snake(fields, names) if names else fields


def _kind(fields: Fields) -> str:
    known = next((name for name in _KNOWN if name in fields), None)
    if known is not None:
        return known
    kind = next(iter(fields), "")
    if kind not in _warned:
        _warned.add(kind)
        _log.warning("a part of type %r is not known to this version; it is sent back as it came", kind[:80])
    return kind


def _signature(call: ToolCall) -> Fields:
    """The signature of a call read from Google's own server of OpenAI's format, which puts it elsewhere."""
    if "thought_signature" not in call.extra:
        return {}
    extra: Any = json.loads(call.extra)
    try:
        signature = extra["extra_content"]["google"]["thought_signature"]
    except (KeyError, TypeError):
        return {}
    return {"thoughtSignature": signature} if isinstance(signature, str) else {}


def _without(fields: Fields, *names: str) -> Fields:
    return {key: value for key, value in fields.items() if key not in names}
