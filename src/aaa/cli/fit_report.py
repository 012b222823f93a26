"""What `aaa fit` prints: a row per conversation, the totals, refusals, and edits if asked for."""

from collections import Counter
from collections.abc import Sequence

from aaa.cli.edits import edit_dicts, edit_rows
from aaa.cli.fitting import Fitted
from aaa.cli.problems import printable
from aaa.cli.tally import Tally
from aaa.cli.terminal import Terminal

__all__ = ["Line", "fit_dict", "print_fit"]

_TITLES = ("conversation", "calls", "largest without", "with", "compactions", "floor", "refused")
_EDIT_TITLES = ("item", "role", "action", "strategy", "tokens before", "after")


class Line:
    """What the report keeps of one conversation: its counts and, if wanted, the edits of its last call."""

    def __init__(self, fitted: Fitted, *, with_plan: bool) -> None:
        self.file, self.line = fitted.conversation.file, fitted.conversation.line
        self.id = fitted.conversation.id
        self.messages = len(fitted.conversation.messages)
        self.tally = fitted.tally
        self.warnings = fitted.warnings
        self.is_refused = fitted.last is None and fitted.tally.calls > 0
        self.rows = edit_rows(fitted) if with_plan else []
        self.edits = edit_dicts(fitted) if with_plan else None


def fit_dict(line: Line) -> dict[str, object]:
    """One conversation for a JSON document."""
    fields: dict[str, object] = {"file": line.file, "line": line.line, "id": line.id, "messages": line.messages}
    fields |= line.tally.to_dict()
    fields["refusals"] = [refusal.to_dict() for refusal in line.tally.refusals]
    fields["warnings"] = line.warnings
    if line.edits is not None:
        fields["plan"] = None if line.is_refused else line.edits
    return fields


def print_fit(terminal: Terminal, lines: Sequence[Line], total: Tally, *, with_plan: bool) -> None:
    """Print the whole report."""
    rows = [_row(line.id, line.tally) for line in lines]
    if len(lines) != 1:
        rows.append(_row(f"all {len(lines):,}", total))
    terminal.table(_TITLES, rows)
    _print_counts(terminal, "applied", total.applied)
    _print_counts(terminal, "floor", total.floor)
    _print_counts(terminal, "not taken", total.rejected)
    for line in lines:
        _print_refusal(terminal, line)
    for line in lines if with_plan else ():
        _print_plan(terminal, line)


def _row(name: str, tally: Tally) -> tuple[str | int, ...]:
    with_policy = tally.largest_with if tally.calls > tally.refused else "-"
    floor = sum(tally.floor.values())
    return (name, tally.calls, tally.largest_without, with_policy, tally.compactions, floor, tally.refused)


def _print_counts(terminal: Terminal, what: str, counts: Counter[str]) -> None:
    if counts:
        parts = ", ".join(f"{name} {count:,}" for name, count in counts.most_common())
        terminal.text(f"{what} (calls): {printable(parts)}")


def _print_refusal(terminal: Terminal, line: Line) -> None:
    """The first refusal of a conversation, with its sizes."""
    for refusal in line.tally.refusals[:1]:
        error = refusal.error
        terminal.text(
            f"{printable(line.id)}: refused {line.tally.refused:,} of {line.tally.calls:,} calls, first call "
            f"{refusal.call:,}: needs {error.needed_tokens:,} tokens (head {error.head_tokens:,} + tools "
            f"{error.tools_tokens:,} + newest turn {error.tail_tokens:,}), budget {error.budget_tokens:,} "
            f"(window {error.window_tokens:,} - reserve {error.reserve_tokens:,})"
        )


def _print_plan(terminal: Terminal, line: Line) -> None:
    terminal.text()
    name = f"{printable(line.id)}: last call"
    if line.is_refused:
        terminal.text(f"{name} refused")
    elif not line.rows:
        terminal.text(f"{name} sends everything, unchanged")
    else:
        terminal.text(f"{name}, edits: {len(line.rows):,}")
        terminal.table(_EDIT_TITLES, line.rows, left=4)
