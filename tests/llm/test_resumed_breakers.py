"""A resumed run holds back the summaries and edits that the undisturbed one does."""

import pytest

from aaa.context import ClearToolResults, ContextPolicy, DropOldest, Summarize
from aaa.runtime import MemoryEventStore
from tests.llm.making import READING, Recorder, reading_engine
from tests.runtime.making import bounded
from tests.shared import sample_step


def policy_of(sticky, summary):
    """One whose target can not be reached: it would be compacted at every call."""
    summarize = Summarize(summarize=lambda text, previous: summary, keep_tokens_ratio=0)
    return ContextPolicy(
        4_000,
        reserve_output=0,
        sticky=sticky,
        trigger=0.4,
        target=0.1,
        keep_recent=4,
        strategies=[ClearToolResults(1), summarize, DropOldest()],
    )


@pytest.mark.parametrize("sticky", [False, True], ids=["default", "sticky"])
@pytest.mark.parametrize("summary", ["Short.", "long " * 150, ""], ids=["helps", "futile", "rejected"])
def test_prompts_continue_byte_for_byte_where_compactions_are_held_back(sticky, summary):
    async def scenario():
        store, whole = MemoryEventStore(), Recorder()
        async with reading_engine(store, whole, policy_of(sticky, summary)) as engine:
            assert (await engine.run(READING, None, run_id="r")).value == "read"
        log = await store.read("r")
        reports = [event.data.get("context", {}) for event in log if event.type == "aaa.llm.completed"]
        assert any("held_back" in report for report in reports)
        assert any("breaker" in event.data for event in log if event.type == "aaa.llm.completed")
        for call in range(2, len(whole.sent) + 1, sample_step(3)):
            store, first, second = MemoryEventStore(), Recorder(hang_at=call), Recorder()
            engine = reading_engine(store, first, policy_of(sticky, summary))
            await engine.start(READING, None, run_id="r")
            await first.is_hanging.wait()
            await engine.close()
            async with reading_engine(store, second, policy_of(sticky, summary)) as engine:
                assert (await (await engine.resume("r", READING)).result()).value == "read"
            assert first.sent == whole.sent[:call]
            assert second.sent == whole.sent[call - 1 :], call

    bounded(scenario())
