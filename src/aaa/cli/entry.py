"""The way in: from the arguments to an exit status, with no traceback on the way.

Separate, so that it can say what to install when typer or rich is missing; nothing else here imports without them.
"""

import sys
from collections.abc import Sequence
from io import TextIOWrapper

__all__ = ["main"]

_FAILED, _INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, 2 if anything was wrong with the input, 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a console that lacks a letter is no reason to stop
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED


def _run(arguments: Sequence[str]) -> int:
    try:
        from aaa.cli.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "aaa":
            raise
        print(f"aaa needs {error.name}: pip install 'aaa-agents[cli]'", file=sys.stderr)
        return _FAILED
    return run(arguments)
