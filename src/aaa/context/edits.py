"""Edits as data: what makes a prompt out of a transcript, and the way back.

    transcript   s  u  a  t  a  t  a  t        edits   summarize [2, 4)
    prompt       s  u  Σ  a  t′ a  t                   replace 5 (by t′)

The transcript never changes. An edit names its message by digest and by how many equal ones came before it, so it
still finds it in a list that was edited elsewhere, and is void when the message is gone.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from aaa.context.groups import groups, is_pinned, pending_call
from aaa.context.markers import marked, marker
from aaa.context.transcript import Transcript
from aaa.messages import Message, with_extra_of

__all__ = ["Edit", "Item", "pinned_in", "render"]


class Edit(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change of the view.

    | action | means |
    |---|---|
    | replace | `replacement` stands for the message at `index`, with the extra keys that one has |
    | drop | the message at `index` is left out; of those `marked` one marker tells, where the first of them was |
    | insert | `replacement` follows the message at `index` (-1: stands first), where `place` says |
    | summarize | `replacement` stands for [index, stop) but for `kept`; `digest` is that of the first `stop` messages |

    Units: `tokens_before` and `tokens_after` are raw tokens of what is replaced and of what stands for it.
    """

    action: Literal["replace", "drop", "insert", "summarize"]
    index: int
    strategy: str
    digest: str = ""
    occurrence: int = 0
    marked: bool = False
    place: Literal["", "before summary", "after marker"] = ""
    stop: int = 0
    kept: tuple[int, ...] = ()
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
    """The prompt that `edits` make of the first `length` messages. Edits must be in force. Cost: O(prompt, edits)."""
    length = len(transcript) if length is None else length
    changed = {edit.index: edit for edit in edits if edit.action in ("replace", "drop")}
    summary = next((edit for edit in edits if edit.action == "summarize"), None)
    inserts: defaultdict[int, list[Edit]] = defaultdict(list)
    for edit in edits:
        if edit.action == "insert":
            inserts[edit.index].append(edit)
    dropped = [edit for edit in changed.values() if edit.marked]
    marker_at = min((edit.index for edit in dropped), default=-2)
    shown = _shown(summary, length)
    last_result = _last_result(transcript, shown, changed, marker_at) if dropped else marker_at
    items: list[Item] = []
    waiting: list[Edit] = []  # what follows the marker
    due: list[Item] = []  # the marker, while results follow that must not be parted from those before them
    for index in shown:
        kept = _kept(transcript, index, changed.get(index)) if index >= 0 else []
        if index == marker_at:
            due = [_marker(transcript, dropped), *map(_written, waiting)]
        if due and kept and index > last_result:
            items, due = items + due, []
        items += kept
        here = inserts[index]
        items += [_written(edit) for edit in here if edit.place == "before summary"]
        if summary is not None and index == summary.index - 1 and summary.replacement is not None:
            items.append(_written(summary))
        items += [_written(edit) for edit in here if edit.place == ""]
        waiting = [edit for edit in here if edit.place == "after marker"] or waiting
    return items + due


def _last_result(transcript: Transcript, shown: Sequence[int], changed: Mapping[int, Edit], marker_at: int) -> int:
    """The last of the results in a row behind the marker's place that answers a call before it; else that place.

    In the row may stand results of no call: behind a marker among them, one that comes twice had no call either.
    """
    last = marker_at
    for index in shown[bisect_right(shown, marker_at) :]:
        edit, call = changed.get(index), transcript.call_of(index)
        if edit is not None and edit.replacement is None:
            continue
        if transcript[index].role != "tool":
            break
        if call is not None and call < marker_at:
            last = index
    return last


def _written(edit: Edit) -> Item:
    assert edit.replacement is not None, "what is inserted is a message"
    return Item(edit.replacement, None, edit.tokens_after, edit.strategy)


def _shown(summary: Edit | None, length: int) -> Sequence[int]:
    """Indices that the summary does not stand for, after -1, the place before the first."""
    if summary is None:
        return range(-1, length)
    return (*range(-1, summary.index), *summary.kept, *range(summary.stop, length))


def _kept(transcript: Transcript, index: int, edit: Edit | None) -> list[Item]:
    if edit is None:
        return [Item(transcript[index], index, transcript.tokens(index, index + 1))]
    if edit.replacement is None:
        return []
    return [Item(with_extra_of(edit.replacement, transcript[index]), index, edit.tokens_after, edit.strategy)]


def _marker(transcript: Transcript, dropped: Sequence[Edit]) -> Item:
    written = marker(sum(marked(transcript[edit.index]) for edit in dropped))
    return Item(written, None, transcript.count_message(written), dropped[0].strategy)


def pinned_in(messages: Sequence[Message], start: int, stop: int) -> list[int]:
    """Indices in [start, stop) of groups with a pinned message, in order; a system message after the head is pinned.

    So is a call that is under way: whoever answers it must find it.
    """
    pending = pending_call(messages)
    is_pending_here = pending is not None and start <= pending < stop
    if isinstance(messages, Transcript) and not is_pending_here and not messages.pinned_between(start, stop):
        return []
    span = messages[start:stop]
    ranges = [range(a + start, b + start) for a, b in groups(span)]
    kept = [r for r in ranges if any(map(is_pinned, span[r.start - start : r.stop - start])) or pending in r]
    return [index for indices in kept for index in indices]
