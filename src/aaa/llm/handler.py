"""The handler of model calls: fits each request to the window, calls the model, records what reproduces the prompt.

    conversation ─▶ fitter ─▶ prompt ─▶ client ─▶ reply
                      │ aaa.context.summary           │ aaa.context.edited, aaa.llm.completed {context, sent, usage}

The log keeps the logical conversation, the provider gets the view: fitted, and valid for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from aaa.context import ContextPolicy, Prepared, Summarize
from aaa.errors import ContextFloorError, ContextOverflowError, error_data
from aaa.llm.retry import RetryPolicy
from aaa.llm.view import ConversationView
from aaa.messages import Effects, Host, LLMClient, LLMRequest, LLMResponse, Message, StreamingClient
from aaa.wire.overflow import ContextOverflow
from aaa.wire.rules import rules_for
from aaa.wire.rules.asked import decisive

__all__ = ["LLMHandler"]

_OVERFLOW_PRESSURE = 0.5  # after an overflow: the conversation is taken to be twice as large as estimated


class LLMHandler:
    """Calls `client` for the runs of an engine; with `context=policy` each request is made to fit first.

    After an overflow reported by the provider the request is prepared once more under pressure and sent again; a
    second overflow fails the call. Transient faults are retried by `retry`. What the client's provider refuses (its
    `dialect`) is put right in each request, and every change recorded. A server that cuts a prompt without a word is
    found out by its usage: a warning, and the window is learned; with `strict=True` the call fails.
    """

    def __init__(
        self,
        client: LLMClient,
        *,
        context: ContextPolicy | None = None,
        retry: RetryPolicy | None = None,
        strict: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.client = client
        self.context = context
        self.retry = retry or RetryPolicy()
        self.strict = strict
        self._sleep = sleep

    def attach(self, host: Host) -> None:
        """Perform the model calls of `host`, an engine."""
        host.attach("llm", self)

    @property
    def knows_cost(self) -> bool:
        """Whether replies, and those of whoever writes summaries, carry a cost, so that a `max_cost` can be kept."""
        strategies = self.context.strategies if self.context is not None else ()
        writers = [strategy for strategy in strategies if isinstance(strategy, Summarize)]
        return bool(getattr(self.client, "knows_cost", False)) and all(writer.knows_cost for writer in writers)

    async def handle(self, effects: Effects, request: LLMRequest) -> dict[str, Any]:
        """Fit, call, and return the data of `aaa.llm.completed`."""
        request = self._with_defaults(request)
        if self.context is None:
            request, repairs = self._valid(request)
            return _completed(await self._call(effects, request)) | repairs
        view = self._view(effects)
        view.settle()
        request = self._with_window(view, request)
        prompt = await self._fit(effects, view, request, 1.0)
        refused: Prepared[Message] | None = None  # without a limit from which to learn
        try:
            try:
                response = await self._call(effects, _fitted(request, prompt))
            except ContextOverflowError as overflow:
                is_learned = view.learn(effects, overflow, prompt, request.model)
                pressure = 1.0 if is_learned and overflow.kind == "bytes" else _pressure_after(overflow)
                effects.note("aaa.llm.retried", {"attempt": 1, "error": type(overflow).__name__, "pressure": pressure})
                refused = None if is_learned else prompt
                prompt = await self._smaller(effects, view, request, prompt, overflow=overflow, pressure=pressure)
                response = await self._call(effects, _fitted(request, prompt))
        except Exception as error:  # noqa: BLE001 - recorded with what was sent, and raised into the algorithm
            told = _told(error, prompt, view.fitter.window(request.model))
            return {"error": told} | view.described(effects, prompt)
        return self._settled(effects, view, prompt, response, refused=refused)

    async def _smaller(
        self,
        effects: Effects,
        view: ConversationView,
        request: LLMRequest,
        prompt: Prepared[Message],
        *,
        overflow: ContextOverflowError,
        pressure: float,
    ) -> Prepared[Message]:
        """The prompt after a refusal: cut deeper, by what it tells.

        One that is as small as it gets is sent once more as it is where by our own count it is within the limit that
        the refusal tells of, or it tells of none: it may have been about something else, and a second one is an error
        that says so. One refused for its bytes is not: it has as many as before.

        Raises:
            ContextFloorError: as small as it gets, and above the limit.
            ContextOverflowError: the refusal, where nothing makes the request smaller.
        """
        assert prompt.plan is not None
        try:
            return await self._fit(effects, view, request, pressure)
        except ContextFloorError as error:
            if overflow.kind == "bytes":
                raise overflow from error
            if overflow.limit and prompt.plan.tokens_after > overflow.limit:
                raise
            return prompt

    def _settled(
        self,
        effects: Effects,
        view: ConversationView,
        prompt: Prepared[Message],
        response: LLMResponse,
        *,
        refused: Prepared[Message] | None,
    ) -> dict[str, Any]:
        """The data of the reply, after everything that can be learned from it."""
        described = view.described(effects, prompt)
        cut = view.cut_in(effects, response, is_cached_told=self._dialect != "ollama")
        if cut is None and refused is not None:
            view.tighten(effects, refused, prompt, response)
        if cut is None:
            view.fitter.record(response.usage)
        elif self.strict:
            return {"error": error_data(_silent(cut)), "usage": response.usage, "cost": response.cost} | described
        return _completed(response) | described

    @property
    def _dialect(self) -> str | None:
        """The rules of what is sent, where the client has a provider."""
        return getattr(self.client, "dialect", None)

    def _with_defaults(self, request: LLMRequest) -> LLMRequest:
        """The request with what a client of a provider adds to it: model and parameters decide rules too."""
        if self._dialect is None:
            return request
        model, params = request.model or getattr(self.client, "model", None), getattr(self.client, "params", {})
        return msgspec.structs.replace(request, model=model, params={**params, **request.params})

    def _with_window(self, view: ConversationView, request: LLMRequest) -> LLMRequest:
        """The request with the window that it is fitted to, for Ollama, which else uses one of its own and cuts."""
        options: dict[str, Any] = request.params.get("options") or {}
        if self._dialect != "ollama" or "num_ctx" in options:
            return request
        options = {**options, "num_ctx": view.fitter.window(request.model)}
        return msgspec.structs.replace(request, params={**request.params, "options": options})

    def _valid(self, request: LLMRequest) -> tuple[LLMRequest, dict[str, Any]]:
        """The request as its provider takes it, and what a log keeps of the difference."""
        if self._dialect is None:
            return request, {}
        messages, repairs = rules_for(self._dialect, request.model, params=request.params).repair(request.messages)
        if not repairs:
            return request, {}
        asked = {"model": request.model, "params": decisive(request.params)}
        data = {"provider": self._dialect, "asked": asked, "repairs": msgspec.to_builtins(repairs)}
        return msgspec.structs.replace(request, messages=tuple(messages)), data

    def replay(self, effects: Effects, events: list[tuple[str, dict[str, Any]]]) -> None:
        """Fold what an earlier process recorded of this call."""
        if self.context is not None:
            self._view(effects).fold(events)

    def _view(self, effects: Effects) -> ConversationView:
        views: dict[str, ConversationView] = effects.memory.setdefault("llm", {})
        if effects.conversation not in views:
            assert self.context is not None
            views[effects.conversation] = ConversationView(self.context, views.get(effects.parent_conversation))
        return views[effects.conversation]

    async def _fit(
        self, effects: Effects, view: ConversationView, request: LLMRequest, pressure: float
    ) -> Prepared[Message]:
        try:
            prompt = await view.fitter.fit(
                effects.messages,
                tools=request.tools,
                model=request.model,
                pressure=pressure,
                provider=self._dialect,
                params=request.params,
            )
        except ContextFloorError as error:
            _note_rejected(effects, error.rejected, (), error.tokens_spent, error.cost)
            raise
        assert prompt.plan is not None
        breaker = {"breaker": prompt.plan.breaker}  # as it is after this call, should it be made again
        spent = {"tokens_spent": prompt.tokens_spent, "cost": prompt.cost}
        for record in prompt.new_summaries:
            await effects.emit("aaa.context.summary", {"record": record, **breaker, **spent})
            spent = {}
        unpaid = (prompt.tokens_spent, prompt.cost) if spent else (0, 0.0)
        _note_rejected(effects, prompt.plan.rejected, prompt.plan.rejected_digests, *unpaid, **breaker)
        return prompt

    async def _call(self, effects: Effects, request: LLMRequest) -> LLMResponse:
        attempt = 1
        while True:
            try:
                return await self._ask(effects, request)
            except Exception as error:
                wait = self.retry.seconds_before(attempt, error)
                if wait is None:
                    raise
                fault = {"attempt": attempt, "error": type(error).__name__, "wait_seconds": wait}
                effects.note("aaa.llm.retried", fault)
            await self._sleep(wait)
            attempt += 1

    async def _ask(self, effects: Effects, request: LLMRequest) -> LLMResponse:
        """One try; streamed if somebody watches."""
        if effects.is_watched and isinstance(self.client, StreamingClient):
            return await self.client.stream(request, effects.show)
        return await self.client.complete(request)


def _silent(cut: ContextOverflow) -> ContextOverflowError:
    problem = "the server cut the prompt without a word"
    return ContextOverflowError(problem, limit=cut.limit, requested=cut.requested, kind="silent")


def _fitted(request: LLMRequest, prompt: Prepared[Message]) -> LLMRequest:
    return msgspec.structs.replace(request, messages=tuple(prompt.messages))


def _completed(response: LLMResponse) -> dict[str, Any]:
    message: Message = response.message
    return {
        "message": message,
        "usage": response.usage,
        "model": response.model,
        "finish_reason": response.finish_reason,
        "cost": response.cost,
    }


def _note_rejected(
    effects: Effects, rejected: Sequence[str], digests: Sequence[str], tokens_spent: int, cost: float, **more: object
) -> None:
    """Record summaries that were not used, so that they are not paid for again, and what they cost."""
    if digests or tokens_spent or cost:
        data = {"rejected": list(rejected), "digests": list(digests), "tokens_spent": tokens_spent, "cost": cost}
        effects.note("aaa.context.rejected", data | more)


def _told(error: Exception, prompt: Prepared[Message], window_tokens: int) -> dict[str, str]:
    """The error as a log keeps it; an overflow whose provider gave no numbers has ours instead."""
    told = error_data(error)
    if isinstance(error, ContextOverflowError) and not (error.limit and error.requested) and prompt.plan is not None:
        ours = f"the prompt was about {prompt.plan.tokens_after:,} tokens in a window taken to be {window_tokens:,}"
        told["message"] += f"; {ours}"
    return told


def _pressure_after(overflow: ContextOverflowError) -> float:
    """How deep to cut: to half, or to what the provider's own numbers ask for if that is less."""
    limit, requested = overflow.limit or 0, overflow.requested or 0
    return min(_OVERFLOW_PRESSURE, limit / requested) if 0 < limit < requested else _OVERFLOW_PRESSURE
