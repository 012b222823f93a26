"""A process that dies anywhere: another one finishes the run as if nothing had been, and does nothing recorded again.

The normal run takes every third write and every second tool call, and all model and summary calls; with the
environment variable AAA_ALL_DATA set it takes every one.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.runtime.comparing import problems_of, problems_of_the_log
from tests.shared import sample_step

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(__file__).parent / "programs" / "crashing.py"
EVERY = {"write": 3, "tool": 2, "model": 1, "summary": 1}


def crashes(folder: Path, place: str, sticky: bool) -> list[dict]:
    """What the program says of each crash; the undisturbed run comes first."""
    asked = {"sticky": sticky, "places": [place], "every": sample_step(EVERY[place])}
    done = subprocess.run(
        [sys.executable, PROGRAM, folder],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("sticky", [False, True], ids=["default", "sticky"])
@pytest.mark.parametrize("place", list(EVERY))
def test_a_run_that_dies_anywhere_is_finished_by_the_next_process_as_if_it_had_not(tmp_path, place, sticky):
    whole, *rest = crashes(tmp_path, place, sticky)
    assert whole["outcome"]["status"] == "done"
    assert problems_of_the_log(whole["log"]) == []
    assert Counter(place for place, _ in whole["first"])["summary"] >= 3
    assert {crash["point"][2] for crash in rest} == {"before", "after"}
    visits = {"tool": 16, "model": 13, "summary": 3, "write": 30}[place]
    assert len(rest) >= 2 * (visits // sample_step(EVERY[place]))
    wrong = {" ".join(map(str, crash["point"])): problems_of(crash, whole) for crash in rest}
    assert {point: problems for point, problems in wrong.items() if problems} == {}
