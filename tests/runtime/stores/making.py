"""Events, and SQLite connections that fail where a test wants them to."""

import sqlite3
from collections.abc import Callable

from aaa.runtime.events import Event

__all__ = ["Faults", "event", "failing", "tracing"]


def event(id: str, type: str = "aaa.step.requested", at: float = 1.0, **data: object) -> Event:
    return Event(type=type, data=data, id=id, at=at)


class Faults:
    """Fails the n-th statement of a store's writer, from 1; if `is_late` after doing it: its outcome is unknown."""

    def __init__(self, statement: int, problem: str, *, is_late: bool = False) -> None:
        self.left = statement
        self.problem = problem
        self.is_late = is_late
        self.hit = ""

    def execute(self, do: Callable[[], sqlite3.Cursor], sql: str) -> sqlite3.Cursor:
        self.left -= 1
        if self.left != 0:
            return do()
        self.hit = sql
        if self.is_late:
            do()
        raise sqlite3.OperationalError(self.problem)


def failing(faults: Faults) -> Callable[[str, float], sqlite3.Connection]:
    """A `connect` for `SQLiteEventStore`. Statements that read or change settings while it opens are not counted."""

    class FailingConnection(sqlite3.Connection):
        def execute(self, sql: str, *parameters: object) -> sqlite3.Cursor:  # type: ignore[override]
            def do() -> sqlite3.Cursor:
                return super(FailingConnection, self).execute(sql, *parameters)

            is_counted = not sql.startswith(("PRAGMA", "CREATE", "\n    SELECT (SELECT user_version"))
            return faults.execute(do, sql) if is_counted else do()

        def executemany(self, sql: str, parameters: object) -> sqlite3.Cursor:  # type: ignore[override]
            return faults.execute(lambda: super(FailingConnection, self).executemany(sql, parameters), sql)

    def connect(path: str, timeout: float) -> sqlite3.Connection:
        return sqlite3.connect(
            path, timeout=timeout, isolation_level=None, check_same_thread=False, factory=FailingConnection
        )

    return connect


def tracing(statements: list[str], *pragmas: str) -> Callable[[str, float], sqlite3.Connection]:
    """A `connect` that notes every statement of the writer, after these settings."""

    def connect(path: str, timeout: float) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        connection.set_trace_callback(statements.append)
        return connection

    return connect
