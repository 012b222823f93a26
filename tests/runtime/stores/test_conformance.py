"""The shipped contract suite, on both stores; and that it notices a store that breaks the contract."""

import asyncio
import itertools

import pytest

from aaa.errors import UnknownRunError
from aaa.runtime.conformance import CHECKS, check_store, on_new_store
from aaa.runtime.stores import MemoryEventStore, SQLiteEventStore


def sentence(value):
    return getattr(value, "__name__", None)


@pytest.mark.parametrize("check", CHECKS, ids=sentence)
def test_in_memory(check):
    asyncio.run(on_new_store(check, MemoryEventStore))


@pytest.mark.parametrize("check", CHECKS, ids=sentence)
def test_in_sqlite(check, tmp_path):
    asyncio.run(on_new_store(check, lambda: SQLiteEventStore(tmp_path / "runs.db")))


def test_the_whole_suite_runs_without_pytest(tmp_path):
    number = itertools.count()
    asyncio.run(check_store(lambda: SQLiteEventStore(tmp_path / f"{next(number)}.db")))


class Forgetful(MemoryEventStore):
    async def append(self, run_id, expected_seq, epoch, events):
        return await super().append(run_id, (await self.read(run_id))[-1].seq, None, events)


class LateToClaim(MemoryEventStore):
    async def claim(self, run_id, token=None):
        return (await super().claim(run_id)) if token is None else token


class Sharing(MemoryEventStore):
    def __init__(self):
        super().__init__()
        self.kept = {}

    async def submit(self, run_id, started):
        self.kept[run_id] = started
        return await super().submit(run_id, started)

    async def read(self, run_id, after=0):
        events = await super().read(run_id, after)
        return [self.kept[run_id], *events[1:]] if events and not after else events


class Lenient(MemoryEventStore):
    async def read(self, run_id, after=0):
        try:
            return await super().read(run_id, after)
        except UnknownRunError:
            return []


class Careless(MemoryEventStore):
    async def read(self, run_id, after=0):
        return await super().read(run_id, after)

    async def read_to_replay(self, run_id):
        return (await super().read_to_replay(run_id))[:-1]


@pytest.mark.parametrize(
    ("store", "broken"),
    [
        (Forgetful, "an append at another head is a conflict"),
        (LateToClaim, "a token not above the epoch is superseded"),
        (Sharing, "what is read shares nothing with what was appended"),
        (Careless, "what is read to be replayed is what is read"),
        (Lenient, "an unknown run is an error"),
    ],
)
def test_a_store_that_breaks_the_contract_is_told_which_sentence(store, broken):
    with pytest.raises(ExceptionGroup, match="breaks its contract") as caught:
        asyncio.run(check_store(store))
    assert broken in [str(error).partition(":")[0] for error in caught.value.exceptions]
