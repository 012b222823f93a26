"""`aaa delete`: a run and its children, gone for good, after a question."""

import sys

from aaa.cli.database import Reader, change, events_of, read
from aaa.cli.problems import printable
from aaa.cli.terminal import Terminal
from aaa.runtime import Engine, RunInfo

__all__ = ["delete_run"]


def delete_run(terminal: Terminal, path: str, run_id: str, *, is_sure: bool, as_json: bool) -> None:
    """Delete the run if the user wants it, and print what went.

    Raises:
        DatabaseError: there is no such database or run, or it cannot be written.
    """
    run, *children = read(path, lambda reader: _family(reader, run_id))
    if not is_sure and not _is_wanted(terminal, path, run, len(children)):
        gone: list[str] = []
    else:
        gone = change(path, lambda engine: _delete(engine, run_id))
    if as_json:
        results = [{"run_id": info.run_id, "deleted": info.run_id in gone} for info in (run, *children)]
        terminal.document("delete", results, {"deleted": len(gone)})
    elif gone:
        terminal.text(f"deleted {printable(run_id)}{_with(len(gone) - 1)}, with all they held")
    else:
        terminal.text("nothing was deleted")


async def _family(reader: Reader, run_id: str) -> list[RunInfo]:
    """The run, then its children and theirs."""
    await events_of(reader, run_id)
    runs, family = await reader.runs(None), [run_id]
    # A child's id begins with its parent's, but not every id that does is a child's.
    for info in sorted(runs, key=lambda info: info.run_id.count("/")):
        if info.run_id.startswith(f"{run_id}/"):
            (started, *_), _ = await reader.page(info.run_id, 0, 1)
            if started.data.get("parent") in family:
                family.append(info.run_id)
    return sorted((info for info in runs if info.run_id in family), key=lambda info: family.index(info.run_id))


async def _delete(engine: Engine, run_id: str) -> list[str]:
    """Delete, and say which runs are gone."""
    before = [info.run_id for info in await engine.store.runs()]
    await engine.delete_run(run_id)
    left = {info.run_id for info in await engine.store.runs()}
    return [run_id for run_id in before if run_id not in left]


def _is_wanted(terminal: Terminal, path: str, run: RunInfo, children: int) -> bool:
    what = f"{run.run_id} ({run.status}, {run.head:,} events){_with(children)}"
    terminal.err.print(printable(f"Delete {what} from {path}? [y/N] "), soft_wrap=True, end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _with(children: int) -> str:
    return f" and {children:,} child{'ren' * (children != 1)}" if children else ""
