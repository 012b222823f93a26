"""Output files are written completely or not at all."""

from pathlib import Path

import pytest

from aaa.cli.outfile import OutFile


def interrupted(goal: Path) -> None:
    with OutFile(str(goal)) as out:
        out.write({"id": "new"})
        raise KeyboardInterrupt


def test_what_was_there_stays_until_the_end_and_if_the_run_breaks_off(tmp_path):
    goal = tmp_path / "out.jsonl"
    goal.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        interrupted(goal)
    assert goal.read_text() == "old"
    assert list(tmp_path.iterdir()) == [goal]


def test_a_finished_file_takes_the_place_of_the_old_one(tmp_path):
    goal = tmp_path / "out.jsonl"
    goal.write_text("old")
    with OutFile(str(goal)) as out:
        out.write({"id": "new"})
    assert goal.read_text() == '{"id":"new"}\n'
    assert list(tmp_path.iterdir()) == [goal]
