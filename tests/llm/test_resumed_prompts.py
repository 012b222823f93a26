"""A resumed run sends the bytes that the undisturbed one sends, and the log gives back what was sent.

The normal run is interrupted at every third call; with the environment variable AAA_ALL_DATA set at every one.
"""

import pytest

from aaa.runtime import MemoryEventStore
from aaa.runtime.prompts import prompt_at
from tests.llm.making import READING, Recorder, policy_of, reading_engine
from tests.runtime.making import bounded, fingerprint
from tests.shared import sample_step

FAILING = {f"go on #{number}" for number in (5, 6, 7, 11, 14, 20)}


def fails_sometimes(request):
    return ValueError("refused") if request.messages[-1].text in FAILING else None


def fails_never(request):
    return None


policies = pytest.mark.parametrize("sticky", [False, True], ids=["default", "sticky"])
summaries = pytest.mark.parametrize("summarizes", [False, True], ids=["no_summaries", "summaries"])
faults = pytest.mark.parametrize("fail", [fails_never, fails_sometimes])


async def undisturbed(sticky, summarizes, fail):
    store, recorder = MemoryEventStore(), Recorder(fail=fail)
    async with reading_engine(store, recorder, policy_of(sticky, summarizes=summarizes)) as engine:
        assert (await engine.run(READING, None, run_id="r")).value == "read"
    return recorder.sent, await store.read("r")


@policies
@summaries
@faults
def test_prompts_continue_byte_for_byte_after_a_restart_at_any_call(sticky, summarizes, fail):
    async def scenario():
        sent, log = await undisturbed(sticky, summarizes, fail)
        assert any("context" in event.data for event in log if event.type == "aaa.llm.completed")
        assert any(event.type == "aaa.context.summary" for event in log) == summarizes
        for call in range(2, len(sent) + 1, sample_step(3)):
            store, first, second = MemoryEventStore(), Recorder(hang_at=call, fail=fail), Recorder(fail=fail)
            engine = reading_engine(store, first, policy_of(sticky, summarizes=summarizes))
            await engine.start(READING, None, run_id="r")
            await first.is_hanging.wait()
            await engine.close()
            async with reading_engine(store, second, policy_of(sticky, summarizes=summarizes)) as engine:
                assert (await (await engine.resume("r", READING)).result()).value == "read"
            assert first.sent == sent[:call]
            assert second.sent == sent[call - 1 :], call

    bounded(scenario())


@policies
@summaries
@faults
def test_the_log_gives_back_every_prompt_exactly(sticky, summarizes, fail):
    async def scenario():
        sent, log = await undisturbed(sticky, summarizes, fail)
        assert [fingerprint(prompt_at(log, call)) for call in range(1, len(sent) + 1)] == sent
        for call in (0, len(sent) + 1):
            with pytest.raises(IndexError, match=f"{len(sent)} model calls"):
                prompt_at(log, call)

    bounded(scenario())


@policies
def test_a_sticky_prompt_only_grows_between_two_compactions_and_both_fit(sticky):
    async def scenario():
        sent, log = await undisturbed(sticky, True, fails_never)
        reports = [event.data.get("context", {}) for event in log if event.type == "aaa.llm.completed"]
        for before, after, report in zip(sent, sent[1:], reports[1:], strict=False):
            if sticky and not report.get("applied"):
                assert after.startswith(before[:-1])
        assert all(event.data["tokens"] <= 4_000 for event in log if event.type == "aaa.llm.completed")

    bounded(scenario())
