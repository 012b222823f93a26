"""Edits as data: what makes a prompt out of a transcript, and the way back.

    transcript   s  u  a  t  a  t  a  t        edits   summarize [2, 4)
    prompt       s  u  Σ  a  t′ a  t                   replace 5 (by t′)

The transcript never changes. An edit names its message by digest and by how many equal ones came before it, so it
still finds it in a list that was edited elsewhere, and is void when the message is gone.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from aaa.context.groups import groups
from aaa.context.transcript import Transcript
from aaa.messages import Message

__all__ = ["Edit", "Item", "in_force", "is_pinned", "occurrences", "pinned_in", "render"]


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
    covered = _covered(transcript, summary)
    inserts: defaultdict[int, list[Edit]] = defaultdict(list)
    for edit in edits:
        if edit.action == "insert":
            inserts[edit.index].append(edit)
    items: list[Item] = []
    for index in range(-1, length):
        if index >= 0 and index not in covered:
            items += _kept(transcript, index, changed.get(index))
        if summary is not None and index == summary.index - 1:
            items.append(_written(summary))
        if index not in covered:
            items += [_written(edit) for edit in inserts[index]]
    return items


def _covered(transcript: Transcript, summary: Edit | None) -> set[int]:
    """Indices that the summary stands for: its span without the groups that hold a pinned message."""
    if summary is None:
        return set()
    return set(range(summary.index, summary.stop)) - pinned_in(transcript, summary.index, summary.stop)


def pinned_in(messages: Sequence[Message], start: int, stop: int) -> set[int]:
    """Indices in [start, stop) of groups with a pinned message; a system message after the head is pinned."""
    span = messages[start:stop]
    if not any(is_pinned(message) for message in span):
        return set()
    ranges = [range(a + start, b + start) for a, b in groups(span) if any(map(is_pinned, span[a:b]))]
    return {index for indices in ranges for index in indices}


def is_pinned(message: Message) -> bool:
    """Whether a message after the head must stay as it is."""
    return message.pinned or message.is_system


def _kept(transcript: Transcript, index: int, edit: Edit | None) -> list[Item]:
    if edit is None:
        return [Item(transcript[index], index, transcript.tokens(index, index + 1))]
    if edit.replacement is None:
        return []
    return [Item(edit.replacement, index, edit.tokens_after, edit.strategy)]


def _written(edit: Edit) -> Item:
    assert edit.replacement is not None
    return Item(edit.replacement, None, edit.tokens_after, edit.strategy)


def in_force(edits: Iterable[Edit], transcript: Transcript, length: int) -> list[Edit]:
    """The edits whose messages are still there, moved to where they are now.

    A group stays whole: if only some of its messages would be dropped, all are kept. Head and pinned messages are not
    touched. Cost: O(edits) while nothing moved, else O(messages).
    """
    found: list[Edit] = []
    positions: Mapping[tuple[str, int], int] | None = None
    for edit in edits:
        if edit.index < 0 or (edit.index < length and transcript.message_digest(edit.index) == edit.digest):
            found.append(edit)
            continue
        positions = positions or occurrences(transcript, length)
        index = positions.get((edit.digest, edit.occurrence))
        if index is not None:
            found.append(msgspec.structs.replace(edit, index=index))
    return _whole_groups([edit for edit in found if _may_apply(edit, transcript)], transcript, length)


def _may_apply(edit: Edit, transcript: Transcript) -> bool:
    return edit.action == "insert" or (edit.index >= transcript.head and not is_pinned(transcript[edit.index]))


def _whole_groups(edits: list[Edit], transcript: Transcript, length: int) -> list[Edit]:
    dropped = {edit.index for edit in edits if edit.action == "drop"}
    if not dropped:
        return edits
    torn: set[int] = set()
    for start, stop in groups(transcript[:length], transcript.head):
        members = set(range(start, stop))
        if members & dropped and not members <= dropped:
            torn |= members
    return [edit for edit in edits if not (edit.action == "drop" and edit.index in torn)]


def occurrences(transcript: Transcript, length: int) -> dict[tuple[str, int], int]:
    """Where each message is: (digest, how many equal ones came before) → index. Cost: O(messages)."""
    seen: Counter[str] = Counter()
    positions: dict[tuple[str, int], int] = {}
    for index in range(length):
        digest = transcript.message_digest(index)
        positions[digest, seen[digest]] = index
        seen[digest] += 1
    return positions
