"""The `system` and `messages` of Anthropic's format as our messages: where one ends and the next begins.

    system     [text, text]                      ──▶  system, system
    user       [result, result, text, image]     ──▶  tool, tool, user
    assistant  [thinking, text, call, call]      ──▶  assistant (parts, then calls)

What would be written differently by default (see `anthropic_writing`) is noted in the native extra:

| hint | of | means |
|---|---|---|
| `plain` | a message | the content was a string, not a list of blocks |
| `null` | a message, a result | the content was null |
| `list` | a result | the content was a list of one text, not a string |
| `empty` | a message, a text | there was nothing in it; others that say nothing are not written |
| `starts` | a message | it began a message of its own, though the one before had the same role |
| `stays` | a result | it stood behind text |
| `order` | an assistant | calls stood before parts: "pcp" is a part, a call, a part |
| `in_place` | a system message | it stood among the others |
| `message`, `block` | a message; a result, a text, a call | keys we have no field for, laid over what is written |

An edit leaves the hints where they are; the writer follows one only as far as it still fits.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, cast

from msgspec.structs import replace

from aaa.errors import WireError
from aaa.messages import Message
from aaa.wire.anthropic.blocks import content_from_blocks, list_of_blocks
from aaa.wire.anthropic.calls import call_from_block, result_from_block
from aaa.wire.anthropic.hints import unwritten, with_hints
from aaa.wire.lossless import errors_at, mapping

__all__ = ["assistant_from_reply", "messages_from_turns", "system_messages"]

Block = Mapping[str, Any]


def system_messages(system: Any) -> list[Message]:
    """A message for a string, or for each block.

    Raises:
        WireError: neither a string nor blocks.
    """
    with errors_at(None, "system"):
        if not isinstance(system, str) and (blocks := list_of_blocks(system)):
            return [Message("system", content_from_blocks([block])) for block in blocks]
        return _from_content("system", system)


def messages_from_turns(turns: Any) -> list[Message]:
    """Read the `messages` of a body.

    Raises:
        WireError: naming the index of the message that is none.
    """
    if not isinstance(turns, list | tuple):
        raise WireError(f"messages must be a list, not {type(turns).__name__}")
    messages: list[Message] = []
    before = None
    for index, turn in enumerate(cast("Sequence[Any]", turns)):
        with errors_at(index, "message"):
            fields = mapping(turn, "a message")
            messages += _from_turn(fields, starts=fields.get("role") == before)
            before = fields["role"]
    return messages


def assistant_from_reply(content: Any) -> Message:
    """The message of an assistant that a reply consists of, to be handed back as it is.

    Texts without a character are left out: Anthropic sends them at times and refuses to take them back.

    Raises:
        WireError: no list of blocks.
    """
    blocks = [block for block in list_of_blocks(content) if block["type"] != "text" or block.get("text") != ""]
    return _from_blocks("assistant", blocks)


def _from_turn(turn: Block, *, starts: bool) -> list[Message]:
    role = turn.get("role")
    if not isinstance(role, str) or role in ("", "tool"):
        raise WireError("the role of a message must be user, assistant or system")
    hints = unwritten(turn, {"role": role}, "content", under="message")
    if starts:
        hints["starts"] = True
    if role in ("system", "developer"):
        hints["in_place"] = True
    if "content" in turn and turn["content"] is None:
        return [Message(role, extra=with_hints("", hints | {"empty": True, "null": True}))]
    first, *others = _from_content(role, turn.get("content"))
    return [replace(first, extra=with_hints(first.extra, hints)), *others]


def _from_content(role: str, content: Any) -> list[Message]:
    if isinstance(content, str):
        return [Message(role, content, extra=with_hints("", {"plain": True}))]
    blocks = list_of_blocks(content)
    if not blocks:
        return [Message(role, extra=with_hints("", {"empty": True}))]
    return _from_user(blocks) if role == "user" else [_from_blocks(role, blocks)]


def _from_user(blocks: Sequence[Block]) -> list[Message]:
    messages: list[Message] = []
    for is_result, group in groupby(blocks, key=_is_result):
        if is_result:
            hints = {"stays": True} if messages else {}
            results = [result_from_block(block) for block in group]
            messages += [replace(result, extra=with_hints(result.extra, hints)) for result in results]
        else:
            messages.append(Message("user", content_from_blocks(list(group))))
    return messages


def _is_result(block: Block) -> bool:
    return block["type"] == "tool_result"


def _from_blocks(role: str, blocks: Sequence[Block]) -> Message:
    order = "".join("c" if role == "assistant" and block["type"] == "tool_use" else "p" for block in blocks)
    parts = [block for block, kind in zip(blocks, order, strict=True) if kind == "p"]
    calls = tuple(call_from_block(block) for block, kind in zip(blocks, order, strict=True) if kind == "c")
    hints = {"order": order} if "cp" in order else {}
    return Message(role, content_from_blocks(parts) if parts else None, calls, extra=with_hints("", hints))
