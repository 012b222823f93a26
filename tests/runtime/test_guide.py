"""The program of the guide, as it stands there, prints what stands after it."""

import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parent.parent.parent.parent / "shared" / "spec" / "aaa-guide.txt"
FIRST, LAST = '"""Context management: a 25-step run', "asyncio.run(main())\n"


def test_the_program_of_the_guide_prints_its_six_lines(tmp_path):
    if not GUIDE.is_file():
        pytest.skip("needs the guide: no file ../shared/spec/aaa-guide.txt beside the repository")
    guide = GUIDE.read_text(encoding="utf-8")
    program, _, rest = guide[guide.index(FIRST) :].partition(LAST)
    script = tmp_path / "guide.py"
    script.write_text(program + LAST, encoding="utf-8")
    expected = rest.strip().splitlines()[:6]
    assert expected[0].startswith("without a policy")
    assert expected[5].startswith("the log still holds every message")
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, encoding="utf-8")
    assert done.stderr == ""
    assert done.stdout.splitlines() == expected
