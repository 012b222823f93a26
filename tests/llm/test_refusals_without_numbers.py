"""A refusal that gives no numbers teaches too: the calls that follow are not refused again, nor after a restart."""

import pytest

from aaa.context import ContextPolicy, HeuristicCounter
from aaa.errors import ContextOverflowError, RequestTooLarge
from aaa.llm import FakeLLMClient, LLMHandler
from aaa.messages import LLMResponse, Message, OpaquePart, TextPart
from aaa.runtime import Engine, MemoryEventStore
from aaa.runtime.prompts import prompt_at
from tests.llm.making import READING, Recorder, policy_of
from tests.runtime.making import Given, bounded, fingerprint
from tests.shared import sample_step

WINDOW = 3_000
MOST_BYTES = 250_000
PICTURE = OpaquePart(
    "image_url", '{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}' % ("A" * 60_000)
)


class Silent:
    """A client that hands on what a model says, and not what it counted."""

    def __init__(self, recorder):
        self.recorder = recorder

    async def complete(self, request):
        reply = await self.recorder(request)
        if isinstance(reply, Exception):
            raise reply
        return LLMResponse(reply.message)


def refuses_tokens(request):
    size = 1.3 * HeuristicCounter().count(request.messages, request.tools)
    return ContextOverflowError("too long") if size > WINDOW else None


def refuses_bytes(request):
    parts = (part for message in request.messages for part in message.content)
    size = sum(len(part.json) for part in parts if isinstance(part, OpaquePart))
    return RequestTooLarge("too large") if size > MOST_BYTES else None


async def _look(run, input):
    messages = []
    for _ in range(8):
        messages.append(Message("user", (PICTURE,)))
        messages.append((await run.llm(messages)).message)
    return "seen"


LOOKING = Given(_look, "looking")


def _engine(algorithm, client, store, recorder, sticky):
    policy = policy_of(sticky, window=9_000) if algorithm is READING else ContextPolicy(100_000, sticky=sticky)
    engine = Engine(store)
    LLMHandler(client(recorder), context=policy).attach(engine)
    return engine


cases = pytest.mark.parametrize(
    ("algorithm", "client", "refuses", "kind"),
    [
        (READING, FakeLLMClient, refuses_tokens, "tightened"),
        (READING, Silent, refuses_tokens, "tightened"),
        (LOOKING, Silent, refuses_bytes, "bytes"),
    ],
)
policies = pytest.mark.parametrize("sticky", [False, True], ids=["default", "sticky"])


async def _undisturbed(algorithm, client, refuses, sticky):
    store, recorder = MemoryEventStore(), Recorder(fail=refuses)
    async with _engine(algorithm, client, store, recorder, sticky) as engine:
        outcome = await engine.run(algorithm, None, run_id="r")
    assert outcome.status == "done", outcome
    return recorder.sent, await store.read("r")


@cases
@policies
def test_what_a_refusal_shows_holds_from_then_on(algorithm, client, refuses, kind, sticky):
    async def scenario():
        _, log = await _undisturbed(algorithm, client, refuses, sticky)
        learned = [event.data for event in log if event.type == "aaa.context.learned"]
        assert learned
        assert {data["kind"] for data in learned} == {kind}
        calls = [event.data["key"] for event in log if event.type == "aaa.llm.requested"]
        refused = [calls.index(event.data["key"]) for event in log if event.type == "aaa.llm.retried"]
        assert len(refused) == len(learned) <= 2
        assert max(refused) < len(calls) - 3

    bounded(scenario())


@cases
@policies
def test_a_resumed_run_knows_it_and_the_log_gives_back_every_prompt(algorithm, client, refuses, kind, sticky):
    async def scenario():
        sent, log = await _undisturbed(algorithm, client, refuses, sticky)
        completed = sum(event.type == "aaa.llm.completed" for event in log)
        assert [fingerprint(prompt_at(log, call)) for call in range(1, completed + 1)][-1] == sent[-1]
        for call in range(2, len(sent) + 1, sample_step(3)):
            store, first, second = MemoryEventStore(), Recorder(hang_at=call, fail=refuses), Recorder(fail=refuses)
            engine = _engine(algorithm, client, store, first, sticky)
            await engine.start(algorithm, None, run_id="r")
            await first.is_hanging.wait()
            await engine.close()
            async with _engine(algorithm, client, store, second, sticky) as engine:
                outcome = await (await engine.resume("r", algorithm)).result()
                assert outcome.status == "done"
            assert second.sent == sent[len(sent) - len(second.sent) :], call
            assert len(sent) - call + 1 <= len(second.sent) <= len(sent) - call + 2

    bounded(scenario())


def test_the_same_prompt_accepted_at_a_second_try_was_not_too_long():
    """The refusal may have been about something else."""

    async def scenario():
        refusals = iter([ContextOverflowError("busy")])

        async def once(run, input):
            return (await run.llm([Message("user", "hi")])).message.text

        store = MemoryEventStore()
        engine = Engine(store)
        recorder = Recorder(fail=lambda _: next(refusals, None))
        LLMHandler(FakeLLMClient(recorder), context=ContextPolicy(9_000)).attach(engine)
        async with engine:
            assert (await engine.run(Given(once), None, run_id="r")).status == "done"
        assert [event for event in await store.read("r") if event.type == "aaa.context.learned"] == []

    bounded(scenario())


def _kinds_of(log):
    return [event.data["error"] for event in log if event.type == "aaa.llm.retried"]


async def _once(messages, recorder, **policy):
    async def once(run, input):
        return (await run.llm(messages)).message.text

    store = MemoryEventStore()
    engine = Engine(store)
    LLMHandler(Silent(recorder), context=ContextPolicy(100_000, **policy)).attach(engine)
    async with engine:
        outcome = await engine.run(Given(once), None, run_id="r")
    return outcome, await store.read("r")


def test_pictures_that_are_too_much_cost_no_words():
    async def scenario():
        summarizer = FakeLLMClient(lambda _: LLMResponse(Message("assistant", "S")))
        talk = [
            Message("user", (TextPart(f"shot {n}"), PICTURE)) if n % 2 else Message("assistant", "seen")
            for n in range(16)
        ]
        recorder = Recorder(fail=refuses_bytes)
        outcome, _ = await _once(talk, recorder, summarizer=summarizer)
        assert outcome.status == "done"
        assert len(recorder.sent) == 2
        assert summarizer.requests == []
        assert all(f"shot {n}".encode() in recorder.sent[-1] for n in range(1, 16, 2))

    bounded(scenario())


def test_a_request_refused_for_its_bytes_is_not_sent_as_it_is_again():
    async def scenario():
        recorder = Recorder(fail=lambda _: RequestTooLarge("too large"))
        outcome, _ = await _once([Message("user", "hi")], recorder)
        assert outcome.error is not None
        assert "RequestTooLarge" in outcome.error["message"]
        assert len(recorder.sent) == 1

    bounded(scenario())


def test_a_refusal_whose_numbers_are_not_of_this_prompt_is_tried_once_more():
    """By our own count it is far below the limit: a second refusal says so, and is the error."""

    async def scenario():
        refusals = iter([ContextOverflowError(limit=167_232, requested=256_984)])
        recorder = Recorder(fail=lambda _: next(refusals, None))
        talk = [Message("user", "x"), Message("assistant", "y"), Message("user", "z")]
        outcome, log = await _once(talk, recorder)
        assert outcome.status == "done"
        assert _kinds_of(log) == ["ContextOverflowError"]
        assert [b'"z"' in sent for sent in recorder.sent] == [True, True]

    bounded(scenario())
