"""One block of Anthropic's format as a part: a text, or anything else, kept as it came.

    text           ◀──▶  TextPart
    every other    ◀──▶  OpaquePart(format="anthropic")

Calls and results are no parts: see `anthropic_calls`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from aaa.errors import WireError
from aaa.messages import OpaquePart, Part, TextPart
from aaa.wire.anthropic.hints import FORMAT, hints_of, laid_over, unwritten, with_hints
from aaa.wire.anthropic.media import block_from_media
from aaa.wire.anthropic.notes import note_once
from aaa.wire.lossless import Fields, compact, mapping
from aaa.wire.media import portable

__all__ = ["Content", "block_from_part", "content_from_blocks", "list_of_blocks", "part_from_block", "string_in"]

Content = str | tuple[Part, ...] | None

_KNOWN = frozenset(
    (
        *("image", "document", "search_result", "container_upload", "tool_reference", "browser_state"),
        *("thinking", "redacted_thinking", "tool_use", "tool_result", "server_tool_use", "mcp_tool_use"),
        *("mcp_tool_listing", "tool_addition", "tool_removal", "compaction", "fallback", "connector_text"),
    )
)


def list_of_blocks(value: Any) -> list[Mapping[str, Any]]:
    """The blocks of a list, each an object with a type.

    Raises:
        WireError: it is no list, or one of them is no block.
    """
    if not isinstance(value, list | tuple):
        raise WireError(f"content must be a string or a list of blocks, not {type(value).__name__}")
    blocks = [mapping(block, "a content block") for block in cast("Sequence[Any]", value)]
    for block in blocks:
        string_in(block, "type")
    return blocks


def string_in(block: Mapping[str, Any], key: str) -> str:
    """The string at `key`.

    Raises:
        WireError: there is none.
    """
    value = block.get(key)
    if not isinstance(value, str):
        owner = "content" if key == "type" else block["type"]
        raise WireError(f"the {key} of a {owner} block must be a string, not {type(value).__name__}")
    return value


def content_from_blocks(blocks: Sequence[Mapping[str, Any]]) -> Content:
    """The parts of these blocks; a single plain text is a string."""
    parts = tuple(part_from_block(block) for block in blocks)
    match parts:
        case (TextPart(text=text, extra=""),):
            return text
        case _:
            return parts


def part_from_block(block: Mapping[str, Any]) -> Part:
    """A text with the keys it had besides, or the whole block."""
    if block["type"] != "text":
        _note_if_unknown(block["type"])
        return OpaquePart(block["type"], compact(block), FORMAT)
    text = string_in(block, "text")
    hints = unwritten(block, {"type": "text", "text": text})
    return TextPart(text, with_hints("", hints if text else hints | {"empty": True}))


def block_from_part(part: Part, *, takes_media: bool) -> Fields | None:
    """The block of a part; None if it says nothing here: another provider's own, or an empty text, which Anthropic
    refuses ("text content blocks must be non-empty") and which is written only where it was read."""
    if isinstance(part, TextPart):
        hints = hints_of(part.extra)
        is_said = part.text or "empty" in hints
        return laid_over({"type": "text", "text": part.text}, hints) if is_said else None
    if part.format == FORMAT:
        return json.loads(part.json)
    match portable(part):
        case None | "":
            return None
        case str(text):
            return {"type": "text", "text": text}
        case media:
            return block_from_media(media) if takes_media else None


def _note_if_unknown(name: str) -> None:
    if name not in _KNOWN and not name.endswith("_tool_result"):
        note_once("blocks of type %s are not known; they are kept as they are", name)
