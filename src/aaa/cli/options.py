"""The options several commands share, and the numbers that contradict each other."""

from typing import Annotated

import typer

__all__ = ["Database", "Files", "Json", "RunId", "reserve_for", "wrong_numbers"]

_LARGEST_RESERVE = 4096

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help="JSON or JSON lines, plain or .gz; - is standard input.", show_default=False),
]
Database = Annotated[
    str, typer.Argument(metavar="DB", help="A SQLite file of runs, as SQLiteEventStore writes it.", show_default=False)
]
RunId = Annotated[str, typer.Argument(metavar="RUN_ID", help="Its id, as `aaa runs` lists it.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def reserve_for(window: int, reserve: int | None) -> int:
    """The reserve for the reply: as given, else a quarter of the window, at most 4,096 tokens."""
    return min(_LARGEST_RESERVE, window // 4) if reserve is None else reserve


def wrong_numbers(window: int, reserve: int, keep_recent: int) -> str:
    """What is wrong with the numbers of a policy, "" if nothing is."""
    if window <= 0:
        return f"--window must be above 0, got {window}"
    if reserve < 0:
        return f"--reserve must not be negative, got {reserve}"
    if reserve >= window:
        return f"--reserve must be below --window: got {reserve} of {window}"
    if keep_recent < 0:
        return f"--keep-recent must not be negative, got {keep_recent}"
    return ""
