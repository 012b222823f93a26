"""Another process with a store of its own, spoken to line by line."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["WAIT_SECONDS", "running"]

WAIT_SECONDS = 30
ROOT = Path(__file__).resolve().parent.parent.parent.parent

_PRELUDE = """
import asyncio, os, sys
from aaa.errors import *
from aaa.runtime.events import Event
from aaa.runtime.stores import SQLiteEventStore

path = sys.argv[1]

def event(id, type="aaa.step.requested", **data):
    return Event(type=type, data=data, id=id, at=1.0)

def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\\n")
    sys.stdout.flush()

async def hear():
    return await asyncio.to_thread(sys.stdin.readline)
"""


@contextlib.contextmanager
def running(script: str, path: object) -> Iterator[subprocess.Popen[str]]:
    """A process that runs `script` with `path`, `event`, `say` and `hear`; killed at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PRELUDE + script, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(WAIT_SECONDS)
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
