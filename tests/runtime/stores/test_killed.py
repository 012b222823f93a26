"""A writer killed at any point: what was acknowledged is there, and nothing is half there."""

import asyncio
import random
from collections import defaultdict

import pytest

from aaa.runtime.stores import SQLiteEventStore
from tests.runtime.stores.processes import WAIT_SECONDS, running

WRITER = """
async def write(store, run_id):
    await store.submit(run_id, event("1"))
    epoch = await store.claim(run_id)
    head = 1
    while True:
        text = "x" * (100_000 if head % 10 == 0 else 100)
        head = await store.append(run_id, head, epoch, [event(str(head + 1), text=text), event(str(head + 2))])
        say(run_id, head)

async def main():
    store = SQLiteEventStore(path)
    await asyncio.gather(*(write(store, f"run{number}") for number in range(16)))

asyncio.run(main())
"""


@pytest.mark.parametrize("seed", range(6))
def test_what_was_acknowledged_survives_kill_minus_9(tmp_path, seed):
    acknowledged = defaultdict(int)
    with running(WRITER, tmp_path / "runs.db") as writer:
        for _ in range(random.Random(seed).randrange(1, 2000)):
            run_id, head = writer.stdout.readline().split()
            acknowledged[run_id] = int(head)
        writer.kill()
        writer.wait(WAIT_SECONDS)
        for line in writer.stdout:
            if line.endswith("\n") and len(line.split()) == 2:
                run_id, head = line.split()
                acknowledged[run_id] = int(head)

    async def look():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            heads = {info.run_id: info.head for info in await store.runs()}
            assert set(acknowledged) <= set(heads)
            for run_id, head in heads.items():
                events = await store.read(run_id)
                assert [stored.seq for stored in events] == list(range(1, head + 1))
                assert [stored.id for stored in events] == [str(seq) for seq in range(1, head + 1)]
                assert head >= acknowledged[run_id]
                assert head % 2 == 1  # the first, and then two at a time
                assert await store.append(run_id, head, await store.claim(run_id), []) == head

    asyncio.run(look())
