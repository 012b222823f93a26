"""From a prompt back to its edits, and from kept edits to those still in force.

An edit in force is found by its message's digest and by how many equal ones come before it, so edits survive in a
list that was changed elsewhere and are void where their message is gone.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import convert
from msgspec.structs import replace

from aaa.context.edits import Edit, Item
from aaa.context.groups import groups, is_pinned
from aaa.context.summaries import SummaryRecord
from aaa.context.transcript import Transcript

__all__ = ["after", "difference", "edits_of", "in_force"]


def edits_of(
    transcript: Transcript,
    length: int,
    items: Sequence[Item],
    record: SummaryRecord | None,
    dropped_by: Mapping[int, str],
) -> tuple[Edit, ...]:
    """What makes `items` out of the first `length` messages, in order. Cost: O(messages)."""
    summary = _summary_edit(transcript, items, record)
    changes = _changes(transcript, length, items, summary, dropped_by)
    named = [_named(edit, transcript) for edit in (*changes, *_inserts(items, record))]
    return tuple(sorted([*summary, *named], key=lambda edit: edit.index))


def _summary_edit(transcript: Transcript, items: Sequence[Item], record: SummaryRecord | None) -> list[Edit]:
    if record is None:
        return []
    written = next(item for item in items if item.source is None and item.message.kind == "summary")
    kept = sum(item.raw for item in items if item.source is not None and transcript.head <= item.source < record.upto)
    edit = Edit(
        "summarize",
        transcript.head,
        written.strategy,
        digest=record.prefix_hash,
        stop=record.upto,
        tokens_before=transcript.tokens(transcript.head, record.upto) - kept,
        tokens_after=written.raw,
        replacement=written.message,
    )
    return [edit]


def _changes(
    transcript: Transcript, length: int, items: Sequence[Item], summary: Sequence[Edit], dropped_by: Mapping[int, str]
) -> list[Edit]:
    kept = {item.source: item for item in items}
    covered = range(summary[0].index, summary[0].stop) if summary else range(0)
    inside = sorted(source for source in kept if source is not None and source in covered)
    edits: list[Edit] = []
    for index in (*range(covered.start), *inside, *range(covered.stop, length)):
        item = kept.get(index)
        before = transcript.tokens(index, index + 1)
        if item is None:
            edits.append(Edit("drop", index, dropped_by.get(index, ""), tokens_before=before))
        elif item.message is not transcript[index]:
            new = item.message
            edits.append(
                Edit("replace", index, item.strategy, tokens_before=before, tokens_after=item.raw, replacement=new)
            )
    return edits


def _inserts(items: Sequence[Item], record: SummaryRecord | None) -> list[Edit]:
    edits: list[Edit] = []
    anchor = -1
    for item in items:
        if item.source is not None:
            anchor = item.source
        elif not (record is not None and item.message.kind == "summary"):
            edits.append(Edit("insert", anchor, item.strategy, tokens_after=item.raw, replacement=item.message))
    return edits


def _named(edit: Edit, transcript: Transcript) -> Edit:
    """The same edit with the digest and occurrence of its message."""
    if edit.index < 0:
        return edit
    return replace(edit, digest=transcript.message_digest(edit.index), occurrence=transcript.occurrence(edit.index))


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
        positions = positions or _positions(transcript, length)
        index = positions.get((edit.digest, edit.occurrence))
        if index is not None:
            found.append(replace(edit, index=index))
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


def after(old: Sequence[Edit], removed: Sequence[int], added: object) -> list[Edit]:
    """The edits of a prompt, from those of the one before it and the recorded difference; `added` may be plain data."""
    gone = set(removed)
    edits = [edit for position, edit in enumerate(old) if position not in gone]
    for position, edit in convert(added, list[tuple[int, Edit]]):
        edits.insert(position, edit)
    return edits
