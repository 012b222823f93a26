"""`run.version`: the first answer for a name is recorded and holds for the whole run."""

from aaa.runtime import MemoryEventStore
from tests.runtime.making import Given, bounded, engine_of, interrupted


async def wait(run):
    await run.wait_for("go")


async def finished(store, function):
    """The value of the run "r" once it was resumed with this algorithm and let go on."""
    async with engine_of(store) as engine:
        handle = await engine.resume("r", Given(function))
        await handle.send("go")
        return (await handle.result()).value


async def value_after(old, new):
    """What a run that `old` began comes to under `new`, and then, interrupted, under `new` again."""
    store = MemoryEventStore()
    await interrupted(store, Given(old))
    return await finished(store, new)


def test_a_run_that_starts_with_the_new_code_gets_1_and_keeps_it():
    async def scenario():
        async def new(run, input):
            before = await run.version("twice")
            await run.step("a", lambda: 1)
            await wait(run)
            return [before, await run.version("twice")]

        assert await value_after(new, new) == [1, 1]

    bounded(scenario())


def test_a_run_that_has_passed_gets_0():
    async def scenario():
        async def old(run, input):
            await run.step("a", lambda: 1)
            await wait(run)

        async def new(run, input):
            version = await run.version("x")
            await run.step("a", lambda: 1)
            await wait(run)
            return version

        assert await value_after(old, new) == 0

    bounded(scenario())


def test_a_run_that_has_not_come_there_yet_gets_1():
    async def scenario():
        async def old(run, input):
            await wait(run)

        async def new(run, input):
            await wait(run)
            return await run.version("x")

        assert await value_after(old, new) == 1

    bounded(scenario())


def test_an_answer_of_0_holds_where_nothing_is_recorded_yet():
    async def scenario():
        def steps(count, has_version):
            async def loop(run, input):
                answers = []
                for number in range(count):
                    if has_version:
                        answers.append(await run.version("twice"))
                    await run.step(f"s{number}", lambda: 1)
                    if answers and answers[-1]:
                        await run.step(f"t{number}", lambda: 1)
                    if number == 1:
                        await wait(run)
                return answers

            return loop

        assert await value_after(steps(2, False), steps(5, True)) == [0] * 5
        assert await value_after(steps(5, True), steps(5, True)) == [1] * 5

    bounded(scenario())


def test_an_answer_of_0_is_still_0_after_another_restart():
    async def scenario():
        store = MemoryEventStore()

        async def old(run, input):
            await run.step("a", lambda: 1)
            await wait(run)

        async def new(run, input):
            first = await run.version("x")
            await run.step("a", lambda: 1)
            await wait(run)
            await run.step("b", lambda: 1)
            second = await run.version("x")
            await run.wait_for("again")
            return [first, second, await run.version("x")]

        await interrupted(store, Given(old))
        engine = engine_of(store)
        handle = await engine.resume("r", Given(new))
        await handle.send("go")
        waits = 0
        async for event in store.subscribe("r"):
            waits += event.type == "aaa.run.waiting"
            if waits == 2:
                break
        await engine.close()
        async with engine_of(store) as engine:
            handle = await engine.resume("r", Given(new))
            await handle.send("again")
            assert (await handle.result()).value == [0, 0, 0]

    bounded(scenario())


def test_it_is_0_before_a_gather_that_is_recorded():
    async def scenario():
        async def two(run):
            await run.step("a", lambda: 1)
            await run.step("b", lambda: 2)

        async def old(run, input):
            await run.gather(two(run), two(run))
            await wait(run)

        async def new(run, input):
            version = await run.version("x")
            await run.gather(two(run), two(run))
            await wait(run)
            return version

        assert await value_after(old, new) == 0

    bounded(scenario())


def test_it_is_0_at_the_end_of_a_branch_when_what_follows_the_gather_is_recorded():
    async def scenario():
        def program(has_version):
            async def branch(run):
                await run.step("a", lambda: 1)
                return await run.version("x") if has_version else None

            async def algorithm(run, input):
                versions = await run.gather(branch(run), branch(run))
                await run.step("z", lambda: 1)
                await wait(run)
                return versions

            return algorithm

        assert await value_after(program(False), program(True)) == [0, 0]

    bounded(scenario())


def test_it_takes_no_key_so_that_adding_it_moves_nothing():
    async def scenario():
        async def old(run, input):
            await run.step("a", lambda: 1)
            await run.step("b", lambda: 1)
            await wait(run)

        async def new(run, input):
            answers = [await run.version("x")]
            await run.step("a", lambda: 1)
            answers.append(await run.version("y"))
            await run.step("b", lambda: 1)
            answers.append(await run.version("z"))
            await wait(run)
            return answers

        assert await value_after(old, new) == [0, 0, 0]

    bounded(scenario())


def test_code_that_no_longer_asks_for_a_version_goes_on():
    async def scenario():
        async def with_version(run, input):
            await run.version("x")
            await run.step("a", lambda: 1)
            await wait(run)

        async def without(run, input):
            await run.step("a", lambda: 1)
            await wait(run)
            return "done"

        assert await value_after(with_version, without) == "done"

    bounded(scenario())
