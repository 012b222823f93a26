"""What an algorithm sees of its run: the effects.

Every effect is recorded; on resume the algorithm runs again and gets the recorded results. Between effects it must be
deterministic: time, randomness and I/O go through `run.now`, `run.uuid` and `run.step`.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import Any
from uuid import uuid4

import msgspec

from aaa.context.transcript import TranscriptCache
from aaa.errors import UnavailableError
from aaa.messages import Handler, LLMRequest, LLMResponse, Message, ToolCall, ToolSpec, Usage
from aaa.runtime.budget import Budget, Spent
from aaa.runtime.conversations import Conversations, Placed
from aaa.runtime.effects import EffectContext, Perform, perform, require_same, usable
from aaa.runtime.events import Event
from aaa.runtime.log import RunLog
from aaa.runtime.outcome import Outcome
from aaa.runtime.program import Algorithm, Program, name_of
from aaa.runtime.scope import Scope, current_scope, is_recorded_from
from aaa.runtime.stops import RunStop

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
        self._scope = Scope()
        self._memory: dict[str, Any] = {}
        self._conversations = Conversations()
        self._transcripts = TranscriptCache(lambda _: 0)
        self._call_ids: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

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
        request = LLMRequest(tuple(messages), tuple(tools), model, dict(params or {}))
        with self._effect("llm") as key:
            placed = self._conversations.place(key, self._transcripts.transcript_of(messages))
            self._call_ids.update(call["id"] for m in placed.conv["delta"] for call in m.get("tool_calls", ()))
            asked = {"conv": placed.conv, "model": model, "params": request.params}
            return _response(await self._handled("llm", key, request, asked, placed=placed))

    async def tools(self, calls: Sequence[ToolCall]) -> list[Message]:
        """Run the calls at the same time; the results as messages, in the order of the calls.

        A call that fails has a result that says so: the model sees it.
        """
        with self._effect("tools") as key:
            asked = [(f"{key}.{index}", _asked(call)) for index, call in enumerate(calls)]
            await self._ask("aaa.tool", asked)
            results = await _all(
                [
                    self._handled("tool", k, call, data, is_asked=True)
                    for call, (k, data) in zip(calls, asked, strict=True)
                ]
            )
        return [Message("tool", r["content"], tool_call_id=call.id) for call, r in zip(calls, results, strict=True)]

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

        with self._effect("step") as key:
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
            value = 0 if is_recorded_from(self.log.recorded, self._current) else 1
            self.log.recorded[key] = [self.log.note("aaa.step.completed", {"key": key, "name": key, "value": value})]
        return self.log.recorded[key][0].data["value"]

    async def gather(self, *branches: Awaitable[Any]) -> list[Any]:
        """Await branches with effects of their own at the same time; results in the order given.

        All branches run to their end; then the first error, in that order, is raised.
        """
        try:
            with self._effect("gather") as key:
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
        with self._effect("child") as key:
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
        with self._effect(what) as key:
            if not require_same(self.log, "aaa.run", key, {"name": name}):
                self.check_budget()
                wake_at = None if seconds is None else time.time() + seconds
                await self.log.write("aaa.run.waiting", {"key": key, "name": name, "wake_at": wake_at})
            else:
                wake_at = self.log.recorded[key][0].data["wake_at"]
            done = self.log.result("aaa.step", key)
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
        """End effects that are still under way, for example one that a failed `asyncio.gather` left behind."""
        left = [task for task in self._tasks if task is not asyncio.current_task() and not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    @property
    def _current(self) -> Scope:
        found = current_scope.get()
        return found[1] if found is not None and found[0] == self.run_id else self._scope

    @contextmanager
    def _effect(self, what: str) -> Generator[str, None, None]:
        if self.log.failure is not None:
            raise self.log.failure
        scope = self._current
        key = scope.enter(what)
        task = asyncio.current_task()
        assert task is not None
        is_outermost = task not in self._tasks
        self._tasks.add(task)
        try:
            yield key
        finally:
            scope.leave()
            if is_outermost:
                self._tasks.discard(task)

    async def _handled(
        self,
        kind: str,
        key: str,
        request: Any,
        asked: Mapping[str, Any],
        *,
        placed: Placed | None = None,
        is_asked: bool = False,
    ) -> dict[str, Any]:
        handler = self._handler(kind)
        context = EffectContext(self.log, key, self._memory, placed)
        if not is_asked and not require_same(self.log, f"aaa.{kind}", key, asked):
            self.check_budget()
        if key in self.log.recorded:
            handler.replay(context, request, [(event.type, event.data) for event in self.log.recorded[key]])
        done = self.log.result(f"aaa.{kind}", key)
        if done is not None:
            return self._with_known_ids(usable(context, done))

        async def do(context: EffectContext) -> Mapping[str, Any]:
            return self._with_new_ids(await handler.handle(context, request))

        return await perform(self.log, f"aaa.{kind}", context, None if is_asked else asked, do)

    def _handler(self, kind: str) -> Handler:
        try:
            return self.program.handler(kind)
        except UnavailableError as error:
            self.log.fail(error)  # the run has not ended: it goes on where there is a handler
            raise

    def _with_known_ids(self, data: dict[str, Any]) -> dict[str, Any]:
        """Take note of the call ids of a recorded reply."""
        self._call_ids.update(call["id"] for call in data.get("message", {}).get("tool_calls", ()))
        return data

    def _with_new_ids(self, data: dict[str, Any]) -> dict[str, Any]:
        """A reply whose call ids are the provider's; one that is taken gets `~n` behind it."""
        message = data.get("message")
        if not isinstance(message, Message) or not message.tool_calls:
            return data
        calls = tuple(msgspec.structs.replace(call, id=self._free_id(call.id)) for call in message.tool_calls)
        return data | {"message": msgspec.structs.replace(message, tool_calls=calls)}

    def _free_id(self, call_id: str) -> str:
        free, number = call_id, 1
        while free in self._call_ids:
            number += 1
            free = f"{call_id}~{number}"
        self._call_ids.add(free)
        return free

    async def _plain(self, kind: str, key: str, asked: Mapping[str, Any], do: Perform) -> dict[str, Any]:
        context = EffectContext(self.log, key, self._memory)
        if not require_same(self.log, kind, key, asked):
            self.check_budget()
        done = self.log.result(kind, key)
        return usable(context, done) if done is not None else await perform(self.log, kind, context, asked, do)

    async def _ask(self, kind: str, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Record several requests in one append."""
        new = [(key, data) for key, data in asked if not require_same(self.log, kind, key, data)]
        if new:
            self.check_budget()
            for key, data in new:
                self.log.note(f"{kind}.requested", {"key": key, **data})
            await self.log.flush()

    async def _value(self, name: str, make: Callable[[], Any]) -> Any:
        """A value that costs nothing to make: only its result is recorded."""
        with self._effect(name) as key:
            if require_same(self.log, "aaa.step", key, {"name": name}):
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


def _asked(call: ToolCall) -> dict[str, Any]:
    digest = blake2b(call.arguments_json.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
    return {"call": {"id": call.id, "name": call.name, "arguments": call.arguments_json, "digest": digest}}


def _response(data: Mapping[str, Any]) -> LLMResponse:
    usage = data.get("usage")
    return LLMResponse(
        msgspec.convert(data["message"], Message),
        msgspec.convert(usage, Usage) if usage else None,
        data.get("model"),
        data.get("finish_reason"),
        data.get("cost"),
    )


async def _all(branches: Sequence[Awaitable[Any]]) -> list[Any]:
    """Await all, each to its end; one alone is awaited in place, so that what it notes shares an append."""
    if len(branches) == 1:
        return [await branches[0]]
    results = await asyncio.gather(*branches, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results
