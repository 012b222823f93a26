"""`python -m tests.fuzz [--seconds N] [--seed N]`: hunts until the time is over, or a promise is broken."""

import argparse
import logging
import sys
import time
import warnings
from collections import Counter

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.guarantee import check_each_prompt
from tests.strategies import conversations, policy_specs, usages
from tests.wire.rules.histories import histories
from tests.wire.rules.profiles import MODELS_OF

_ROUND = 100  # conversations between two looks at the clock

TARGETS = [(provider, model) for provider, models in MODELS_OF.items() for model in models]


def main() -> None:
    """Hunt, and say what was tried; exit status 1 with the smallest failing input if there is one."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to hunt (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="of the first round; each further one adds 1")
    arguments = parser.parse_args()
    tried: Counter[str] = Counter()
    end, number = time.monotonic() + arguments.seconds, arguments.seed
    warnings.simplefilter("error")
    logging.getLogger("aaa").setLevel(logging.ERROR)  # policies that compact every call are what is hunted with
    while time.monotonic() < end:
        try:
            _round(number, tried)
        except Exception:
            print(f"seed {number}, after {_summary(tried)}", file=sys.stderr)
            raise
        number += 1
    print(f"{_summary(tried)}, seeds {arguments.seed} to {number - 1}: no promise broken")


def _round(number: int, tried: "Counter[str]") -> None:
    @seed(number)
    @settings(max_examples=_ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        st.one_of(conversations(max_turns=6), conversations(max_turns=4, late=True), histories()),
        policy_specs(),
        st.sampled_from(TARGETS),
        st.lists(usages(), max_size=3),
        st.sampled_from((None, None, None, 1, 500, 5_000)),
    )
    def hunt(messages, spec, target, reports, max_bytes):
        try:
            prompts, errors = check_each_prompt(spec.build(), messages, *target, reports, max_bytes)
        except Exception as error:
            if not tried["broken"]:
                print(f"seed {number}: {error!r}; looking for a smaller input, up to five minutes", file=sys.stderr)
            tried["broken"] += 1
            raise
        tried.update(conversations=1, messages=len(messages), prompts=prompts, errors=errors)

    hunt()


def _summary(tried: "Counter[str]") -> str:
    names = ("conversations", "messages", "prompts", "errors")
    return ", ".join(f"{tried[name]:,} {name}" for name in names)


if __name__ == "__main__":
    main()
