"""Every case of the file passes."""

from pathlib import Path

import pytest

from tests.cases.running import cases_of, run

CASES = cases_of(Path(__file__).with_name("cases.json"))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case):
    assert run(case).problem is None
