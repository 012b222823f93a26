"""`aaa runs`: the runs of a database."""

from datetime import UTC, datetime
from typing import get_args

from aaa.cli.database import read
from aaa.cli.terminal import Terminal
from aaa.runtime import RunInfo
from aaa.runtime.outcome import Status

__all__ = ["STATUSES", "list_runs", "utc"]

STATUSES = ("running", "waiting", *get_args(Status))
_TITLES = ("run", "status", "started (UTC)", "last event", "events")


def list_runs(terminal: Terminal, path: str, status: str | None, *, as_json: bool) -> None:
    """Print the runs, oldest first.

    Raises:
        DatabaseError: there is no database of runs at `path`.
    """
    runs = read(path, lambda reader: reader.runs(status))
    if as_json:
        terminal.document("runs", [_result(run) for run in runs], {"runs": len(runs), "status": status})
        return
    rows = [(run.run_id, run.status, utc(run.started_at), utc(run.updated_at), run.head) for run in runs]
    if rows:
        terminal.table(_TITLES, rows, left=4)
    terminal.text(f"{len(runs):,} run{'s' * (len(runs) != 1)}" + (f" with status {status}" if status else ""))


def _result(run: RunInfo) -> dict[str, object]:
    times = {"started_at": run.started_at, "updated_at": run.updated_at}
    return {"run_id": run.run_id, "status": run.status, "events": run.head, **times}


def utc(seconds: float) -> str:
    """A time for people."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
