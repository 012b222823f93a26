"""The handler of model calls: fits, retries, learns, charges, and records what it did."""

import asyncio
from itertools import pairwise

import pytest

from aaa.context import CalibratedCounter, ContextPolicy, DropOldest, HeuristicCounter
from aaa.errors import ContextOverflowError, EffectError
from aaa.llm import FakeLLMClient, LLMHandler, RetryPolicy
from aaa.llm.fake import text, tool_call
from aaa.messages import LLMResponse, Message, ToolCall, Usage
from aaa.runtime import Budget, Engine, MemoryEventStore
from tests.llm.making import READING, SUMMARY, Recorder, policy_of, reading_engine
from tests.runtime.making import Given, ask, bounded, fingerprint, kinds


def long_talk(turns=8, characters=1_500):
    messages = [Message("user", "the task")]
    for number in range(turns):
        messages.append(Message("assistant", None, (ToolCall(f"c{number}", "look"),)))
        messages.append(Message("tool", f"{number} " * (characters // 2), tool_call_id=f"c{number}"))
    return messages


async def call(client, messages=None, *, context=None, retry=None, waits=None):
    """One model call in a run: (reply or the kind of its error, the log)."""

    async def sleep(seconds):
        if waits is not None:
            waits.append(seconds)

    async def once(run, input):
        try:
            return (await run.llm(messages or ask("hello"))).message.text
        except EffectError as error:
            return error.kind

    async with Engine() as engine:
        LLMHandler(client, context=context, retry=retry, sleep=sleep).attach(engine)
        outcome = await engine.run(Given(once), None, run_id="r")
        assert outcome.status == "done", outcome
        return outcome.value, await engine.store.read("r")


def test_without_a_policy_the_conversation_is_sent_as_it_is():
    async def scenario():
        client = FakeLLMClient([text("hi")])
        talk = long_talk()
        value, log = await call(client, talk)
        assert value == "hi"
        assert list(client.requests[0].messages) == talk
        assert kinds(log) == ["run.started", "llm.requested 0", "llm.completed 0", "run.completed"]
        completed = log[2].data
        assert completed["finish_reason"] == "stop"
        assert "context" not in completed

    bounded(scenario())


def test_tools_model_and_params_reach_the_client():
    async def scenario():
        from aaa.messages import ToolSpec

        client = FakeLLMClient([text("hi")])

        async def asks(run, input):
            await run.llm(ask("x"), tools=[ToolSpec("look")], model="small", params={"temperature": 0})

        async with Engine() as engine:
            LLMHandler(client, context=ContextPolicy(8_000)).attach(engine)
            await engine.run(Given(asks), None)
        (request,) = client.requests
        assert (request.tools, request.model, request.params) == ((ToolSpec("look"),), "small", {"temperature": 0})

    bounded(scenario())


def test_a_transient_fault_is_tried_again_after_the_waits_of_the_policy():
    async def scenario():
        waits = []
        client = FakeLLMClient([TimeoutError(), ConnectionError(), text("third")])
        retry = RetryPolicy(max_attempts=3, initial_seconds=1.0, factor=2.0)
        value, log = await call(client, retry=retry, waits=waits)
        assert value == "third"
        assert waits == [1.0, 2.0]
        assert len({fingerprint(request.messages) for request in client.requests}) == 1
        assert kinds(log).count("llm.requested 0") == 1

    bounded(scenario())


def test_a_fault_that_lasts_fails_the_call_with_what_it_was():
    async def scenario():
        waits = []
        client = FakeLLMClient([TimeoutError("slow")] * 3)
        value, log = await call(client, retry=RetryPolicy(max_attempts=3), waits=waits)
        assert value == "TimeoutError"
        assert len(client.requests) == 3
        assert [event.data["attempt"] for event in log if event.type == "aaa.llm.retried"] == [1, 2]
        failed = next(event for event in log if event.type == "aaa.llm.failed")
        assert failed.data["error"] == {"type": "TimeoutError", "message": "slow"}

    bounded(scenario())


@pytest.mark.parametrize("error", [ValueError("bad"), PermissionError("key"), KeyError("x")])
def test_any_other_fault_fails_the_call_at_once(error):
    async def scenario():
        waits = []
        client = FakeLLMClient([error, text("not asked for")])
        value, _ = await call(client, context=ContextPolicy(8_000), waits=waits)
        assert value == type(error).__name__
        assert (len(client.requests), waits) == (1, [])

    bounded(scenario())


def test_an_overflow_is_tried_once_more_with_a_prompt_about_half_as_large():
    async def scenario():
        waits = []
        client = FakeLLMClient([ContextOverflowError(), text("now it fits")])
        value, log = await call(client, long_talk(), context=ContextPolicy(20_000, reserve_output=0), waits=waits)
        assert value == "now it fits"
        assert waits == []
        first, second = (HeuristicCounter().count(request.messages) for request in client.requests)
        assert second <= first * 0.55
        completed = next(event for event in log if event.type == "aaa.llm.completed")
        assert completed.data["context"]["tokens_after"] < completed.data["context"]["tokens_before"]
        assert kinds(log).count("llm.requested 0") == 1

    bounded(scenario())


def test_a_second_overflow_fails_the_call():
    async def scenario():
        client = FakeLLMClient([ContextOverflowError(), ContextOverflowError(), text("not asked for")])
        value, log = await call(client, long_talk(), context=ContextPolicy(20_000, reserve_output=0))
        assert value == "ContextOverflowError"
        assert len(client.requests) == 2
        assert "llm.failed 0" in kinds(log)

    bounded(scenario())


def test_a_prompt_that_we_cut_is_not_taken_for_one_that_the_server_cut():
    """A server that counts much for each message reads less of few long ones than of many short ones."""

    def reply(_):
        return LLMResponse(Message("assistant", "ok"), Usage(next(reported), 1))

    async def grows(run, input):
        talk = [Message("user", "the task")]
        talk += [Message("assistant" if number % 2 else "user", "so it is") for number in range(20)]
        await run.llm(talk)
        for words in (40, 300, 500):
            talk += [Message("assistant", "ok"), Message("user", "word " * words)]
            await run.llm(talk)

    async def scenario():
        async with Engine() as engine:
            policy = ContextPolicy(
                3_000, reserve_output=0, keep_recent=1, strategies=[DropOldest()], counter=HeuristicCounter()
            )
            LLMHandler(FakeLLMClient(reply), context=policy).attach(engine)
            await engine.run(Given(grows), None, run_id="r")
            return await engine.store.read("r")

    reported = iter((3_400, 3_454, 2_839, 2_391))
    log = bounded(scenario())
    assert any("context" in event.data for event in log)
    assert [event.data for event in log if event.type == "aaa.context.learned"] == []


def test_an_overflow_whose_provider_gave_no_numbers_is_told_with_ours():
    async def scenario():
        client = FakeLLMClient([ContextOverflowError(), ContextOverflowError(limit=15_000)])
        _, log = await call(client, long_talk(), context=ContextPolicy(20_000, reserve_output=0))
        failed = next(event.data for event in log if event.type == "aaa.llm.failed")
        ours = f"the prompt was about {failed['tokens']:,} tokens in a window taken to be 20,000"
        assert failed["error"]["message"].endswith(f"(limit 15,000); {ours}")

    bounded(scenario())


def test_a_refusal_without_numbers_of_a_prompt_that_can_not_be_smaller_is_tried_once_more_as_it_is():
    async def scenario():
        talk = [Message("system", "s"), Message("user", "always commit", pinned=True), *ask("hello")]
        client = FakeLLMClient([ContextOverflowError(), text("ok")])
        value, _ = await call(client, talk, context=ContextPolicy(100_000))
        assert value == "ok"
        assert client.requests[0].messages == client.requests[1].messages
        value, _ = await call(FakeLLMClient([ContextOverflowError()] * 3), talk, context=ContextPolicy(100_000))
        assert value == "ContextOverflowError"

    bounded(scenario())


def test_an_overflow_without_a_policy_fails_the_call():
    async def scenario():
        client = FakeLLMClient([ContextOverflowError(), text("not asked for")])
        value, _ = await call(client, long_talk())
        assert value == "ContextOverflowError"
        assert len(client.requests) == 1

    bounded(scenario())


def test_a_conversation_that_cannot_fit_fails_before_anything_is_sent():
    async def scenario():
        client = FakeLLMClient([text("not asked for")])
        value, log = await call(client, ask("x" * 100_000), context=ContextPolicy(1_000, reserve_output=0))
        assert value == "ContextFloorError"
        assert client.requests == []
        assert "llm.failed 0" in kinds(log)

    bounded(scenario())


def test_what_the_provider_counts_is_learnt_and_belongs_to_the_run_alone():
    async def scenario():
        policy = ContextPolicy(4_000, reserve_output=0)

        async def sizes(factor):
            seen = []

            def model(request):
                raw = HeuristicCounter().count(request.messages, request.tools)
                seen.append(raw)
                return LLMResponse(Message("assistant", "a"), Usage(int(factor * raw), 1))

            async with Engine() as engine:
                LLMHandler(FakeLLMClient(model), context=policy).attach(engine)
                await engine.run(READING, None)
            return max(seen)

        exact, double = await sizes(1.0), await sizes(2.0)
        assert 0.85 * 4_000 * 0.8 < exact <= 4_000
        assert double <= 2_000 * 1.1
        assert await sizes(1.0) == exact
        assert isinstance(policy.counter, CalibratedCounter)
        assert policy.counter.ratios == {}

    bounded(scenario())


def test_a_summary_is_recorded_charged_and_used():
    async def scenario():
        store, recorder = MemoryEventStore(), Recorder()
        summarizer = FakeLLMClient(lambda _: LLMResponse(Message("assistant", SUMMARY), Usage(1_000, 100), cost=0.25))
        policy = ContextPolicy(4_000, reserve_output=0, summarizer=summarizer)
        async with reading_engine(store, recorder, policy) as engine:
            await engine.run(READING, None, run_id="r")
        log = await store.read("r")
        summaries = [event for event in log if event.type == "aaa.context.summary"]
        assert len(summaries) == len(summarizer.requests) >= 2
        assert {event.data["tokens_spent"] for event in summaries} == {1_100}
        assert {event.data["cost"] for event in summaries} == {0.25}
        assert SUMMARY in summaries[0].data["record"]["text"]
        uptos = [event.data["record"]["upto"] for event in summaries]
        assert uptos == sorted(set(uptos))
        own = sum(event.data["usage"]["total_tokens"] for event in log if event.type == "aaa.llm.completed")
        assert log[-1].data["spent"]["tokens"] == own + 1_100 * len(summaries)
        assert any(SUMMARY.encode() in sent for sent in recorder.sent)
        keys = {event.data["key"] for event in log if event.type == "aaa.llm.requested"}
        assert {event.data["key"] for event in summaries} <= keys

    bounded(scenario())


def test_a_summary_that_was_recorded_before_a_crash_is_not_paid_for_again():
    async def scenario():
        store, asked = MemoryEventStore(), []

        def summarize(request):
            asked.append(1)
            return text(SUMMARY)

        class HangsAfterSummary(Recorder):
            async def __call__(self, request):
                if asked and not self.is_hanging.is_set():
                    self.is_hanging.set()
                    await asyncio.Event().wait()
                return await super().__call__(request)

        def policy():
            return ContextPolicy(4_000, reserve_output=0, summarizer=FakeLLMClient(summarize))

        recorder = HangsAfterSummary()
        engine = reading_engine(store, recorder, policy())
        await engine.start(READING, None, run_id="r")
        await recorder.is_hanging.wait()
        await engine.close()
        log = await store.read("r")
        assert (kinds(log)[-1].split()[0], len(asked)) == ("context.summary", 1)
        async with reading_engine(store, Recorder(), policy()) as engine:
            assert (await (await engine.resume("r", READING)).result()).value == "read"
        log = await store.read("r")
        assert sum(event.type == "aaa.context.summary" for event in log) == len(asked)
        records = [str(event.data["record"]["upto"]) for event in log if event.type == "aaa.context.summary"]
        assert len(set(records)) == len(records)

    bounded(scenario())


def test_a_rejected_summary_is_charged_and_reported_and_the_prompt_fits_without_it():
    async def scenario():
        store = MemoryEventStore()
        summarizer = FakeLLMClient(lambda _: LLMResponse(Message("assistant", ""), Usage(1_000, 0)))
        async with reading_engine(
            store, Recorder(), ContextPolicy(4_000, reserve_output=0, summarizer=summarizer)
        ) as engine:
            assert (await engine.run(READING, None, run_id="r")).value == "read"
        log = await store.read("r")
        own = sum(event.data["usage"]["total_tokens"] for event in log if event.type == "aaa.llm.completed")
        assert log[-1].data["spent"]["tokens"] - own == 1_000 * len(summarizer.requests) > 0
        assert not any(event.type == "aaa.context.summary" for event in log)
        rejected = [
            r for e in log if e.type == "aaa.llm.completed" for r in e.data.get("context", {}).get("rejected", [])
        ]
        assert any("empty" in reason for reason in rejected)

    bounded(scenario())


def test_summaries_that_use_the_budget_up_end_the_run():
    async def scenario():
        store = MemoryEventStore()
        summarizer = FakeLLMClient(lambda _: LLMResponse(Message("assistant", SUMMARY), Usage(10**6, 0)))
        policy = ContextPolicy(4_000, reserve_output=0, summarizer=summarizer)
        async with reading_engine(store, Recorder(), policy) as engine:
            outcome = await engine.run(READING, None, run_id="r", budget=Budget(max_tokens=900_000))
        assert outcome.status == "out_of_budget"
        assert len(summarizer.requests) == 1

    bounded(scenario())


def test_the_report_says_what_was_done_only_when_something_was():
    async def scenario():
        store = MemoryEventStore()
        async with reading_engine(store, Recorder(), policy_of(False)) as engine:
            await engine.run(READING, None, run_id="r")
        completed = [event.data for event in await store.read("r") if event.type == "aaa.llm.completed"]
        assert "context" not in completed[0]
        reports = [data["context"] for data in completed if "context" in data]
        assert len(reports) > 5
        for report in reports:
            assert report["tokens_after"] < report["tokens_before"]
            assert report["applied"]
        names = {name.split("(")[0] for report in reports for name in report["applied"]}
        assert {"summarize", "stored_summary"} <= names

    bounded(scenario())


def test_each_request_in_the_log_holds_only_what_is_new():
    async def scenario():
        store = MemoryEventStore()
        async with reading_engine(store, Recorder(), policy_of(False)) as engine:
            await engine.run(READING, None, run_id="r")
        requests = [event.data for event in await store.read("r") if event.type == "aaa.llm.requested"]
        assert "prev" not in requests[0]["conv"]
        for before, after in pairwise(requests):
            assert after["conv"]["prev"] == before["key"]
            assert len(after["conv"]["delta"]) == 4
            assert after["conv"]["length"] == before["conv"]["length"] + 4

    bounded(scenario())


@pytest.mark.parametrize("sticky", [False, True], ids=["default", "sticky"])
def test_two_conversations_in_one_run_keep_apart(sticky):
    async def talk(run, name, count, between):
        messages = [Message("user", name)]
        for number in range(count):
            messages.append((await run.llm(messages)).message)
            messages.append(Message("user", f"{name} {number} " * 120))
            await between()

    async def alone(name):
        recorder = Recorder()

        async def nothing():
            return None

        async def one(run, input):
            await talk(run, name, 12, nothing)

        async with reading_engine(MemoryEventStore(), recorder, policy_of(sticky, window=3_000)) as engine:
            assert (await engine.run(Given(one), None)).status == "done"
        return recorder.sent

    async def scenario():
        recorder, store = Recorder(), MemoryEventStore()

        async def two(run, input):
            conversations = [[Message("user", name)] for name in ("left", "right")]
            for number in range(12):
                for messages, name in zip(conversations, ("left", "right"), strict=True):
                    messages.append((await run.llm(messages)).message)
                    messages.append(Message("user", f"{name} {number} " * 120))

        async with reading_engine(store, recorder, policy_of(sticky, window=3_000)) as engine:
            assert (await engine.run(Given(two), None, run_id="r")).status == "done"
        assert recorder.sent[::2] == await alone("left")
        assert recorder.sent[1::2] == await alone("right")
        log = await store.read("r")
        assert any("context" in event.data for event in log if event.type == "aaa.llm.completed")

    bounded(scenario())


def test_a_client_that_knows_its_price_lets_a_cost_be_limited():
    async def scenario():
        def reply(_):
            return tool_call("look")

        assert not LLMHandler(FakeLLMClient(reply)).knows_cost
        assert LLMHandler(FakeLLMClient(reply, price_per_token=0.1)).knows_cost
        assert not LLMHandler(object()).knows_cost

    bounded(scenario())
