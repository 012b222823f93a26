"""What a case expects, check by check."""

from tests.cases.checks import counterparts, outcomes, shapes, sizes, texts
from tests.cases.checks.registry import CHECKS

__all__ = ["CHECKS", "counterparts", "outcomes", "shapes", "sizes", "texts"]
