"""What trimming plain messages costs, as ratios of processor times; and that `aimu` does what `aaa` does.

The smallest of several rounds is taken, and rounds of what is compared take turns. The recorded conversations stand
beside the repository; where they are missing, the last line is left out.
"""

import gc
import time
from collections.abc import Callable
from typing import Any

import pytest

import aimu
from benchmarks.measurement import Measurement
from tests.aimu.agreeing import disagreements
from tests.shared import trajectories

_FEW, _MANY, _ROUNDS = 5_000, 20_000, 7


def measure() -> list[Measurement]:
    """Trimming against counting, its growth, and disagreements with `aaa`."""
    few, many = _conversation(_FEW), _conversation(_MANY)
    counting, trimming, words = _fastest(lambda: aimu.count_tokens(many), _halving(many), _halving(many, _words))
    small, large = _fastest(_halving(few), _halving(many))
    return [
        Measurement("counting 20,000 messages", counting * 1e3, "ms"),
        Measurement("trimming them to half, against counting them", trimming / counting, "times", "at most 3"),
        Measurement("the same with a counter of whole texts", words / counting, "times"),
        Measurement(
            "a message's share, of 20,000 against of 5,000", large / small * _FEW / _MANY, "times", "at most 1.2"
        ),
        *_agreement(),
    ]


def _conversation(length: int) -> list[dict[str, Any]]:
    """A task, and calls with their results in turns."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go."}]
    for number in range((length - 2) // 2):
        function = {"name": "read", "arguments": f'{{"path": "src/module_{number}.py"}}'}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": f"line {number}: text\n" * 20})
    return messages


def _halving(messages: list[dict[str, Any]], counter: Callable[[str], int] | None = None) -> Callable[[], object]:
    budget = aimu.count_tokens(messages, counter=counter) // 2
    return lambda: aimu.trim_messages(messages, budget, counter=counter)


def _words(text: str) -> int:
    return text.count(" ")


def _fastest(*tasks: Callable[[], object]) -> list[float]:
    """Processor seconds of each task, the smallest of the rounds."""
    times: list[list[float]] = [[] for _ in tasks]
    gc.disable()  # whose turn it is would decide who pays for it
    try:
        for _ in range(_ROUNDS):
            for task, taken in zip(tasks, times, strict=True):
                gc.collect()
                begun = time.process_time()
                task()
                taken.append(time.process_time() - begun)
    finally:
        gc.enable()
    return list(map(min, times))


def _agreement() -> list[Measurement]:
    """On how many recorded conversations any plain function differs from `aaa`."""
    try:
        found = [disagreements(item["messages"]) for item in trajectories()]
    except pytest.skip.Exception:
        return []
    return [Measurement(f"of {len(found)} recorded conversations, treated differently", sum(map(bool, found)), "", "0")]
