"""The programs of guides and examples run as they stand and print what is said there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))


def run(*arguments) -> str:
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_the_program_of_a_guide_prints_what_the_guide_says(guide, tmp_path):
    blocks = re.findall(r"```(\w+)\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    ((_, program), (_, printed)) = [block for block in blocks if block[0] in ("python", "text")]
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    assert run(script) == printed


def test_the_long_run_prints_the_figures_of_the_guide_on_sqlite_and_does_nothing_twice(tmp_path):
    database = tmp_path / "runs.db"
    lines = run(ROOT / "examples" / "long_run.py", database).splitlines()
    assert lines[0] == "largest request without a policy: 13668 tokens, in a window of 4000"
    assert lines[1] == "largest request with a policy:    3363 tokens"
    assert lines[2] == "calls of the model: 26; the answer: Done: I looked up all 25 topics."
    assert lines[3] == "compacted on 19 calls, using clear_tool_results, stored_summary, summarize"
    assert lines[4] == "summaries in the log: 4"
    assert "nothing was done again" in run(ROOT / "examples" / "long_run.py", database)
