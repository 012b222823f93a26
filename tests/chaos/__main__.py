"""`python -m tests.chaos [--runs N] [--steps N] [--seed N] [--only N]`: whole runs against a provider that goes wrong.

After 400 runs and more, further ones follow until every known text of an overflow was said. Exit status 1 if anything
did not hold, with the command that repeats it.
"""

import argparse
import gc
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.chaos.running import RunResult, run_one
from tests.chaos.tally import problems, table, totals
from tests.chaos.texts import WORDINGS

_BATCH = 5  # runs that a process does at a time
_WORTH_ALL_TEXTS = 400  # runs from which on every known text is to be said
_MOST = 1.5  # times the runs that were asked for


def main() -> int:
    """Run them all, and say what happened."""
    asked = _arguments()
    warnings.simplefilter("error")
    numbers = [asked.only] if asked.only is not None else list(range(asked.runs))
    began = time.monotonic()
    results: list[RunResult] = []
    while numbers:
        whole = len(results) + len(numbers)
        for some in _results(numbers, asked):
            results += some
            _show_progress(results, whole)
        numbers = _for_the_rest(results) if _WORTH_ALL_TEXTS <= len(results) < _MOST * asked.runs else []
    results.sort(key=lambda result: result.number)
    summary = totals(results, seconds=time.monotonic() - began)
    print(json.dumps(summary, indent=1) if asked.json else table(summary))
    for line in problems(results, asked.seed, asked.steps):
        print(line, file=sys.stderr)
    return 1 if any(result.problems for result in results) else 0


def _for_the_rest(results: Sequence[RunResult]) -> list[int]:
    """Further runs, each of which begins with a text that none has been refused with yet."""
    said = set[int]().union(*(result.wordings for result in results))
    next_round = max(result.number for result in results) // len(WORDINGS) + 1
    return [next_round * len(WORDINGS) + index for index in range(len(WORDINGS)) if index not in said]


def _show_progress(results: Sequence[RunResult], of: int) -> None:
    """One line on a terminal, written over and over."""
    if sys.stderr.isatty():
        bad = sum(bool(result.problems) for result in results)
        end = "\n" if len(results) == of else ""
        print(f"\r{len(results)} of {of} runs, {bad} with violations", end=end, file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="how many runs (default 500)")
    parser.add_argument("--steps", type=int, default=60, help="model calls of a run that nothing ends (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (default 0)")
    parser.add_argument("--only", type=int, help="the number of the only run to do")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    parser.add_argument("--json", action="store_true", help="print the sum as JSON")
    return parser.parse_args()


def _results(numbers: Sequence[int], asked: argparse.Namespace) -> Iterator[list[RunResult]]:
    """The results as they come, in batches."""
    batches = [numbers[at : at + _BATCH] for at in range(0, len(numbers), _BATCH)]
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        if asked.jobs == 1 or len(batches) == 1:
            for batch in batches:
                yield _batch(asked.seed, batch, asked.steps, folder)
            return
        with ProcessPoolExecutor(asked.jobs) as pool:
            waiting = [pool.submit(_batch, asked.seed, batch, asked.steps, folder) for batch in batches]
            for done in as_completed(waiting):
                yield done.result()


def _batch(seed: int, numbers: Sequence[int], steps: int, folder: str) -> list[RunResult]:
    warnings.simplefilter("error")
    gc.collect()
    gc.freeze()  # each run collects what it left, and need not look at the SDKs
    return [run_one(seed, number, steps, Path(folder)) for number in numbers]


if __name__ == "__main__":
    sys.exit(main())
