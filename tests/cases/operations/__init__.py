"""The operations of the notation, each by the public API."""

from collections.abc import Callable

from tests.cases.found import Found
from tests.cases.operations import compacting, counting, crashing, errors, fitting, gauging, racing, turns

__all__ = ["OPERATIONS"]

OPERATIONS: dict[str, Callable[[Found], None]] = {
    **fitting.OPERATIONS,
    **compacting.OPERATIONS,
    **counting.OPERATIONS,
    **gauging.OPERATIONS,
    **errors.OPERATIONS,
    **turns.OPERATIONS,
    **racing.OPERATIONS,
    **crashing.OPERATIONS,
}
