"""Edits as data: what makes a prompt out of a transcript, and the way back.

    transcript   s  u  a  t  a  t  a  t        edits   summarize [2, 4)
    prompt       s  u  Σ  a  t′ a  t                   replace 5 (by t′)

The transcript never changes. An edit names its message by digest and by how many equal ones came before it, so it
still finds it in a list that was edited elsewhere, and is void when the message is gone.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from aaa.context.groups import groups, is_pinned
from aaa.context.transcript import Transcript
from aaa.messages import Message

__all__ = ["Edit", "Item", "pinned_in", "render"]


class Edit(msgspec.Struct, frozen=True):
    """One change of the view.

    | action | means |
    |---|---|
    | replace | `replacement` stands for the message at `index` |
    | drop | the message at `index` is left out |
    | insert | `replacement` follows the message at `index` (-1: stands first) |
    | summarize | `replacement` stands for [index, stop), pinned messages apart; `digest` is that of the first `stop` |

    Units: `tokens_before` and `tokens_after` are raw tokens of what is replaced and of what stands for it.
    """

    action: Literal["replace", "drop", "insert", "summarize"]
    index: int
    strategy: str
    digest: str = ""
    occurrence: int = 0
    stop: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    replacement: Message | None = None


class Item(msgspec.Struct, frozen=True):
    """One message of a prompt: `source` is its index in the transcript, None if we wrote it; `raw` its raw tokens."""

    message: Message
    source: int | None
    raw: int
    strategy: str = ""


def render(transcript: Transcript, edits: Sequence[Edit], length: int | None = None) -> list[Item]:
    """The prompt that `edits` make of the first `length` messages. Edits must be in force. Cost: O(messages)."""
    length = len(transcript) if length is None else length
    changed = {edit.index: edit for edit in edits if edit.action in ("replace", "drop")}
    summary = next((edit for edit in edits if edit.action == "summarize"), None)
    inserts: defaultdict[int, list[Edit]] = defaultdict(list)
    for edit in edits:
        if edit.action == "insert":
            inserts[edit.index].append(edit)
    items: list[Item] = []
    for index in _shown(transcript, summary, length):
        if index >= 0:
            items += _kept(transcript, index, changed.get(index))
        if summary is not None and index == summary.index - 1:
            items.append(_written(summary))
        items += [_written(edit) for edit in inserts[index]]
    return items


def _shown(transcript: Transcript, summary: Edit | None, length: int) -> Iterable[int]:
    """Indices that the summary does not stand for, after -1, the place before the first."""
    if summary is None:
        return range(-1, length)
    pinned = sorted(pinned_in(transcript, summary.index, summary.stop))
    return (*range(-1, summary.index), *pinned, *range(summary.stop, length))


def pinned_in(messages: Sequence[Message], start: int, stop: int) -> set[int]:
    """Indices in [start, stop) of groups with a pinned message; a system message after the head is pinned."""
    if isinstance(messages, Transcript) and not messages.pinned_between(start, stop):
        return set()
    span = messages[start:stop]
    ranges = [range(a + start, b + start) for a, b in groups(span) if any(map(is_pinned, span[a:b]))]
    return {index for indices in ranges for index in indices}


def _kept(transcript: Transcript, index: int, edit: Edit | None) -> list[Item]:
    if edit is None:
        return [Item(transcript[index], index, transcript.tokens(index, index + 1))]
    if edit.replacement is None:
        return []
    return [Item(edit.replacement, index, edit.tokens_after, edit.strategy)]


def _written(edit: Edit) -> Item:
    assert edit.replacement is not None
    return Item(edit.replacement, None, edit.tokens_after, edit.strategy)
