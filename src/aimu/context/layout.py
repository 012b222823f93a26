"""What stays at the front, what may go, and what stays at the end.

    system  user │ assistant(call) tool │ assistant │ user │ assistant(call) tool │ user
    ─ front ─────── groups that may go, oldest first ──────│ ──── tail: the last 2, and the group they are in ───

Groups are those of `aaa.context`: a call stays with its results, wherever they stand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from aaa.context import groups
from aaa.errors import WireError
from aaa.messages import Message, ToolCall
from aaa.wire.lossless import mapping, string_of
from aimu.context.texts import fields_of, sequence_of

__all__ = ["Layout", "layout_of", "skeletons"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Indices of messages, in order: `front` and `tail` stay, each of `groups` may go as a whole."""

    length: int
    front: list[int]
    groups: list[list[int]]
    tail: list[int]

    @property
    def older(self) -> list[int]:
        """All that may go."""
        return [index for group in self.groups for index in group]

    def without(self, gone: int) -> list[int]:
        """What is left when the oldest `gone` groups have gone: the front comes first. With none, all as it was."""
        if not gone:
            return list(range(self.length))
        return [*self.front, *(index for group in self.groups[gone:] for index in group), *self.tail]


def layout_of(messages: Sequence[Mapping[str, Any]], *, keep_last: int, keep_system: bool = True) -> Layout:
    """Lay out a conversation; `keep_last` messages at least, system messages aside, are its tail. Cost: O(messages).

    Raises:
        ValueError: keep_last below 0.
        WireError: naming the index of the message whose role or calls cannot be read.
    """
    if keep_last < 0:
        raise ValueError(f"keep_last must not be negative, got {keep_last}")
    read = skeletons(messages)
    is_front = [keep_system and message.is_system for message in read]
    ranges = ([i for i in range(*bounds) if not is_front[i]] for bounds in groups(read))
    movable = [group for group in ranges if group]
    tail: list[int] = []
    while movable and len(tail) < keep_last:
        tail[:0] = movable.pop()
    return Layout(len(read), [i for i, is_kept in enumerate(is_front) if is_kept], movable, tail)


def skeletons(messages: Sequence[Mapping[str, Any]]) -> list[Message]:
    """The messages as far as grouping looks at them: roles and ids, no content. Cost: O(messages), not their size.

    Raises:
        WireError: naming the index of the message that has no role, or calls that are none.
    """
    return [_skeleton(fields, index) for index, fields in enumerate(sequence_of(messages))]


def _skeleton(fields: Mapping[str, Any], index: int) -> Message:
    try:
        fields = fields_of(fields)
        calls = fields.get("tool_calls")
        ids = () if calls is None else _ids_of(calls)
        return Message(_role_of(fields), None, ids, string_of(fields.get("tool_call_id")))
    except WireError as error:
        raise WireError(error.problem, index=index) from error


def _role_of(fields: Mapping[str, Any]) -> str:
    role = fields.get("role")
    if not isinstance(role, str) or not role:
        raise WireError("a message needs a role (a non-empty string)")
    return role


def _ids_of(calls: Any) -> tuple[ToolCall, ...]:
    if not isinstance(calls, list | tuple):
        raise WireError(f"tool_calls must be a list or null, not {type(calls).__name__}")
    ids = (mapping(call, "a tool call").get("id") for call in cast("list[Any]", calls))
    return tuple(ToolCall(string_of(call_id) or "", "") for call_id in ids)
