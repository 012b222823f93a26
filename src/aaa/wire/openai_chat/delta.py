"""What the pieces of a streamed message are together: pure functions on plain values.

"Rea" + "ding"                              one text
[text "2 +"] + [text " 2"]                  one part, where both are of one kind (Mistral's thinking and text)
[reasoning.text "a"] + [reasoning.text "b"] one detail, where type and index agree (OpenRouter, Vercel)
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from aaa.wire.lossless import Fields

__all__ = ["joined", "laid", "thought_in", "visible_in"]

# Of the stream alone: no message of a whole reply has them. Mistral refuses a request that sends `index` back.
_OF_THE_STREAM = ("index", "channel", "obfuscation")
_GROWING = ("content", "refusal", "reasoning", "reasoning_content", "reasoning_text", "thinking")


def laid(message: Fields, delta: Mapping[str, Any]) -> None:
    """Add to `message` what a delta says, its calls apart."""
    for key, value in delta.items():
        if key in _OF_THE_STREAM or key in ("tool_calls", "function_call"):
            continue
        if key == "role":
            message["role"] = message.get("role") or value
        elif isinstance(value, list | tuple) or (key in _GROWING and isinstance(value, str | None)):
            message[key] = joined(message.get(key), value)
        elif isinstance(value, Mapping) and isinstance(message.get(key), Mapping):
            message[key] = _merged(message[key], cast("Fields", value))
        elif value is not None or key not in message:
            message[key] = value


def joined(before: Any, piece: Any) -> Any:
    """Two pieces of one value: text, a list of parts, one after the other, or nothing."""
    if not piece:
        return piece if before is None else before
    if not before:
        return joined_parts([], _parts_of(piece)) if isinstance(piece, list | tuple) else piece
    if isinstance(before, str) and isinstance(piece, str):
        return before + piece
    return joined_parts(_parts_of(before), _parts_of(piece))


def joined_parts(parts: Sequence[Any], pieces: Sequence[Any]) -> list[Any]:
    """A list continued, its last entry by entries of the same kind."""
    together = list(parts)
    for piece in pieces:
        grow = _how_to_grow(together[-1], piece) if together else None
        if grow is not None:
            together[-1] = grow(together[-1], piece)
        else:
            together.append(piece)
    return together


def visible_in(delta: Mapping[str, Any]) -> str:
    """The text of the reply in a delta, a refusal's included."""
    content, refusal = delta.get("content"), delta.get("refusal")
    text = content if isinstance(content, str) else _text_in(content, "text")
    return text + (refusal if isinstance(refusal, str) else "")


def thought_in(delta: Mapping[str, Any]) -> str:
    """The thinking in a delta: servers that tell it under two names say the same under both."""
    for key in ("reasoning_content", "reasoning", "reasoning_text", "thinking"):
        if isinstance(delta.get(key), str) and delta[key]:
            return delta[key]
    return _text_in(delta.get("content"), "thinking") or _text_in(delta.get("reasoning_details"), "reasoning.text")


def _merged(before: Fields, piece: Fields) -> Fields:
    """An object laid over another; the sound of a reply and what is said in it grow."""
    grown = {key: joined(before.get(key), piece[key]) for key in ("data", "transcript") if key in piece}
    return {**before, **piece, **grown}


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(cast("Sequence[Any]", value))
    return [{"type": "text", "text": value}] if isinstance(value, str) else [value]


def _how_to_grow(last: Any, piece: Any) -> Callable[[Fields, Fields], Fields] | None:
    if not isinstance(last, Mapping) or not isinstance(piece, Mapping):
        return None
    before, after = cast("Fields", last), cast("Fields", piece)
    if before.get("type") != after.get("type") or before.get("index") != after.get("index"):
        return None
    match after.get("type"):
        case "text" | "thinking" | "reasoning.text" | "reasoning.summary":
            return _grown
        case _:
            return None


def _grown(last: Fields, piece: Fields) -> Fields:
    """`last` with the text of `piece` after its own; of other keys what is not empty counts, the later one first."""
    grown = last | {key: value for key, value in piece.items() if value or key not in last}
    for key in ("text", "summary", "thinking"):
        if key in last and key in piece:
            grown[key] = joined(last[key], piece[key])
    return grown


def _text_in(parts: Any, kind: str) -> str:
    """The text of the parts of one kind; a part may hold parts itself."""
    if not isinstance(parts, list | tuple):
        return ""
    texts: list[str] = []
    for part in cast("Sequence[Any]", parts):
        fields: Mapping[str, Any] = cast("Mapping[str, Any]", part) if isinstance(part, Mapping) else {}
        if fields.get("type") == kind:
            inner = fields.get("thinking") if kind == "thinking" else fields.get("text")
            texts.append(inner if isinstance(inner, str) else _text_in(inner, "text"))
    return "".join(texts)
