"""What an algorithm sees of its run: the effects.

Every effect is recorded; on resume the algorithm runs again and gets the recorded results. Between effects it must be
deterministic: time, randomness and I/O go through `run.now`, `run.uuid` and `run.step`.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import uuid4

import msgspec

from aaa.errors import UnavailableError
from aaa.messages import Handler, LLMRequest, LLMResponse, Message, ToolCall, ToolSpec
from aaa.runtime.budget import Budget, Spent
from aaa.runtime.call_ids import CallIds
from aaa.runtime.conversations import Conversations
from aaa.runtime.effects import EffectContext, Perform, perform, require_same, usable
from aaa.runtime.events import Event
from aaa.runtime.identity import Identity, identity_of, identity_of_call, is_recorded_call
from aaa.runtime.log import RunLog
from aaa.runtime.outcome import Outcome
from aaa.runtime.program import Algorithm, Program, name_of
from aaa.runtime.scope import Scope, current_scope, is_recorded_from
from aaa.runtime.stops import RunStop
from aaa.runtime.underway import UnderWay

__all__ = ["DriveChild", "Run"]

DriveChild = Callable[[str, Algorithm, Any, Budget | None], Awaitable[Mapping[str, Any]]]


class Run:
    """One durable execution of an algorithm. `config` is what the algorithm had recorded when the run started."""

    def __init__(
        self,
        program: Program,
        log: RunLog,
        drive_child: DriveChild,
        *,
        limits: Sequence[tuple[Budget, Spent]],
        config: Any,
    ) -> None:
        self.run_id = log.run_id
        self.config = config
        self.program = program
        self.log = log
        self.limits = limits
        self._drive_child = drive_child
        self._under_way = UnderWay(log)
        self._memory: dict[str, Any] = {}
        self._conversations = Conversations()
        self._call_ids = CallIds()

    async def llm(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        model: str | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> LLMResponse:
        """Call the model with the whole conversation; what is sent is a view of it that fits.

        Raises:
            EffectError: the call failed for good.
            NonDeterminismError: the log records another conversation here.
        """
        done = self._replayed_reply(messages)
        if done is None:
            request = LLMRequest(tuple(messages), tuple(tools), model, dict(params or {}))
            with self._under_way.effect("llm") as key:
                done = await self._call(self._handler("llm"), key, messages, request)
        response = _response(done)
        self._call_ids.note((response.message,))
        return response

    def _replayed_reply(self, messages: Sequence[Message]) -> dict[str, Any] | None:
        """The data of a recorded reply, if it can be told without digests that the log records this very call."""
        log = self.log
        scope, key = self._under_way.next("llm")
        recorded = log.recorded[key] if key in log.results else ()
        conv = recorded[0].data.get("conv") if recorded else None
        found = self._conversations.replay(key, messages, conv) if conv is not None else None
        if found is None:
            return None
        scope.skip()
        log.visited.add(key)
        conversation, new = found
        self._call_ids.note(new)
        context = EffectContext(log, key, self._memory, conversation, messages=messages)
        self._handler("llm").replay(context, [(event.type, event.data) for event in recorded])
        return usable(key, log.results[key])

    async def _call(
        self, handler: Handler, key: str, messages: Sequence[Message], request: LLMRequest
    ) -> dict[str, Any]:
        """The data of a reply: new, or recorded and compared by digests."""
        for replayed, identity in self._conversations.settle():
            require_same(self.log, "aaa.llm", replayed, identity)
        placed = self._conversations.place(key, messages, is_recorded=key in self.log.recorded)
        self._call_ids.note(placed.new)
        if not require_same(self.log, "aaa.llm", key, placed.identity):
            self.check_budget()
        context = EffectContext(self.log, key, self._memory, placed.name, placed.parent, placed.transcript)
        done = self._replayed(handler, context)
        if done is not None:
            return usable(context.key, done)
        context.watching = self.program.watching
        asked = {"conv": placed.conv, "model": request.model, "params": request.params}
        return await perform(self.log, "aaa.llm", context, asked, partial(self._reply, handler, request))

    async def _reply(self, handler: Handler, request: LLMRequest, context: EffectContext) -> dict[str, Any]:
        """The data of a new reply, its call ids unique."""
        data = await handler.handle(context, request)
        message = data.get("message")
        return data | {"message": self._call_ids.unique(message)} if isinstance(message, Message) else data

    async def tools(self, calls: Sequence[ToolCall]) -> list[Message]:
        """Run the calls at the same time; the results as messages, in the order of the calls.

        A call that fails has a result that says so: the model sees it.
        """
        results = self._replayed_results(calls)
        if results is None:
            with self._under_way.effect("tools") as key:
                results = await self._calls([f"{key}.{index}" for index in range(len(calls))], calls)
        return [Message("tool", r["content"], tool_call_id=call.id) for call, r in zip(calls, results, strict=True)]

    def _replayed_results(self, calls: Sequence[ToolCall]) -> list[dict[str, Any]] | None:
        """The data of recorded results, if it can be told without digests that the log records these very calls."""
        log = self.log
        scope, prefix = self._under_way.next("tools")
        found: list[tuple[str, list[Event]]] = []
        for index, call in enumerate(calls):
            key = f"{prefix}.{index}"
            if key not in log.results or not is_recorded_call(call, log.recorded[key][0].data):
                return None
            found.append((key, log.recorded[key]))
        scope.skip()
        handler = self._handler("tool")
        for key, events in found:
            log.visited.add(key)
            handler.replay(EffectContext(log, key, self._memory), [(event.type, event.data) for event in events])
        return [usable(key, log.results[key]) for key, _ in found]

    async def _calls(self, keys: Sequence[str], calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
        """The data of results: new, or recorded and compared by digests."""
        contexts = [EffectContext(self.log, key, self._memory) for key in keys]
        await self._ask(contexts, calls)
        handler = self._handler("tool")
        known = [self._replayed(handler, context) for context in contexts]
        return await _all(list(map(partial(self._called, handler), contexts, calls, known)))

    async def _called(
        self, handler: Handler, context: EffectContext, call: ToolCall, done: Event | None
    ) -> dict[str, Any]:
        """The data of a call's result, from the log or new."""
        if done is not None:
            return usable(context.key, done)
        return await perform(self.log, "aaa.tool", context, None, lambda context: handler.handle(context, call))

    async def _ask(self, contexts: Sequence[EffectContext], calls: Sequence[ToolCall]) -> None:
        """Record the requests of calls that are new, in one append."""
        new: list[tuple[EffectContext, ToolCall, Identity]] = []
        for context, call in zip(contexts, calls, strict=True):
            asked = identity_of_call(call)
            if not require_same(self.log, "aaa.tool", context.key, asked):
                new.append((context, call, asked))
        if new:
            self.check_budget()
            for context, call, asked in new:
                data = {"id": call.id, "name": call.name, "arguments": call.arguments_json, "digest": asked.digest}
                context.note("aaa.tool.requested", {"call": data})
            await self.log.flush()

    async def step(self, name: str, function: Callable[[], Any]) -> Any:
        """Call `function`, sync (in a thread) or async, once; its result (JSON) is recorded.

        Raises:
            EffectError: it raised.
        """

        async def do(_: EffectContext) -> dict[str, Any]:
            if inspect.iscoroutinefunction(function):
                return {"value": await function()}
            value = await asyncio.to_thread(function)
            return {"value": await value if inspect.isawaitable(value) else value}

        with self._under_way.effect("step") as key:
            return (await self._plain("aaa.step", key, {"name": name}, do)).get("value")

    async def now(self) -> float:
        """Seconds since 1970, UTC; the same on every attempt."""
        return await self._value("now", time.time)

    async def uuid(self) -> str:
        """A random id, the same on every attempt."""
        return await self._value("uuid", lambda: uuid4().hex)

    async def version(self, name: str) -> int:
        """1 if the run came here for the first time with this code, 0 if it had passed before `name` was there.

        For deliberate changes: `if await run.version("ask-twice"): …`. The first answer holds for the whole run. Takes
        no key, so adding it moves nothing.
        """
        key = f"version:{name}"
        if key not in self.log.recorded:
            value = 0 if is_recorded_from(self.log.recorded, self._under_way.scope) else 1
            self.log.recorded[key] = [self.log.note("aaa.step.completed", {"key": key, "name": key, "value": value})]
        return self.log.recorded[key][0].data["value"]

    async def gather(self, *branches: Awaitable[Any]) -> list[Any]:
        """Await branches with effects of their own at the same time; results in the order given.

        All branches run to their end; then the first error, in that order, is raised.
        """
        try:
            with self._under_way.effect("gather") as key:
                return await _all([self._branch(f"{key}.{index}.", branch) for index, branch in enumerate(branches)])
        finally:
            for branch in branches:
                if inspect.iscoroutine(branch):
                    branch.close()

    async def _branch(self, path: str, branch: Awaitable[Any]) -> Any:
        token = current_scope.set((self.run_id, Scope(path)))
        try:
            return await branch
        finally:
            current_scope.reset(token)

    async def child(self, algorithm: Algorithm, input: Any, *, budget: Budget | None = None) -> Outcome:
        """Run another algorithm to its end, with a log of its own under `run_id/key`.

        It spends from this run's budget too, is cancelled with it, and its conversations have windows of their own.
        """
        with self._under_way.effect("child") as key:
            asked = {"name": name_of(algorithm), "run_id": f"{self.run_id}/{key}", "input": input}
            data = await self._plain(
                "aaa.child", key, asked, lambda _: self._drive_child(asked["run_id"], algorithm, input, budget)
            )
            return msgspec.convert(data["outcome"], Outcome)

    async def sleep(self, seconds: float) -> None:
        """Wait; a resumed run waits only for what is left."""
        await self._wait("sleep", f"sleep {seconds}", seconds, lambda: None)

    async def wait_for(self, name: str, *, timeout_seconds: float | None = None) -> Any:
        """Wait until something is sent to the run under `name` (`handle.send`), and return it.

        Raises:
            TimeoutError: nothing came in time; recorded, so it is raised again on resume.
        """
        data = await self._wait("wait_for", name, timeout_seconds, lambda: self.log.next_received(name))
        if "received" not in data:
            raise TimeoutError(f"nothing was sent under {name!r} within {timeout_seconds} seconds")
        return data["value"]

    async def _wait(
        self, what: str, name: str, seconds: float | None, arrived: Callable[[], Event | None]
    ) -> Mapping[str, Any]:
        with self._under_way.effect(what) as key:
            if not require_same(self.log, "aaa.run", key, Identity(name)):
                self.check_budget()
                wake_at = None if seconds is None else time.time() + seconds
                await self.log.write("aaa.run.waiting", {"key": key, "name": name, "wake_at": wake_at})
            else:
                wake_at = self.log.recorded[key][0].data["wake_at"]
            done = self.log.results.get(key)
            if done is not None:
                return done.data
            found = await self._arrival(wake_at, arrived)
            data: dict[str, Any] = {"key": key, "name": name, "value": None}
            if found is not None:
                data |= {"value": found.data.get("data"), "received": found.seq}
            return self.log.note("aaa.step.completed", data).data

    async def _arrival(self, wake_at: float | None, arrived: Callable[[], Event | None]) -> Event | None:
        """What arrives before `wake_at`; None if nothing does. Writers in other processes are followed meanwhile."""
        watch = asyncio.create_task(self.log.watch())
        try:
            while (found := arrived()) is None:
                left = None if wake_at is None else wake_at - time.time()
                if left is not None and left <= 0:
                    return None
                self.log.changed.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.log.changed.wait(), left)
            self.log.taken.add(found.seq)  # before anything else can find it
            return found
        finally:
            watch.cancel()
            await asyncio.wait([watch])

    async def stop(self) -> None:
        """End effects that are still under way."""
        await self._under_way.stop()

    def _replayed(self, handler: Handler, context: EffectContext) -> Event | None:
        """The recorded result of an effect, None if it has none; what is recorded of it is told to its handler."""
        recorded = self.log.recorded.get(context.key)
        if recorded is None:
            return None
        handler.replay(context, [(event.type, event.data) for event in recorded])
        return self.log.results.get(context.key)

    def _handler(self, kind: str) -> Handler:
        handler = self.program.handlers.get(kind)
        return handler if handler is not None else self._missing_handler(kind)

    def _missing_handler(self, kind: str) -> Handler:
        try:
            return self.program.handler(kind)
        except UnavailableError as error:
            self.log.fail(error)  # the run has not ended: it goes on where there is a handler
            raise

    async def _plain(self, kind: str, key: str, asked: Mapping[str, Any], do: Perform) -> dict[str, Any]:
        context = EffectContext(self.log, key, self._memory)
        if not require_same(self.log, kind, key, identity_of(asked)):
            self.check_budget()
        done = self.log.results.get(key)
        return usable(key, done) if done is not None else await perform(self.log, kind, context, asked, do)

    async def _value(self, name: str, make: Callable[[], Any]) -> Any:
        """A value that costs nothing to make: only its result is recorded."""
        with self._under_way.effect(name) as key:
            if require_same(self.log, "aaa.step", key, Identity(name)):
                return self.log.recorded[key][0].data["value"]
            self.check_budget()
            return self.log.note("aaa.step.completed", {"key": key, "name": name, "value": make()}).data["value"]

    def check_budget(self) -> None:
        """Stop the run if it, or one above it, has nothing left to spend."""
        for budget, spent in self.limits:
            exceeded = budget.exceeded_by(spent)
            if exceeded:
                raise RunStop("out_of_budget", exceeded)
            if budget.ends_at is not None and time.time() >= budget.ends_at:
                raise RunStop("past_deadline", f"the deadline was {budget.ends_at:.3f}")


def _response(data: Mapping[str, Any]) -> LLMResponse:
    return msgspec.convert(data if data.get("usage") else {**data, "usage": None}, LLMResponse)


async def _all(branches: Sequence[Awaitable[Any]]) -> list[Any]:
    """Await all, each to its end; one alone is awaited in place, so that what it notes shares an append."""
    if len(branches) == 1:
        return [await branches[0]]
    results = await asyncio.gather(*branches, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results
