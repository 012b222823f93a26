"""race, crash_matrix, compact_save_load: what happens while a compaction is under way, and after a crash."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from aaa.context import ContextPolicy, FitterState, PromptFitter, Summarize, awaits_results
from aaa.errors import StateError
from aaa.messages import LLMRequest, LLMResponse, Message, ToolCall
from aaa.runtime import Engine, MemoryEventStore
from tests.cases.counters import CharCounter
from tests.cases.found import Found
from tests.cases.notation import ScriptedModel
from tests.cases.operations.compacting import groups_of, summarizer_of
from tests.runtime.making import Given

__all__ = ["OPERATIONS"]

_CHARS = {"chars_per_token": 4, "per_message": 0, "count": ["content", "arguments"]}
_WINDOW = 200_000


class _Gated:
    """A summarizer that waits to be let go on."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.requests: list[LLMRequest] = []

    async def complete(self, request: LLMRequest) -> LLMResponse:
        self.requests.append(request)
        await self.gate.wait()
        return LLMResponse(Message("assistant", "What was said so far."), finish_reason="stop", cost=0.0)


class _Race:
    """A conversation, its fitter, and the compactions under way."""

    def __init__(self, found: Found) -> None:
        case = found.case
        self.found = found
        self.messages = found.given_format.read(case.get("messages", ()))
        self.keep = groups_of(self.messages, case.get("keep_recent_messages", 1))
        self.summarizer = _Gated()
        window = case.get("window", _WINDOW)
        policy = ContextPolicy(
            window,
            reserve_output=0,
            trigger=case.get("threshold", 0.85 * window) / window,
            counter=CharCounter(_CHARS),
            strategies=[Summarize(self.summarizer)],
        )
        self.fitter = PromptFitter(policy)
        self.tasks: dict[str, asyncio.Task[Any]] = {}
        self.records: dict[str, Sequence[Any]] = {}
        self.log: list[str] = []

    async def step(self, step: str) -> None:
        rest, _, argument = step.partition(":")
        name, _, words = rest.rpartition(".")
        take = getattr(self, f"_{words}", None)
        if take is None:
            raise ValueError(f"a step that is not known: {step!r}")
        await take(name, argument)

    async def _snapshot(self, name: str, _: str) -> None:
        compaction = self.fitter.compact(list(self.messages), keep_recent=self.keep)
        self.tasks[name] = asyncio.create_task(compaction)
        await asyncio.sleep(0)

    async def _append_user(self, _: str, text: str) -> None:
        self.messages.append(Message("user", text))

    async def _append_assistant(self, _: str, text: str) -> None:
        self.messages.append(Message("assistant", text))

    async def _cancel(self, name: str, _: str) -> None:
        self.tasks[name].cancel()
        await asyncio.wait([self.tasks[name]])

    async def _clear(self, _: str, __: str) -> None:
        self.messages = [Message("user", "hello")]

    async def _summary_done(self, _: str, __: str) -> None:
        self.summarizer.gate.set()
        await asyncio.sleep(0)

    async def _commit(self, name: str, _: str) -> None:
        self.summarizer.gate.set()
        await self.tasks[name]
        self.fitter.book.keep(self.fitter.state.records, None)

    async def _usage(self, _: str, tokens: str) -> None:
        """A prompt was sent that the provider counted so."""
        kept = self.found.case.get("fresh_estimate", int(tokens) // 10)
        older = Message("assistant", "o" * 4 * (int(tokens) - kept))
        self.messages = [Message("user", "task"), older, Message("user", "n" * 4 * (kept - 100))]
        wide = PromptFitter(ContextPolicy(10 * _WINDOW, counter=self.fitter.policy.counter))
        await wide.fit(self.messages)
        self.fitter = PromptFitter(self.fitter.policy, wide.state)
        self.fitter.record(int(tokens))
        self.keep = 1

    async def _compact(self, _: str, __: str) -> None:
        self.summarizer.gate.set()
        await self.fitter.compact(self.messages, keep_recent=self.keep)

    async def _stream_end_without_usage(self, _: str, __: str) -> None:
        self.fitter.record(None)

    async def _usage_high(self, _: str, __: str) -> None:
        await self.fitter.fit(self.messages)
        self.fitter.record(self.found.case.get("window", _WINDOW))

    async def _append_tool(self, _: str, text: str) -> None:
        call = next(call for message in reversed(self.messages) for call in reversed(message.tool_calls))
        self.messages.append(Message("tool", text, tool_call_id=call.id))

    async def _append_call(self, _: str, call_id: str) -> None:
        self.messages.append(Message("assistant", None, (ToolCall(call_id, "lookup", "{}"),)))

    async def _check(self, _: str, __: str) -> None:
        needs = self.fitter.gauge(self.messages).needs_compaction
        self.log.append("compact" if needs else "no_compaction")

    async def _call(self, _: str, name: str) -> None:
        call = ToolCall("c1", name, "{}")
        self.messages += [Message("user", "w" * 600_000), Message("assistant", None, (call,))]
        assert awaits_results(self.messages)

    async def _result(self, _: str, text: str) -> None:
        self.messages.append(Message("tool", text, tool_call_id="c1"))
        self.log.append(f"result:{text}")


def race(found: Found) -> None:
    """Steps of a compaction and what comes between them."""
    asyncio.run(_raced(found))


async def _raced(found: Found) -> None:
    race = _Race(found)
    for step in found.case["steps"]:
        await race.step(step)
    found.before = race.messages
    found.facts["log"] = race.log
    found.value = race.log[-1] if race.log else None
    if "messages" in found.case:
        prompt = await race.fitter.fit(race.messages, **found.target)
        found.after = list(prompt.messages)
        found.again = list((await race.fitter.fit(race.messages, **found.target)).messages)


def crash_matrix(found: Found) -> None:
    """A crash at each place of a compaction; what is loaded then."""
    case = found.case
    found.before = found.given_format.read(case["messages"])
    found.facts["states"] = {place: asyncio.run(_crashed(found, place)) for place in case["crash_at"]}
    found.facts["old"] = [message.text for message in found.before]


async def _crashed(found: Found, place: str) -> list[str]:
    """The prompt made from what was saved before the crash."""
    case, messages = found.case, list(found.before)
    summarizer = ScriptedModel(case["summarizer"])
    policy = ContextPolicy(_WINDOW, strategies=[Summarize(summarizer)])
    fitter = PromptFitter(policy)
    saved = [fitter.state.to_json()]
    if place != "before_summary":
        await fitter.compact(messages, keep_recent=groups_of(messages, case["keep_recent_messages"]))
    written = fitter.state.to_json()
    if place == "during_commit_write":
        saved.append(written[: len(written) // 2])
    elif place == "after_commit":
        saved.append(written)
    loaded = PromptFitter(policy, _last_whole(saved))
    return [message.text for message in (await loaded.fit(messages)).messages]


def _last_whole(saved: Sequence[str]) -> FitterState:
    """The last state that can be read; half of one is refused as a whole."""
    for text in reversed(saved):
        try:
            return FitterState.from_json(text)
        except StateError:
            continue
    raise AssertionError("nothing was saved")


def compact_save_load(found: Found) -> None:
    """What a program knows beside the conversation, after a compaction and a restart."""
    case = found.case
    summarizer_of(found)
    found.before = found.given_format.read(case["messages"])
    found.facts["state"] = asyncio.run(_resumed(found, case["state"]))


async def _resumed(found: Found, state: Mapping[str, Any]) -> Any:
    store, keep = MemoryEventStore(), found.case["keep_recent_messages"]
    is_under_way = asyncio.Event()

    async def work(run: Any, _: Any) -> Any:
        known = await run.step("state", lambda: json.loads(json.dumps(state)))
        fitter = PromptFitter(ContextPolicy(_WINDOW, strategies=[Summarize(found.summarizer)]))
        await run.step("compact", lambda: _compacted(fitter, found.before, keep))
        if not is_under_way.is_set():
            is_under_way.set()
            await asyncio.Event().wait()
        return known

    engine = Engine(store)
    await engine.start(Given(work), None, run_id="r")
    await is_under_way.wait()
    await engine.close()
    async with Engine(store) as again:
        outcome = await (await again.resume("r", Given(work))).result()
    return outcome.value


async def _compacted(fitter: PromptFitter, messages: Sequence[Message], keep: int) -> str:
    await fitter.compact(messages, keep_recent=groups_of(messages, keep))
    return fitter.state.to_json()


OPERATIONS = {"race": race, "crash_matrix": crash_matrix, "compact_save_load": compact_save_load}
