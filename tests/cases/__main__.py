"""python -m tests.cases FILE.json [--only KIND] [--json]

One line a case: its id, its kind, and "pass" or the first expectation that was not met with what was found. Then a
total. The exit status is 1 if any case failed, 2 if the file is none of cases.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cases.running import Result, cases_of, run

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases of a file."""
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description="Run cases of context management.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", metavar="KIND", help="the cases of one kind, or the one of this id")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    asked = parser.parse_args(arguments)
    try:
        cases = cases_of(asked.file)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    cases = [case for case in cases if asked.only in (None, case.get("kind"), case.get("id"))]
    if not cases:
        sys.stderr.write(f"{asked.file}: no case{f' of {asked.only}' if asked.only else 's'}\n")
        return 2
    results: list[Result] = []
    for case in cases:
        results.append(run(case))
        _say(json.dumps(results[-1]._asdict()) if asked.json else _line(results[-1]))
    passed = sum(result.problem is None for result in results)
    _say(json.dumps({"passed": passed, "total": len(results)}) if asked.json else f"{passed} of {len(results)}")
    return 0 if passed == len(results) else 1


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _line(result: Result) -> str:
    pieces = (result.id, result.kind, "pass" if result.problem is None else result.problem)
    line = "  ".join(" ".join(piece.split()) for piece in pieces)
    return line.encode("ascii", "backslashreplace").decode()


if __name__ == "__main__":
    sys.exit(main())
