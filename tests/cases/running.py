"""One case: its operation is done, then its expectations are looked at."""

import json
import logging
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.cases.checks import CHECKS
from tests.cases.found import Found
from tests.cases.notation import expanded
from tests.cases.operations import OPERATIONS
from tests.time_limit import time_limit

__all__ = ["Result", "cases_of", "run"]

_LONGEST_SECONDS = 120  # of one case: one that never ends does not keep the others from being tried


class Result(NamedTuple):
    """What came of one case; `problem` is None if it passed."""

    id: str
    kind: str
    problem: str | None


def cases_of(path: Path) -> list[dict[str, Any]]:
    """The cases of a file.

    Raises:
        ValueError: it is not one of cases, or cannot be read; the message says what is wrong.
    """
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {_short(error)}") from error
    cases = document.get("cases") if isinstance(document, dict) else document
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise ValueError(f'{path}: a file of cases has a list "cases" of objects')
    return cases


def run(case: Mapping[str, Any]) -> Result:
    """Do what a case says and look at what it expects, up to the first thing that is otherwise."""
    return Result(str(case.get("id")), str(case.get("kind")), _problem_of(case))


def _problem_of(case: Mapping[str, Any]) -> str | None:
    try:
        found = Found(expanded(case["input"]))
        operation = OPERATIONS.get(found.case["op"])
        expectations = [(expected["check"], expected.get("say", ""), expected) for expected in case["expect"]]
    except Exception as error:  # noqa: BLE001 - a case that cannot be read is reported, and the others go on
        return f"not a case: {_told(error)}"
    if operation is None:
        return f"no operation {found.case['op']!r}"
    try:
        with _warnings_in(found.warnings), time_limit(_LONGEST_SECONDS):
            operation(found)
    except Exception as error:  # noqa: BLE001 - a case that breaks is reported, and the others go on
        return f"{found.case['op']} broke: {_told(error)}"
    return _first_problem(found, expectations)


def _first_problem(found: Found, expectations: Iterable[tuple[str, str, Mapping[str, Any]]]) -> str | None:
    for name, say, expected in expectations:
        check = CHECKS.get(name)
        if check is None:
            return f"no check {name!r} ({say})"
        try:
            problem = check(found, expected)
        except Exception as error:  # noqa: BLE001 - a check that finds nothing to look at has failed
            problem = _told(error)
        if problem is not None:
            return f"{name} ({say}): {problem}"
    return None


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {_short(error)}"


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:200]}…"


class _Kept(logging.Handler):
    """Keeps warnings as text."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())


@contextmanager
def _warnings_in(lines: list[str]) -> Any:
    """What our loggers warn of meanwhile goes into `lines`, and nowhere else."""
    loggers = [logging.getLogger(name) for name in ("aaa", "aimu")]
    kept, propagated = _Kept(lines), [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(kept)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagate in zip(loggers, propagated, strict=True):
            logger.removeHandler(kept)
            logger.propagate = propagate
