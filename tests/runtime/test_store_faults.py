"""A store that fails at any write: the run stops with the error, nothing is half recorded, and another finishes it.

The normal run takes every third write; with the environment variable AAA_ALL_DATA set it takes every one.
"""

import asyncio
from pathlib import Path

import pytest

from aaa.errors import EffectError, StoreError, UnknownRunError
from aaa.runtime import SQLiteEventStore
from tests.runtime.comparing import problems_of, problems_of_the_log
from tests.runtime.making import FailingStore, Given, bounded, engine_of, failing_from, kinds
from tests.runtime.programs.crashing import RUN, go_on, journal_of
from tests.shared import sample_step


async def log_of(folder: Path) -> list:
    async with SQLiteEventStore(folder / "runs.db") as store:
        try:
            return await store.read(RUN)
        except UnknownRunError:
            return []


async def failed_at(folder: Path, number: int, sticky: bool, sql: str, problem: str, is_for_good: bool) -> bool:
    """Whether the run got as far as the n-th such statement, and stopped there as it should."""
    try:
        await go_on(folder, 1, None, sticky, failing_from(number, sql, problem, is_for_good=is_for_good))
    except StoreError as error:
        return problem in str(error)
    return False


@pytest.mark.parametrize(
    ("sql", "problem", "is_for_good", "sticky"),
    [
        ("INSERT INTO events", "database or disk is full", True, False),
        ("COMMIT", "database or disk is full", True, True),
        ("BEGIN IMMEDIATE", "database is locked", False, True),
        ("INSERT INTO events", "database or disk is full", False, False),
    ],
)
def test_a_write_that_fails_stops_the_run_and_leaves_what_another_finishes(tmp_path, sql, problem, is_for_good, sticky):
    async def every_write():
        (tmp_path / "whole").mkdir()
        whole = await go_on(tmp_path / "whole", 1, None, sticky)
        whole["first"] = journal_of(tmp_path / "whole", 1)
        wrong, number = {}, 2 if sql == "BEGIN IMMEDIATE" else 1
        while True:
            folder = tmp_path / str(number)
            folder.mkdir()
            if not await failed_at(folder, number, sticky, sql, problem, is_for_good):
                break
            after = await go_on(folder, 2, None, sticky)
            crash = {**after, "first": journal_of(folder, 1), "second": journal_of(folder, 2)}
            wrong[number] = problems_of(crash, whole)
            number += sample_step(3)
        assert problems_of_the_log(whole["log"]) == []
        assert len(wrong) >= 30 // sample_step(3)  # how many results share an append is a matter of timing
        return {number: problems for number, problems in wrong.items() if problems}

    assert asyncio.run(every_write()) == {}


def test_after_a_failed_append_every_further_effect_raises_the_same_error_and_nothing_is_written():
    async def scenario():
        store = FailingStore(3)
        did, errors = [], []

        async def stubborn(run, input):
            for number in range(4):
                try:
                    await run.step(f"step {number}", lambda number=number: did.append(number))
                except Exception as error:  # noqa: BLE001 - whatever it is
                    errors.append(error)
            return "went on"

        async with engine_of(store) as engine:
            handle = await engine.start(Given(stubborn), None, run_id="r")
            with pytest.raises(StoreError, match="disk full"):
                await handle.result()
        log = kinds(await store.read("r"))
        assert did == [0, 1][: len(did)]
        assert errors
        assert all(isinstance(error, StoreError) and str(error) == str(errors[0]) for error in errors)
        assert not any(isinstance(error, EffectError) for error in errors)
        assert "run.completed" not in log

        async with engine_of(store) as engine:
            outcome = await (await engine.resume("r", Given(stubborn))).result()
        assert outcome.value == "went on"
        assert sum(entry.startswith("step.completed") for entry in kinds(await store.read("r"))) == 4

    bounded(scenario())


@pytest.mark.parametrize("is_for_good", [False, True])
@pytest.mark.parametrize("number", range(1, 8))
def test_an_append_that_fails_anywhere_never_loses_a_result_that_was_recorded(number, is_for_good):
    async def scenario():
        store = FailingStore(number, is_for_good=is_for_good)
        did = []

        async def steps(run, input):
            for name in "abc":
                await run.step(name, lambda name=name: did.append(name))
            return "done"

        async with engine_of(store) as engine:
            handle = await engine.start(Given(steps), None, run_id="r")
            try:
                outcome = await handle.result()
            except StoreError:
                outcome = None
        recorded = sum(entry.startswith("step.completed") for entry in kinds(await store.read("r")))
        store.left = 1_000
        did_before, first = len(did), outcome
        async with engine_of(store) as engine:
            again = await (await engine.resume("r", Given(steps))).result()
        assert (again.status, again.value) == ("done", "done")
        assert first is None or first == again
        assert did[did_before:] == list("abc")[recorded:]
        log = await store.read("r")
        assert [event.seq for event in log] == list(range(1, len(log) + 1))

    bounded(scenario())
