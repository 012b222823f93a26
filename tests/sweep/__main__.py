"""`python -m tests.sweep [--exhaustive]`: no promise is broken for any recorded conversation, or for any small one."""

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from multiprocessing import get_context
from typing import Any

from tests.shared import trajectories
from tests.sweep.alphabet import TIERS, words
from tests.sweep.exhaustive import Found, check_words
from tests.sweep.sweeping import MOST_CALLS, WINDOWS, sweep
from tests.sweep.talk import talk_of
from tests.sweep.tally import Tally, table

Key = tuple[str, int, bool]


def main() -> int:
    """Sweep, and print what was found; 1 if anything is wrong."""
    arguments = _arguments()
    logging.disable(logging.WARNING)  # small windows and parts that a format has no place for are what is swept
    begun = time.monotonic()
    if arguments.exhaustive:
        found = _exhausted(arguments.jobs)
        _say(*found.lines(), f"{time.monotonic() - begun:,.0f} seconds, {found.wrong.total():,} violations")
        return min(found.wrong.total(), 1)
    tallies = _swept(arguments)
    wrong = sum(tally.wrong.total() for tally in tallies.values())
    lines = [json.dumps(_plain(tallies))] if arguments.json else table(tallies)
    _say(*lines, f"{time.monotonic() - begun:,.0f} seconds, {wrong:,} violations")
    return min(wrong, 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("--windows", type=int, nargs="+", default=WINDOWS, help="in tokens")
    parser.add_argument("--every", type=int, default=1, help="take every n-th conversation of each file")
    parser.add_argument("--calls", type=int, default=MOST_CALLS, help="at most so many calls of each conversation")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--exhaustive", action="store_true", help="small conversations with every edit instead")
    parser.add_argument("--json", action="store_true", help="the numbers as JSON in place of a table")
    return parser.parse_args()


def _swept(arguments: argparse.Namespace) -> dict[Key, Tally]:
    tasks = ((fields, arguments.windows, arguments.calls) for fields in trajectories(arguments.every))
    tallies: dict[Key, Tally] = {}
    for swept in _in_parallel(_sweep_one, tasks, arguments.jobs):
        for key, tally in swept.items():
            tallies.setdefault(key, Tally()).add(tally)
    return tallies


def _sweep_one(task: tuple[dict[str, Any], Sequence[int], int]) -> dict[Key, Tally]:
    fields, windows, most_calls = task
    return sweep(talk_of(fields), windows, most_calls=most_calls)


def _exhausted(jobs: int) -> Found:
    """All small conversations, shared out by how they begin."""
    tasks = [
        (letters, longest, max(shortest, len(prefix)), prefix)
        for shortest, longest, letters in TIERS
        for prefix in ("", *map("".join, product(letters, repeat=2)))
    ]
    found = Found()
    for each in _in_parallel(_exhaust_one, iter(tasks), jobs):
        found.add(each)
    return found


def _exhaust_one(task: tuple[str, int, int, str]) -> Found:
    letters, longest, shortest, prefix = task
    longest = longest if prefix else min(longest, 1)  # longer ones have a prefix
    return check_words(words(letters, longest=longest, shortest=shortest, prefix=prefix))


def _in_parallel(work: Callable[[Any], Any], tasks: Iterator[Any], jobs: int) -> Iterator[Any]:
    if jobs == 1:
        yield from map(work, tasks)
        return
    with get_context("fork").Pool(jobs) as pool:
        for number, done in enumerate(pool.imap_unordered(work, tasks), 1):
            if number % 25 == 0:
                sys.stderr.write(f"{number:,} done\n")
            yield done


def _plain(tallies: dict[Key, Tally]) -> list[dict[str, Any]]:
    return [
        {
            "format": format,
            "window": window,
            "sticky": is_sticky,
            **tally.counts,
            "rungs": tally.rungs,
            "violations": tally.wrong,
            "largest": tally.largest,
        }
        for (format, window, is_sticky), tally in tallies.items()
    ]


def _say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
