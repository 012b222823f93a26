"""Reading a database of runs: opened only if it is there, problems as one line."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from aaa.errors import RunError
from aaa.runtime import SQLiteEventStore

__all__ = ["DatabaseError", "with_store"]

Result = TypeVar("Result")


class DatabaseError(Exception):
    """The database, or a run in it, cannot be used; the text is for the user, on one line."""


def with_store(path: str, use: Callable[[SQLiteEventStore], Awaitable[Result]]) -> Result:
    """What `use` returns for the store at `path`.

    Raises:
        DatabaseError: no such file, no database of runs, or no such run.
    """
    if not Path(path).is_file():
        what = "is a directory" if Path(path).is_dir() else "there is no such file"
        raise DatabaseError(f"{path}: {what}")

    async def run() -> Result:
        async with SQLiteEventStore(path) as store:
            return await use(store)

    try:
        return asyncio.run(run())
    except RunError as error:
        raise DatabaseError(str(error) if path in str(error) else f"{path}: {error}") from error
