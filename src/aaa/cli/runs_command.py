"""`aaa runs` and `aaa delete`: the runs of a database."""

from datetime import UTC, datetime

from aaa.cli.database import with_store
from aaa.cli.terminal import Terminal
from aaa.runtime import Engine, RunInfo, SQLiteEventStore

__all__ = ["delete_run", "list_runs"]


def list_runs(path: str, status: str | None, *, as_json: bool) -> None:
    """Print the runs, oldest first."""
    terminal = Terminal()
    runs = with_store(path, lambda store: store.runs(status))
    if as_json:
        terminal.document("runs", [_result(run) for run in runs], {"runs": len(runs)})
        return
    rows = [(run.run_id, run.status, _time(run.started_at), _time(run.updated_at), run.head) for run in runs]
    if rows:
        terminal.table(("run", "status", "started (UTC)", "last event", "events"), rows, left=4)
    terminal.text(f"{len(runs):,} runs" + (f" that are {status}" if status else ""))


def _result(run: RunInfo) -> dict[str, object]:
    times = {"started_at": run.started_at, "updated_at": run.updated_at}
    return {"run_id": run.run_id, "status": run.status, "events": run.head, **times}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def delete_run(path: str, run_id: str, *, as_json: bool) -> bool:
    """Delete a run and its children; says whether there was one."""

    async def delete(store: SQLiteEventStore) -> bool:
        async with Engine(store) as engine:
            return await engine.delete_run(run_id)

    is_deleted = with_store(path, delete)
    terminal = Terminal()
    if as_json:
        terminal.document("delete", [{"run_id": run_id, "deleted": is_deleted}], {"deleted": int(is_deleted)})
    elif is_deleted:
        terminal.text(f"deleted {run_id} with all it held")
    return is_deleted
