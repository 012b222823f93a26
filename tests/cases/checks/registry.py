"""The checks by their names in the notation. A check gives the problem it found, or None."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.cases.found import Found

__all__ = ["CHECKS", "Check", "check"]

Check = Callable[[Found, Mapping[str, Any]], str | None]

CHECKS: dict[str, Check] = {}


def check(*names: str) -> Callable[[Check], Check]:
    """Register a check under the names it has."""

    def register(function: Check) -> Check:
        CHECKS.update(dict.fromkeys(names, function))
        return function

    return register
