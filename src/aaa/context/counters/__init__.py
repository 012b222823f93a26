"""Token counters: literal, exact for OpenAI models, and calibrated by what the provider reports."""

from aaa.context.counters.calibrated import CalibratedCounter
from aaa.context.counters.exact import TiktokenCounter
from aaa.context.counters.heuristic import HeuristicCounter
from aaa.context.counters.measure import Measure
from aaa.context.counters.protocol import AdditiveCounter, TokenCounter

__all__ = ["AdditiveCounter", "CalibratedCounter", "HeuristicCounter", "Measure", "TiktokenCounter", "TokenCounter"]
