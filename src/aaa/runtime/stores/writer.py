"""One thread that writes, and commits together what waits together.

    tasks ──jobs──▶ queue ──▶ BEGIN │ SAVEPOINT job │ SAVEPOINT job │ … │ COMMIT ──▶ futures, on their loops

Making a commit durable costs the same for one append as for sixty-four, so the appends that arrive during one commit
share the next. Each stands in a savepoint: one that is refused undoes itself alone. If the database fails during a
job, the whole group is undone, and each is tried by itself: the one that filled the disk fails alone too.
"""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from aaa.errors import StoreError
from aaa.runtime.stores.schema import store_error

__all__ = ["Writer"]

T = TypeVar("T")


@dataclass(eq=False)
class _Job:
    run_id: str
    work: Callable[[sqlite3.Connection], Any]
    future: "asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop
    value: Any = None
    error: Exception | None = None


class _JobError(Exception):
    """SQLite failed within a job."""

    def __init__(self, error: sqlite3.Error) -> None:
        self.error = error


class Writer:
    """Runs jobs in order, each all or nothing, durable when its future is done.

    Args:
        open: opens a connection; called here for the first, and again if one breaks.
        on_commit: called in the writer's thread with the runs that were written.
        group_size: jobs in one transaction at most.
    """

    def __init__(
        self,
        path: str,
        open: Callable[[], sqlite3.Connection],
        on_commit: Callable[[Iterable[str]], None],
        *,
        group_size: int,
    ) -> None:
        self._path = path
        self._open = open
        self._on_commit = on_commit
        self._group_size = group_size
        self._connection: sqlite3.Connection | None = open()
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._gate = threading.Lock()  # so that nothing is queued behind the end
        self._thread: threading.Thread | None = None
        self._is_closed = False

    async def run(self, run_id: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction; its result, or what it raised, once that is committed.

        If the waiting task is cancelled, the work may be done nevertheless.

        Raises:
            StoreError: the database cannot be written; nothing of the work is in it.
        """
        loop = asyncio.get_running_loop()
        job = _Job(run_id, work, loop.create_future(), loop)
        with self._gate:
            self.check_open()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="aaa-store-writer", daemon=True)
                self._thread.start()
            self._queue.put(job)
        return await job.future

    def check_open(self) -> None:
        """Raise `StoreError` after `close`."""
        if self._is_closed:
            raise StoreError(f"the store of {self._path} is closed")

    def close(self) -> None:
        """Finish what is queued and close the connection. Blocks."""
        with self._gate:
            self._is_closed = True
            self._queue.put(None)
        if self._thread is not None:
            self._thread.join()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _work(self) -> None:
        is_open = True
        while is_open:
            jobs, is_open = self._next_group()
            if jobs:
                self._run_group(jobs)
                _deliver(jobs)

    def _next_group(self) -> tuple[list[_Job], bool]:
        jobs: list[_Job] = []
        with contextlib.suppress(Empty):
            while len(jobs) < self._group_size:
                job = self._queue.get(block=not jobs)
                if job is None:
                    return jobs, False
                jobs.append(job)
        return jobs, True

    def _run_group(self, jobs: Sequence[_Job]) -> None:
        try:
            self._commit(jobs)
        except _JobError as failure:  # before the commit: nothing is written, and the others may do without this one
            self._roll_back()
            if len(jobs) > 1:
                for job in jobs:
                    self._run_group([job])
            else:
                self._fail(jobs, failure.error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the waiting tasks get it and the thread lives on
            self._roll_back()
            self._fail(jobs, error)

    def _commit(self, jobs: Sequence[_Job]) -> None:
        connection = self._begin()
        for job in jobs:
            _attempt(connection, job)
        connection.execute("COMMIT")
        self._on_commit([job.run_id for job in jobs if job.error is None])

    def _begin(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._open()
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    def _roll_back(self) -> None:
        connection = self._connection
        if connection is not None and connection.in_transaction:
            try:
                connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._connection = None
                connection.close()

    def _fail(self, jobs: Sequence[_Job], error: Exception) -> None:
        for job in jobs:
            job.error = error
            if isinstance(error, sqlite3.Error):  # an exception for each: its traceback grows where it is raised
                job.error = store_error(self._path, "write", error)
                job.error.__cause__ = error


def _attempt(connection: sqlite3.Connection, job: _Job) -> None:
    connection.execute("SAVEPOINT job")
    job.error = None
    try:
        job.value = job.work(connection)
    except (sqlite3.DataError, sqlite3.IntegrityError) as error:
        job.error = StoreError(f"cannot write run {job.run_id!r}: {error}")
        job.error.__cause__ = error
    except sqlite3.Error as error:
        raise _JobError(error) from error  # of the database: full, or broken; the transaction may be gone
    except Exception as error:  # noqa: BLE001 - it is raised where the job is awaited
        job.error = error
    if job.error is not None:
        connection.execute("ROLLBACK TO job")
    connection.execute("RELEASE job")


def _deliver(jobs: Sequence[_Job]) -> None:
    loops = {job.loop for job in jobs}
    for loop in loops:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_complete, [job for job in jobs if job.loop is loop])


def _complete(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        if job.future.done():  # cancelled
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.value)
