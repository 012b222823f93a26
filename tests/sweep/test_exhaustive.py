"""The small end of the exhaustive sweep, and that what is wrong with a prompt is noticed."""

import logging
from collections.abc import Iterator

import pytest

from aaa.context import reducing
from aaa.wire.rules import Rules
from tests.sweep.alphabet import words
from tests.sweep.exhaustive import check_words


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)  # the policy compacts every call
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(
    ("letters", "longest", "whole"), [("UACDRTSP", 2, 1), ("UADRT", 3, 0)], ids=["all letters", "some letters"]
)
def test_every_edit_of_every_small_conversation_gives_a_lawful_prompt_in_every_format(
    letters: str, longest: int, whole: int
):
    found = check_words(words(letters, longest=longest), whole)
    assert not found.wrong, found.examples
    assert found.counts["conversations"] == sum(len(letters) ** size for size in range(longest + 1))
    assert found.counts["undone head"] == found.counts["edit head"] > 0


def test_a_strategy_that_may_do_anything_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reducing, "is_lawful", lambda work: True)
    found = check_words(["UACR", "UAPA"], 0, set())
    assert {"pairs broken", "head or pins changed", "not undone though not lawful"} <= set(found.wrong)


def test_a_strategy_that_may_do_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reducing, "is_lawful", lambda work: False)
    assert set(check_words(["UACR"], 0, set()).wrong) == {"undone though lawful"}


def test_a_prompt_that_nobody_repairs_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Rules, "repair", lambda self, messages, **places: (list(messages), []))
    found = check_words(["UCUR"], 0, set())
    assert "rule pairing" in found.wrong
    assert any(name.startswith("refused: ") for name in found.wrong)
