"""race: what happens while a compaction is under way, step by step."""

import asyncio
from typing import Any

from aaa.context import ContextPolicy, FitterState, PromptFitter, Summarize, awaits_results
from aaa.errors import AaaError
from aaa.messages import LLMRequest, LLMResponse, Message, ToolCall, with_text
from tests.cases.counters import CharCounter
from tests.cases.found import Found
from tests.cases.notation import ScriptedModel
from tests.cases.operations.compacting import groups_of

__all__ = ["OPERATIONS"]

_CHARS = {"chars_per_token": 4, "per_message": 0, "count": ["content", "arguments"]}
_WINDOW = 200_000


class _Gated:
    """A summarizer that waits to be let go on, and then makes `reply`, as the notation has it."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.reply: dict[str, str] = {"text": "What was said so far."}

    async def complete(self, request: LLMRequest) -> LLMResponse:
        await self.gate.wait()
        return await ScriptedModel([self.reply]).complete(request)


class _Race:
    """A conversation, its fitter, and the compactions under way.

    A step is `name.words:argument`, of which only the words are always there; each is a method here.
    """

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
        self.saved = self.fitter.state.to_json()
        self.model: str | None = None
        self.tasks: dict[str, asyncio.Task[Any]] = {}
        self.log: list[str] = []

    async def step(self, step: str) -> None:
        rest, _, argument = step.partition(":")
        name, _, words = rest.rpartition(".")
        take = getattr(self, f"_{words}", None)
        if take is None:
            raise ValueError(f"a step that is not known: {step!r}")
        await take(name, argument)

    async def _snapshot(self, name: str, _: str) -> None:
        compaction = self.fitter.compact(list(self.messages), keep_recent=self.keep, model=self.model)
        self.tasks[name] = asyncio.create_task(compaction)
        await asyncio.sleep(0)

    async def _append_user(self, _: str, text: str) -> None:
        self.messages.append(Message("user", text))

    async def _append_assistant(self, _: str, text: str) -> None:
        self.messages.append(Message("assistant", text))

    async def _append_system(self, _: str, text: str) -> None:
        self.messages.append(Message("system", text))

    async def _edit(self, _: str, argument: str) -> None:
        place, _, text = argument.partition(":")
        self.messages[int(place)] = with_text(self.messages[int(place)], text)

    async def _delete(self, _: str, place: str) -> None:
        del self.messages[int(place)]

    async def _undo(self, _: str, count: str) -> None:
        """The last message is taken back, or so many."""
        del self.messages[len(self.messages) - int(count or 1) :]

    async def _rewind(self, _: str, length: str) -> None:
        """The conversation goes on behind its first messages."""
        del self.messages[int(length) :]

    async def _clear(self, _: str, __: str) -> None:
        self.messages = [Message("user", "hello")]

    async def _cancel(self, name: str, _: str) -> None:
        self.tasks[name].cancel()
        await asyncio.wait([self.tasks[name]])

    async def _crash(self, _: str, __: str) -> None:
        """The process ends; the next one goes on from what was saved last."""
        await self._begin_anew(self.saved)

    async def _restart(self, _: str, __: str) -> None:
        """The process ends in good order: it saves what it knows."""
        await self._begin_anew(self.fitter.state.to_json())

    async def _begin_anew(self, saved: str) -> None:
        for name in list(self.tasks):
            await self._cancel(name, "")
        self.fitter = PromptFitter(self.fitter.policy, FitterState.from_json(saved))

    async def _switch_model(self, _: str, name: str) -> None:
        self.model = name or "another"

    async def _summary_done(self, _: str, __: str) -> None:
        self.summarizer.gate.set()
        await asyncio.sleep(0)

    async def _summary_failed(self, _: str, error: str) -> None:
        self.summarizer.reply = {"error": error or "server"}
        await self._summary_done("", "")

    _summary_error = _summary_failed

    async def _summary_timeout(self, _: str, __: str) -> None:
        await self._summary_failed("", "timeout")

    async def _summary_empty(self, _: str, __: str) -> None:
        self.summarizer.reply = {"text": ""}
        await self._summary_done("", "")

    async def _commit(self, name: str, _: str) -> None:
        """What the compaction made is kept; one that was cancelled or failed made nothing."""
        self.summarizer.gate.set()
        await asyncio.wait([self.tasks[name]])
        if not self.tasks[name].cancelled():
            await self._kept(self.tasks[name])
        self.fitter.book.keep(self.fitter.state.records, None)

    async def _kept(self, compaction: Any) -> None:
        try:
            await compaction
        except AaaError as error:
            self.found.error = error
        self.saved = self.fitter.state.to_json()

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
        await self._kept(self.fitter.compact(self.messages, keep_recent=self.keep, model=self.model))

    async def _stream_end_without_usage(self, _: str, __: str) -> None:
        self.fitter.record(None)

    async def _usage_high(self, _: str, __: str) -> None:
        await self.fitter.fit(self.messages, model=self.model)
        self.fitter.record(self.found.case.get("window", _WINDOW))

    async def _append_tool(self, _: str, text: str) -> None:
        call = next(call for message in reversed(self.messages) for call in reversed(message.tool_calls))
        self.messages.append(Message("tool", text, tool_call_id=call.id))

    async def _append_call(self, _: str, call_id: str) -> None:
        self.messages.append(Message("assistant", None, (ToolCall(call_id, "lookup", "{}"),)))

    async def _check(self, _: str, __: str) -> None:
        needs = self.fitter.gauge(self.messages, model=self.model).needs_compaction
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
        target = found.target | ({"model": race.model} if race.model else {})
        found.after = list((await race.fitter.fit(race.messages, **target)).messages)
        found.again = list((await race.fitter.fit(race.messages, **target)).messages)


OPERATIONS = {"race": race}
