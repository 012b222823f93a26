"""From a prompt back to its edits, and from kept edits to those still in force.

An edit in force is found by its message's digest and by how many equal ones come before it, so edits survive in a
list that was changed elsewhere and are void where their message is gone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from aaa.context.edits import Edit, Item, pinned_in
from aaa.context.groups import groups, is_pinned
from aaa.context.markers import is_marker
from aaa.context.summaries import SummaryRecord
from aaa.context.transcript import Transcript
from aaa.messages import with_extra_of

__all__ = [
    "after",
    "difference",
    "edits_of",
    "in_force",
    "is_written_marker",
    "kept_beside",
    "summary_edit",
    "with_calls",
]


def edits_of(
    transcript: Transcript,
    length: int,
    items: Sequence[Item],
    record: SummaryRecord | None,
    drops: Mapping[int, Edit],
) -> tuple[Edit, ...]:
    """What makes `items` out of the first `length` messages, in order; `drops` tells who dropped what.

    Cost: O(messages).
    """
    summary = [] if record is None else [_summary_of(transcript, items, record)]
    changes = _changes(transcript, length, items, summary, drops)
    named = [_named(edit, transcript) for edit in (*changes, *_inserts(items))]
    return tuple(sorted([*summary, *named], key=lambda edit: edit.index))


def _summary_of(transcript: Transcript, items: Sequence[Item], record: SummaryRecord) -> Edit:
    written = next((item for item in items if _is_written_summary(item)), None)
    begin = record.begin_in(transcript)
    kept = {item.source for item in items if item.source is not None and begin <= item.source < record.upto}
    kept.update(record.kept or ())  # what is dropped of these later, the summary does not tell of
    return summary_edit(transcript, record, sorted(kept), written)


def summary_edit(transcript: Transcript, record: SummaryRecord, kept: Sequence[int], written: Item | None) -> Edit:
    """The edit that puts `written` in the place of what `record` covers, the messages at `kept` apart."""
    begin = record.begin_in(transcript)
    return Edit(
        "summarize",
        begin,
        "summarize",
        digest=record.prefix_hash,
        stop=record.upto,
        kept=tuple(kept),
        tokens_before=transcript.tokens(begin, record.upto) - sum(transcript.tokens(i, i + 1) for i in kept),
        tokens_after=written.raw if written else 0,
        replacement=written.message if written else None,
    )


def _is_written_summary(item: Item) -> bool:
    return item.source is None and item.message.kind == "summary" and item.strategy == "summarize"


def is_written_marker(item: Item) -> bool:
    """Whether the item is a marker that a strategy wrote."""
    return item.source is None and is_marker(item.message) and item.message.kind == "marker"


def kept_beside(transcript: Transcript, record: SummaryRecord) -> list[int]:
    """What stays beside a stored summary: what stayed when it was written, and groups with a message pinned since."""
    begin = record.begin_in(transcript)
    pinned = pinned_in(transcript, begin, record.upto)
    if record.kept is None or not pinned:
        return list(record.kept) if record.kept is not None else pinned
    known = set(record.kept)
    span = transcript[begin : record.upto]
    for start, stop in groups(span):
        group = range(start + begin, stop + begin)
        if any(is_pinned(transcript[index]) and index not in known for index in group):
            known.update(group)
    return sorted(known)


def _changes(
    transcript: Transcript, length: int, items: Sequence[Item], summary: Sequence[Edit], drops: Mapping[int, Edit]
) -> list[Edit]:
    kept = {item.source: item for item in items}
    covered = range(summary[0].index, summary[0].stop) if summary else range(0)
    inside = summary[0].kept if summary else ()
    has_marker = any(map(is_written_marker, items))
    edits: list[Edit] = []
    for index in (*range(covered.start), *inside, *range(covered.stop, length)):
        item = kept.get(index)
        if item is None:
            edits.append(_drop(transcript, index, drops.get(index), has_marker))
        elif item.message is not transcript[index]:
            before, new = transcript.tokens(index, index + 1), with_extra_of(item.message, None)
            edits.append(
                Edit("replace", index, item.strategy, tokens_before=before, tokens_after=item.raw, replacement=new)
            )
    return edits


def _drop(transcript: Transcript, index: int, known: Edit | None, has_marker: bool) -> Edit:
    before = transcript.tokens(index, index + 1)
    if known is None:
        return Edit("drop", index, "", tokens_before=before)
    return Edit("drop", index, known.strategy, marked=known.marked and has_marker, tokens_before=before)


def _inserts(items: Sequence[Item]) -> list[Edit]:
    """What strategies wrote, but for summary and marker, which belong to the edits that they tell of."""
    edits: list[Edit] = []
    anchor, place = -1, ""
    for position, item in enumerate(items):
        if item.source is not None:
            anchor, place = item.source, ""
        elif is_written_marker(item):
            place = "after marker"
        elif not _is_written_summary(item):
            is_early = not place and _is_before_summary(items, position)
            where = "before summary" if is_early else place
            edits.append(
                Edit("insert", anchor, item.strategy, place=where, tokens_after=item.raw, replacement=item.message)
            )
    return edits


def _is_before_summary(items: Sequence[Item], position: int) -> bool:
    """Whether only what we or strategies wrote stands between the item and the summary behind it."""
    for item in items[position:]:
        if item.source is not None:
            return False
        if _is_written_summary(item):
            return True
    return False


def _named(edit: Edit, transcript: Transcript) -> Edit:
    """The same edit with the digest and occurrence of its message."""
    if edit.index < 0:
        return edit
    return replace(edit, digest=transcript.message_digest(edit.index), occurrence=transcript.occurrence(edit.index))


def in_force(edits: Iterable[Edit], transcript: Transcript, length: int) -> list[Edit]:
    """The edits whose messages are still there, moved to where they are now.

    A result goes where its call goes: dropped with it, also if it came later, and kept with it. Head and pinned
    messages are not touched. Cost: O(edits) while nothing moved, else O(messages).
    """
    found: list[Edit] = []
    positions: Mapping[tuple[str, int], int] | None = None
    for edit in edits:
        if edit.action == "summarize":  # kept only to say that the summary itself is left out
            found += [edit] if edit.stop <= length and transcript.digest(edit.stop) == edit.digest else []
            continue
        if edit.index < 0 or (edit.index < length and _is_at(transcript, edit)):
            found.append(edit)
            continue
        positions = positions or _positions(transcript, length)
        index = positions.get((edit.digest, edit.occurrence))
        if index is not None:
            found.append(replace(edit, index=index))
    return [edit for edit in found if _may_apply(edit, transcript)]


def _may_apply(edit: Edit, transcript: Transcript) -> bool:
    if edit.action in ("insert", "summarize"):
        return True
    return edit.index >= transcript.head and not is_pinned(transcript[edit.index])


def _is_at(transcript: Transcript, edit: Edit) -> bool:
    name = (transcript.message_digest(edit.index), transcript.occurrence(edit.index))
    return name == (edit.digest, edit.occurrence)


def with_calls(edits: Sequence[Edit], transcript: Transcript, length: int) -> list[Edit]:
    """The edits, and drops of results whose call is gone; drops of results whose call is there are void.

    A call whose result is pinned comes back. Cost: O(edits, messages after the first one that is gone).
    """
    summary = next((edit for edit in edits if edit.action == "summarize"), None)
    drops = {edit.index: edit for edit in edits if edit.action == "drop"}
    span = range(summary.index, summary.stop) if summary else range(0)
    kept = set(summary.kept) if summary else set[int]()
    first = min([*drops, summary.stop if summary else length])
    pairs = [(i, call) for i in range(first, length) if (call := transcript.call_of(i)) is not None]
    pinned_calls = {call for i, call in pairs if is_pinned(transcript[i])}
    gone = {call for call in pinned_calls if call in drops or (call in span and call not in kept)}
    for index in _with_results(gone, transcript, first=min(gone, default=0), length=length) if gone else ():
        drops.pop(index, None)
        kept |= {index} & set(span)
    for index, call in pairs:
        is_gone = call in drops or (call in span and call not in kept)
        if is_gone and index not in drops and index not in span:
            drops[index] = _late_drop(transcript, index, drops.get(call))
        elif not is_gone:
            drops.pop(index, None)
    others = [edit for edit in edits if edit.action != "drop"]
    if summary is not None and len(kept) != len(summary.kept):
        others[others.index(summary)] = replace(summary, kept=tuple(sorted(kept)))
    return sorted([*others, *drops.values()], key=lambda edit: edit.index)


def _with_results(calls: set[int], transcript: Transcript, *, first: int, length: int) -> set[int]:
    """Messages with calls, and all their results."""
    return calls | {index for index in range(first, length) if transcript.call_of(index) in calls}


def _late_drop(transcript: Transcript, index: int, with_call: Edit | None) -> Edit:
    strategy = with_call.strategy if with_call else "summarize"
    marked = with_call.marked if with_call else True
    before = transcript.tokens(index, index + 1)
    return _named(Edit("drop", index, strategy, marked=marked, tokens_before=before), transcript)


def _positions(transcript: Transcript, length: int) -> dict[tuple[str, int], int]:
    """Where each message is: (digest, how many equal ones came before) → index. Cost: O(messages)."""
    return {(transcript.message_digest(i), transcript.occurrence(i)): i for i in range(length)}


def difference(old: Sequence[Edit], new: Sequence[Edit]) -> tuple[list[int], list[tuple[int, Edit]]]:
    """What to record of a change of edits: positions in `old` that went, and (position in `new`, edit) that came.

    `after(old, *difference(old, new)) == new`. Cost: O(edits).
    """
    known, present = dict.fromkeys(old), dict.fromkeys(new)
    removed = [position for position, edit in enumerate(old) if edit not in present]
    added = [(position, edit) for position, edit in enumerate(new) if edit not in known]
    return removed, added


def after(old: Sequence[Any], removed: Sequence[int], added: Sequence[Sequence[Any]]) -> list[Any]:
    """The edits of a prompt, from those of the one before it and the recorded difference; edits or their plain data."""
    gone = set(removed)
    edits = [edit for position, edit in enumerate(old) if position not in gone]
    for position, edit in added:
        edits.insert(position, edit)
    return edits
