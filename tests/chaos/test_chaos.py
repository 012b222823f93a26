"""A few short runs of the chaos, so that it keeps working; `make chaos` does five hundred long ones."""

import json

from tests.chaos.__main__ import main
from tests.chaos.running import run_one
from tests.chaos.texts import WORDINGS, Sizes


def test_short_runs_end_in_success_or_a_clear_error_and_their_logs_are_whole(tmp_path):
    results = [run_one(0, number, 15, tmp_path) for number in (3, 8, 14, 18)]

    assert [problem for result in results for problem in result.problems] == []
    assert {result.provider for result in results} >= {"ollama", "anthropic", "openai"}
    assert all(result.ending for result in results)


def test_a_run_is_drawn_from_its_seed_and_number_alone(tmp_path):
    (tmp_path / "again").mkdir()
    first, again = run_one(0, 14, 6, tmp_path), run_one(0, 14, 6, tmp_path / "again")

    assert (first.ending, first.counts, first.faults) == (again.ending, again.counts, again.faults)


def test_wordings_hold_the_numbers_of_the_request():
    sizes = Sizes(window=4_000, prompt=5_003, output=256, tools=77, characters=20_012, byte_count=21_000)

    said = [wording.said(sizes) for wording in WORDINGS if wording.kind == "tokens"]

    assert "prompt is too long: 5003 tokens > 4000 maximum" in said
    assert not any("{" in text for text in said if "_" not in text)


def test_the_command_prints_a_sum_and_succeeds_where_all_holds(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["chaos", "--runs", "1", "--steps", "4", "--json"])

    assert main() == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["runs"], printed["violations"]) == (1, 0)
