"""What the runner says of cases that it cannot take, and of files that hold none."""

import json

import pytest

from tests.cases.__main__ import main
from tests.cases.notation import expanded
from tests.cases.running import run

SAID = {"op": "prepare", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ({"input": {"op": "dance"}, "expect": []}, "no operation 'dance'"),
        ({"input": SAID, "expect": [{"check": "glows"}]}, "no check 'glows' ()"),
        ({"input": SAID}, "not a case: KeyError: 'expect'"),
        ({}, "not a case: KeyError: 'input'"),
        ({"input": SAID | {"format": "runes"}, "expect": []}, "prepare broke: ValueError: a format that is not known"),
        ({"input": {"op": "race", "steps": ["leap:far"]}, "expect": []}, "race broke: ValueError: a step that is not"),
    ],
)
def test_a_case_that_cannot_be_taken_fails_with_a_reason(case, problem):
    found = run({"id": "x", "kind": "y"} | case).problem

    assert found is not None
    assert found.startswith(problem)


@pytest.mark.parametrize("text", ["{", "[1]", '{"cases": 3}', '{"cases": []}'])
def test_a_file_without_cases_is_one_line_and_status_2(tmp_path, capsys, text):
    path = tmp_path / "cases.json"
    path.write_text(text)

    assert main([str(path), "--json"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)


def test_each_line_of_json_is_an_object_whatever_a_case_holds(tmp_path, capsys):
    path = tmp_path / "cases.json"
    odd = {"id": "\ud83d", "kind": "k\n", "input": SAID, "expect": [{"check": "keeps", "text": "\ud83d", "say": "\n"}]}
    path.write_text(json.dumps({"cases": [odd, {}]}))

    assert main([str(path), "--json"]) == 1
    assert main([str(path)]) == 1
    *lines, first, second, total = capsys.readouterr().out.splitlines()
    assert [set(json.loads(line)) for line in lines] == [{"id", "kind", "problem"}] * 2 + [{"passed", "total"}]
    assert (first.startswith("\\ud83d  k"), second.startswith("None"), total) == (True, True, "0 of 2")


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ({"repeat": [{"concat": ["a", {"repeat": ["b", 2]}]}, 2]}, "abbabb"),
        ({"bytes": "f09f8e89", "repeat": 2}, "🎉🎉"),
        ({"concat": ["a", {"bytes": "ff"}]}, "a\ufffd"),
        ({"each": [1, 2], "of": ["x{i}"]}, ["x1", "x2"]),
        ([{"each": [1, 2], "of": ["x", {"each": [3, 4], "of": ["{i}"]}]}], ["x", "3", "4", "x", "3", "4"]),
    ],
)
def test_generators_may_stand_in_each_other(written, text):
    assert expanded(written) == text
