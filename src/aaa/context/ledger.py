"""From a prompt back to its edits, and from kept edits to those still in force.

An edit in force is found by its message's digest and by how many equal ones come before it, so edits survive in a
list that was changed elsewhere and are void where their message is gone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from aaa.context.edits import MARKED, Edit, Item
from aaa.context.groups import is_pinned
from aaa.context.summaries import SummaryRecord
from aaa.context.transcript import Transcript
from aaa.messages import with_extra_of

__all__ = ["after", "difference", "edits_of", "in_force", "summary_edit", "with_calls"]


def edits_of(
    transcript: Transcript,
    length: int,
    items: Sequence[Item],
    record: SummaryRecord | None,
    dropped_by: Mapping[int, str],
) -> tuple[Edit, ...]:
    """What makes `items` out of the first `length` messages, in order. Cost: O(messages)."""
    summary = [] if record is None else [_summary_of(transcript, items, record)]
    changes = _changes(transcript, length, items, summary, dropped_by)
    named = [_named(edit, transcript) for edit in (*changes, *_inserts(items))]
    return tuple(sorted([*summary, *named], key=lambda edit: edit.index))


def _summary_of(transcript: Transcript, items: Sequence[Item], record: SummaryRecord) -> Edit:
    written = next((item for item in items if _is_written_summary(item)), None)
    kept = tuple(i.source for i in items if i.source is not None and transcript.head <= i.source < record.upto)
    return summary_edit(transcript, record, kept, written)


def summary_edit(transcript: Transcript, record: SummaryRecord, kept: Sequence[int], written: Item | None) -> Edit:
    """The edit that puts `written` in the place of what `record` covers, the messages at `kept` apart."""
    return Edit(
        "summarize",
        transcript.head,
        "summarize",
        digest=record.prefix_hash,
        stop=record.upto,
        kept=tuple(kept),
        tokens_before=transcript.tokens(transcript.head, record.upto) - sum(transcript.tokens(i, i + 1) for i in kept),
        tokens_after=written.raw if written else 0,
        replacement=written.message if written else None,
    )


def _is_written_summary(item: Item) -> bool:
    return item.source is None and item.message.kind == "summary"


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
            new = with_extra_of(item.message, None)
            edits.append(
                Edit("replace", index, item.strategy, tokens_before=before, tokens_after=item.raw, replacement=new)
            )
    return edits


def _inserts(items: Sequence[Item]) -> list[Edit]:
    """What strategies wrote, but for summary and marker, which belong to the edits that they tell of."""
    edits: list[Edit] = []
    anchor = -1
    for item in items:
        if item.source is not None:
            anchor = item.source
        elif item.message.kind not in ("summary", "marker"):
            edits.append(Edit("insert", anchor, item.strategy, tokens_after=item.raw, replacement=item.message))
    return edits


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
        if edit.index < 0 or (edit.index < length and transcript.message_digest(edit.index) == edit.digest):
            found.append(edit)
            continue
        positions = positions or _positions(transcript, length)
        index = positions.get((edit.digest, edit.occurrence))
        if index is not None:
            found.append(replace(edit, index=index))
    return [edit for edit in found if _may_apply(edit, transcript)]


def with_calls(edits: Sequence[Edit], transcript: Transcript, length: int) -> list[Edit]:
    """The edits, and drops of results whose call is gone; drops of results whose call is there are void.

    Cost: O(edits, messages after the first one that is gone).
    """
    summary = next((edit for edit in edits if edit.action == "summarize"), None)
    dropped = {edit.index: edit for edit in edits if edit.action == "drop"}
    covered = range(summary.index, summary.stop) if summary else range(0)
    kept = set(summary.kept) if summary else set[int]()
    first = min([*dropped, covered.stop if summary else length])
    late: list[Edit] = []
    for index in range(first, length):
        call = transcript.call_of(index)
        if call is None:
            continue
        is_gone = call in dropped or (call in covered and call not in kept)
        if is_gone and index not in dropped and index not in covered:
            dropped[index] = _named(_late_drop(transcript, index, dropped.get(call)), transcript)
            late.append(dropped[index])
        elif not is_gone and dropped.pop(index, None) is not None:
            continue
    keep = [edit for edit in edits if edit.action != "drop" or edit.index in dropped]
    return sorted([*keep, *late], key=lambda edit: edit.index) if late else keep


def _late_drop(transcript: Transcript, index: int, with_call: Edit | None) -> Edit:
    strategy = with_call.strategy if with_call else MARKED[0]
    return Edit("drop", index, strategy, tokens_before=transcript.tokens(index, index + 1))


def _may_apply(edit: Edit, transcript: Transcript) -> bool:
    return edit.action in ("insert", "summarize") or (
        edit.index >= transcript.head and not is_pinned(transcript[edit.index])
    )


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
