"""Where output goes: results to standard output, problems and notes and progress to standard error.

Tables are plain columns, as wide as they must be unless a terminal limits them.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from aaa.cli.problems import Problem, printable

__all__ = ["SCHEMA", "Terminal", "can_write"]

SCHEMA = "aaa.cli/1"
_UNLIMITED = 100_000  # columns, where no terminal sets a limit
_MOST_PROBLEMS = 20  # of one file, by name; the rest is counted


def _console(*, stderr: bool) -> Console:
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    width = None if is_terminal else _UNLIMITED
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


class Terminal:
    """Both outputs of one command, and the problems met so far."""

    def __init__(self) -> None:
        self.out = _console(stderr=False)
        self.err = _console(stderr=True)
        self._problems: list[Problem] = []
        self._seen: Counter[str] = Counter()

    def note(self, text: str) -> None:
        """Tell something that is no result, on one line."""
        self.err.print(printable(text), soft_wrap=True)

    def problem(self, problem: Problem) -> None:
        """Report a problem; from one file only the first are shown."""
        self._seen[problem.file] += 1
        if self._seen[problem.file] <= _MOST_PROBLEMS:
            self._problems.append(problem)
            self.note(str(problem))

    def close(self) -> list[Problem]:
        """The problems, after counting what was not shown; to be called once, at the end."""
        for file, count in self._seen.items():
            if count > _MOST_PROBLEMS:
                rest = Problem(file, f"{count - _MOST_PROBLEMS:,} more problems like these")
                self._problems.append(rest)
                self.note(str(rest))
        return self._problems

    @property
    def exit_status(self) -> int:
        """2 if there was any problem, else 0."""
        return 2 if self._seen else 0

    def text(self, text: str = "") -> None:
        """Print a line of results."""
        self.out.print(text, soft_wrap=True)

    def table(self, titles: Sequence[str], rows: Iterable[Sequence[str | int]], *, left: int = 1) -> None:
        """Print rows in columns; all but the first `left` are numbers, aligned at the right."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for position, title in enumerate(titles):
            table.add_column(title, justify="left" if position < left else "right", overflow="fold")
        for row in rows:
            table.add_row(*(f"{cell:,}" if isinstance(cell, int) else printable(cell) for cell in row))
        self.out.print(table)

    def document(self, command: str, results: Sequence[object], total: object) -> None:
        """Print the one JSON document of a command, ASCII only, so that any console can write it."""
        errors = [problem.to_dict() for problem in self.close()]
        fields = {"schema": SCHEMA, "command": command, "results": results, "total": total, "errors": errors}
        sys.stdout.write(json.dumps(fields, indent=2) + "\n")


def can_write(text: str) -> bool:
    """Whether standard output can show `text` as it is."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
