"""What a case expects, check by check."""

from tests.cases.checks import counterparts, outcomes, pairs, shapes, signatures, sizes, texts
from tests.cases.checks.registry import CHECKS

__all__ = ["CHECKS", "counterparts", "outcomes", "pairs", "shapes", "signatures", "sizes", "texts"]
