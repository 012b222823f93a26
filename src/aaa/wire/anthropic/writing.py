"""Our messages as the `system` and `messages` of Anthropic's format.

    system, system                      ──▶  system     [text, text]
    tool, user, tool, user (summary)    ──▶  user       [result, result, text, text]
    assistant                           ──▶  assistant  [parts, then calls]

By default neighbours of one role become one message, as Anthropic itself takes them, with the results first in it,
as it demands ("`tool_use` ids were found without `tool_result` blocks immediately after"). Messages that were read
otherwise say so in their native extra (see `anthropic_reading`) and are written as they were.

A message that says nothing is not written. A system or developer message later in the conversation is text in the
user's turn, between <system-reminder> tags, as others write it (UKGovernmentBEIS/inspect_ai#4104): only the newest
models take role "system" there, and only before an assistant message or at the end; to move it to the top would
change the beginning of the prompt, and with it all that is cached and every signature bound to what stands before it.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from aaa.messages import Message
from aaa.wire.anthropic.blocks import block_from_part
from aaa.wire.anthropic.calls import block_from_call, block_from_result
from aaa.wire.anthropic.hints import hints_of, laid_over
from aaa.wire.lossless import Fields

__all__ = ["split_system", "system_from_messages", "turns_from_messages"]


def split_system(messages: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
    """The leading system messages, which stand outside of the turns, and all others."""
    leading = list(takewhile(lambda message: message.is_system and not _is_in_place(message), messages))
    return leading, messages[len(leading) :]


def system_from_messages(messages: Sequence[Message]) -> str | list[Fields] | None:
    """The system prompt that these messages are; None if they say nothing."""
    pieces = [_piece(message, message.role) for message in messages]
    content = _content(pieces)
    return content if content or any(piece.is_kept for piece in pieces) else None


def turns_from_messages(messages: Iterable[Message]) -> list[Fields]:
    """The `messages` of a body."""
    turns: list[list[_Piece]] = []
    for piece in (_piece(message, _role(message)) for message in messages):
        if not piece.blocks and not piece.is_kept:
            continue
        if turns and turns[-1][0].role == piece.role and "starts" not in piece.hints:
            turns[-1].append(piece)
        else:
            turns.append([piece])
    return [_turn(pieces) for pieces in turns]


class _Piece(NamedTuple):
    """What a message adds to a turn; `plain` is its content if that was and is a string."""

    role: str
    blocks: list[Fields]
    hints: Fields
    is_result: bool
    plain: str | None

    @property
    def comes_first(self) -> bool:
        """Whether it is a result that stands where results must."""
        return self.is_result and "stays" not in self.hints

    @property
    def is_kept(self) -> bool:
        """Whether it was read as a message of its own though it says nothing."""
        return "empty" in self.hints or self.plain == ""

    @property
    def is_null(self) -> bool:
        """Whether it was read as null, and still says nothing."""
        return "null" in self.hints and not self.blocks


def _piece(message: Message, role: str) -> _Piece:
    hints = hints_of(message.extra)
    is_result = message.role == "tool"
    is_plain = "plain" in hints and role == message.role and not message.tool_calls
    plain = message.content if is_plain and isinstance(message.content, str) else None
    if is_result:
        blocks = [block_from_result(message)]
    elif message.is_system and role == "user":
        blocks = _tagged(message.text)
    else:
        blocks = _in_order(_parts(message), [block_from_call(call) for call in message.tool_calls], hints)
    return _Piece(role, blocks, hints, is_result, plain)


def _role(message: Message) -> str:
    is_moved = message.role == "tool" or (message.is_system and not _is_in_place(message))
    return "user" if is_moved else message.role


def _is_in_place(message: Message) -> bool:
    return "in_place" in hints_of(message.extra)


def _parts(message: Message) -> list[Fields]:
    content = message.content
    if content is None or isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    takes_media = message.role != "assistant" and not message.is_system
    blocks = (block_from_part(part, takes_media=takes_media) for part in content)
    return [block for block in blocks if block is not None]


def _tagged(text: str) -> list[Fields]:
    return [{"type": "text", "text": f"<system-reminder>\n{text}\n</system-reminder>"}] if text else []


def _in_order(parts: list[Fields], calls: list[Fields], hints: Fields) -> list[Fields]:
    """Parts and calls as they stood, unless there are now more or fewer of them; then parts first."""
    order: str = hints.get("order", "")
    if (order.count("p"), order.count("c")) != (len(parts), len(calls)):
        return parts + calls
    left = {"p": iter(parts), "c": iter(calls)}
    return [next(left[kind]) for kind in order]


def _turn(pieces: Sequence[_Piece]) -> Fields:
    fields: Fields = {"role": pieces[0].role, "content": _content(pieces)}
    for piece in pieces:
        laid_over(fields, piece.hints, "message")
    return fields


def _content(pieces: Sequence[_Piece]) -> str | list[Fields] | None:
    if len(pieces) == 1 and pieces[0].plain is not None:
        return pieces[0].plain
    if len(pieces) == 1 and pieces[0].is_null:
        return None
    in_order = sorted(pieces, key=lambda piece: not piece.comes_first)  # stable
    return [block for piece in in_order for block in piece.blocks]
