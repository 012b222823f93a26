"""One process drives a database at a time; the others read, and write from outside."""

import asyncio
import os

import pytest

from aaa.errors import StoreError, StoreInUseError
from aaa.runtime.stores import SQLiteEventStore
from aaa.runtime.stores.lock import DriveLock
from tests.runtime.stores.making import event
from tests.runtime.stores.processes import WAIT_SECONDS, running

DRIVER = """
async def main():
    async with SQLiteEventStore(path) as store:
        await store.submit("run", event("s"))
        await store.claim("run")
        say("drives", os.getpid())
        await hear()

asyncio.run(main())
"""


def test_a_second_process_is_told_who_drives_and_may_do_all_else(tmp_path):
    path = tmp_path / "runs.db"

    async def beside(pid):
        async with SQLiteEventStore(path) as store:
            for write in (store.claim("run"), store.submit("new", event("s")), store.append("run", 1, 1, [event("a")])):
                with pytest.raises(StoreInUseError, match=rf"runs\.db is driven by process {pid} on ") as caught:
                    await write
                assert f"process {pid}" in caught.value.holder
            assert [info.run_id for info in await store.runs()] == ["run"]
            assert await store.append("run", 1, None, [event("cancel")]) == 2
            assert [stored.id for stored in await store.read("run")] == ["s", "cancel"]
            assert [stored.epoch for stored in await store.read("run")] == [0, 1]

    async def after():
        async with SQLiteEventStore(path) as store:
            assert await store.claim("run") == 2

    with running(DRIVER, path) as driver:
        asyncio.run(beside(driver.stdout.readline().split()[1]))
        driver.kill()
        driver.wait(WAIT_SECONDS)
        asyncio.run(after())


def test_a_driver_that_closes_lets_the_next_one_in(tmp_path):
    path = tmp_path / "runs.db"

    async def claim():
        async with SQLiteEventStore(path) as store:
            return await store.claim("run")

    with running(DRIVER, path) as driver:
        assert driver.stdout.readline().startswith("drives")
        driver.stdin.write("\n")
        driver.stdin.flush()
        assert driver.wait(WAIT_SECONDS) == 0
    assert asyncio.run(claim()) == 2


def test_two_stores_of_one_process_exclude_each_other_by_any_name_of_the_file(tmp_path):
    async def scenario():
        (tmp_path / "folder").mkdir()
        one = SQLiteEventStore(tmp_path / "runs.db")
        two = SQLiteEventStore(tmp_path / "folder" / ".." / "runs.db")
        async with one, two:
            await one.submit("run", event("s"))
            with pytest.raises(StoreInUseError, match="another store in this process"):
                await two.claim("run")
            await one.close()
            assert await two.claim("run") == 1

    asyncio.run(scenario())


def test_opening_and_reading_takes_no_lock(tmp_path):
    async def scenario():
        async with SQLiteEventStore(tmp_path / "runs.db") as store:
            assert await store.runs() == []
        assert [path.name for path in tmp_path.iterdir()] == ["runs.db"]

    asyncio.run(scenario())


def test_a_closed_store_does_not_take_the_lock_again(tmp_path):
    async def scenario():
        store = SQLiteEventStore(tmp_path / "runs.db")
        await store.submit("run", event("s"))
        await store.close()
        with pytest.raises(StoreError, match="is closed"):
            await store.claim("run")
        async with SQLiteEventStore(tmp_path / "runs.db") as other:
            assert await other.claim("run") == 1

    asyncio.run(scenario())


def test_a_lock_file_that_cannot_be_made_is_a_store_error(tmp_path):
    with pytest.raises(StoreError, match=r"cannot open the lock file"):
        DriveLock(str(tmp_path / "missing" / "runs.db")).acquire()


FORKING = """
from aaa.runtime.stores.lock import DriveLock

lock = DriveLock(path)
lock.acquire()
if os.fork() == 0:
    say("forked")  # the child says it: only it knows that it has let go of what it inherited
    os.read(0, 1)  # outlives its parent
else:
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_does_not_keep_the_lock_of_a_parent_that_died(tmp_path):
    lock = DriveLock(str(tmp_path / "runs.db"))
    with running(FORKING, tmp_path / "runs.db") as parent:
        assert parent.stdout.readline() == "forked\n"
        assert parent.wait(WAIT_SECONDS) == 0
        lock.acquire()
        lock.release()
