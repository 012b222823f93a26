"""Token counters: literal, exact for OpenAI models, by model with media, and calibrated by what is reported."""

from aaa.context.counters.by_model import ModelCounter, counter_for
from aaa.context.counters.calibrated import CalibratedCounter
from aaa.context.counters.exact import TiktokenCounter
from aaa.context.counters.heuristic import HeuristicCounter
from aaa.context.counters.measure import Measure
from aaa.context.counters.protocol import AdditiveCounter, TokenCounter

__all__ = [
    "AdditiveCounter",
    "CalibratedCounter",
    "HeuristicCounter",
    "Measure",
    "ModelCounter",
    "TiktokenCounter",
    "TokenCounter",
    "counter_for",
]
