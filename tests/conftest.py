"""Hypothesis profiles: `ci` when CI is set, `long` to hunt (HYPOTHESIS_MAX_EXAMPLES), else `default`."""

import os

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example]

settings.register_profile("default", deadline=None, max_examples=25, suppress_health_check=_QUIET)
settings.register_profile(
    "ci", deadline=None, max_examples=25, derandomize=True, database=None, print_blob=True, suppress_health_check=_QUIET
)
settings.register_profile(
    "long",
    deadline=None,
    max_examples=int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", "5000")),
    print_blob=True,
    suppress_health_check=_QUIET,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))
