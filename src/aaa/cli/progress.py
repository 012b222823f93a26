"""A line on standard error that says how far a long command is: on a terminal, after a second, gone when it ends."""

import os
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from aaa.cli.problems import Problem, printable
from aaa.cli.reading import Conversation, conversations
from aaa.cli.source import Source

__all__ = ["LateProgress", "ReadingProgress"]

_DELAY_SECONDS = 1.0


class LateProgress:
    """Shows how much of `total` is done, once that takes long enough."""

    def __init__(self, console: Console, description: str, *, total: int | None) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, transient=True)
        self._is_wanted = console.is_terminal
        self._is_shown = False
        self._started = monotonic()
        self._task = self._progress.add_task(description, total=total)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            self._progress.stop()

    def advance(self, by: int) -> None:
        """So much more is done."""
        self._progress.advance(self._task, by)
        self.tick()

    def reach(self, done: int, description: str) -> None:
        """So much is done, in all."""
        self._progress.update(self._task, completed=done, description=printable(description))
        self.tick()

    def tick(self) -> None:
        """To be called now and then: starts to show something once that takes long enough."""
        if self._is_wanted and not self._is_shown and monotonic() - self._started > _DELAY_SECONDS:
            self._is_shown = True
            self._progress.start()


class ReadingProgress(LateProgress):
    """Reads `files` and shows how much of them is read."""

    def __init__(self, console: Console, files: Sequence[str]) -> None:
        super().__init__(console, "reading", total=_total_bytes(files))
        self._files = files

    def read(self) -> Iterator[Conversation | Problem]:
        """The conversations of all files, in order."""
        done = 0
        for name in self._files:
            source = Source(name)
            for item in conversations(source):
                self.reach(done + source.bytes_read, name)
                yield item
            done += source.bytes_read


def _total_bytes(files: Sequence[str]) -> int | None:
    """The size of all files, None if that is not known."""
    try:
        return sum(os.stat(name).st_size for name in files)
    except (OSError, ValueError):
        return None
