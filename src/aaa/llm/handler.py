"""The handler of model calls: fits each request to the window, calls the model, records what reproduces the prompt.

    conversation ─▶ fitter ─▶ prompt ─▶ client ─▶ reply
                      │ aaa.context.summary           │ aaa.context.edited, aaa.llm.completed {context, sent, usage}

The log keeps the logical conversation, the provider gets the view. What a fitter knows is a fold of the log, so a
resumed run sends the same bytes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from aaa.context import ContextPolicy, Prepared, PromptFitter, Summarize, SummaryRecord
from aaa.context.anchor import Anchor
from aaa.context.edits import Edit
from aaa.context.ledger import after, difference
from aaa.errors import ContextFloorError, ContextOverflowError, error_data
from aaa.llm.retry import RetryPolicy
from aaa.messages import Effects, Host, LLMClient, LLMRequest, LLMResponse, Message

__all__ = ["LLMHandler"]

_NOTHING: dict[str, Any] = {}
_OVERFLOW_PRESSURE = 0.5  # after an overflow: the conversation is taken to be twice as large as estimated


class LLMHandler:
    """Calls `client` for the runs of an engine; with `context=policy` each request is made to fit first.

    After an overflow reported by the provider the request is prepared once more under pressure and sent again; a
    second overflow fails the call. Transient faults are retried by `retry`.
    """

    def __init__(
        self,
        client: LLMClient,
        *,
        context: ContextPolicy | None = None,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.client = client
        self.context = context
        self.retry = retry or RetryPolicy()
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
        if self.context is None:
            return _completed(await self._call(effects, request))
        view = self._view(effects)
        view.settle()
        prompt = await self._fit(effects, view, request, 1.0)
        try:
            try:
                response = await self._call(effects, _fitted(request, prompt))
            except ContextOverflowError as overflow:
                pressure = _pressure_after(overflow)
                effects.note("aaa.llm.retried", {"attempt": 1, "error": type(overflow).__name__, "pressure": pressure})
                prompt = await self._fit(effects, view, request, pressure)
                response = await self._call(effects, _fitted(request, prompt))
        except Exception as error:  # noqa: BLE001 - recorded with what was sent, and raised into the algorithm
            return {"error": error_data(error)} | view.described(effects, prompt)
        described = view.described(effects, prompt)
        view.fitter.record(response.usage)
        return _completed(response) | described

    def replay(self, effects: Effects, events: list[tuple[str, dict[str, Any]]]) -> None:
        """Fold what an earlier process recorded of this call."""
        if self.context is not None:
            self._view(effects).fold(events)

    def _view(self, effects: Effects) -> "_View":
        views: dict[str, _View] = effects.memory.setdefault("llm", {})
        if effects.conversation not in views:
            assert self.context is not None
            views[effects.conversation] = _View(self.context, views.get(effects.parent_conversation))
        return views[effects.conversation]

    async def _fit(self, effects: Effects, view: "_View", request: LLMRequest, pressure: float) -> Prepared[Message]:
        try:
            prompt = await view.fitter.fit(
                effects.messages, tools=request.tools, model=request.model, pressure=pressure
            )
        except ContextFloorError as error:
            _note_rejected(effects, error.rejected, (), error.tokens_spent, error.cost)
            raise
        spent = {"tokens_spent": prompt.tokens_spent, "cost": prompt.cost}
        for record in prompt.new_summaries:
            await effects.emit("aaa.context.summary", {"record": record, **spent})
            spent = {}
        if prompt.plan is not None:
            unpaid = (prompt.tokens_spent, prompt.cost) if spent else (0, 0.0)
            _note_rejected(effects, prompt.plan.rejected, prompt.plan.rejected_digests, *unpaid)
        return prompt

    async def _call(self, effects: Effects, request: LLMRequest) -> LLMResponse:
        attempt = 1
        while True:
            try:
                return await self.client.complete(request)
            except Exception as error:
                wait = self.retry.seconds_before(attempt, error)
                if wait is None:
                    raise
                fault = {"attempt": attempt, "error": type(error).__name__, "wait_seconds": wait}
                effects.note("aaa.llm.retried", fault)
            await self._sleep(wait)
            attempt += 1


_Reported = tuple[dict[str, Any], int]  # what was sent, as the log has it, and the tokens reported for it


class _View:
    """What is known of one conversation of one run: its fitter, and the edits as the log has them.

    Recorded calls are folded as plain data, which the fitter gets when the next call is made.
    """

    def __init__(self, policy: ContextPolicy, parent: "_View | None" = None) -> None:
        if parent is not None:
            parent.settle()
        self.fitter = PromptFitter(policy, parent.fitter.state if parent else None)
        self._edits: list[Any] = list(parent._edits) if parent else []
        self._sent: dict[str, Any] | None = None
        self._anchor: _Reported | Anchor | None = self.fitter.state.anchor
        self._is_settled = True

    def described(self, effects: Effects, prompt: Prepared[Message]) -> dict[str, Any]:
        """What reproduces the prompt; edits are noted as the difference to those of the call before."""
        assert prompt.plan is not None
        removed, added = difference(self._edits, prompt.plan.edits)
        if added or removed:
            effects.note("aaa.context.edited", {"removed": removed, "added": added})
        self._edits = list(prompt.plan.edits)
        data: dict[str, Any] = {"sent": self.fitter.sent, "tokens": prompt.plan.tokens_after}
        return data | ({"context": prompt.report} if prompt.report else {})

    def fold(self, events: list[tuple[str, dict[str, Any]]]) -> None:
        """Take in the events of one recorded call."""
        if self._is_settled:
            self._is_settled, self._sent, self._anchor = False, None, self.fitter.state.anchor
        for type_, data in events:
            match type_:
                case "aaa.llm.completed" | "aaa.llm.failed":
                    if data.get("sent"):
                        self._sent, self._anchor = data["sent"], self._anchor_after(data)
                case "aaa.context.edited":
                    self._edits = after(self._edits, data["removed"], data["added"])
                case "aaa.context.summary":
                    self.fitter.book.add(msgspec.convert(data["record"], SummaryRecord))
                case "aaa.context.rejected":
                    self.fitter.book.keep((), None, data.get("digests", ()))
                case _:
                    pass

    def settle(self) -> None:
        """Be as the recorded calls left things."""
        if self._is_settled:
            return
        self._is_settled = True
        self._edits = msgspec.convert(self._edits, list[Edit])
        sent = msgspec.convert(self._sent, Anchor) if self._sent else self.fitter.sent
        self.fitter.replay(self._edits, sent, self._as_anchor(self._anchor))

    def _anchor_after(self, data: dict[str, Any]) -> "_Reported | Anchor | None":
        """The anchor after a recorded call; the calibration learns on the way."""
        reported: int = (data.get("usage") or _NOTHING).get("prompt_tokens", 0)
        sent: dict[str, Any] = data["sent"]
        if reported > 0:
            self.fitter.observe(sent["model"], sent["raw"], reported)
            if sent["length"]:
                return sent, reported
        applied: list[str] = (data.get("context") or _NOTHING).get("applied", [])
        return None if any(name != "stored_summary" for name in applied) else self._anchor

    def _as_anchor(self, anchor: "_Reported | Anchor | None") -> Anchor | None:
        if not isinstance(anchor, tuple):
            return anchor
        sent, reported = anchor
        return msgspec.convert(sent | {"reported": self.fitter.believed(sent["raw"], reported)}, Anchor)


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
    effects: Effects, rejected: Sequence[str], digests: Sequence[str], tokens_spent: int, cost: float
) -> None:
    """Record summaries that were not used, so that they are not paid for again, and what they cost."""
    if digests or tokens_spent or cost:
        data = {"rejected": list(rejected), "digests": list(digests), "tokens_spent": tokens_spent, "cost": cost}
        effects.note("aaa.context.rejected", data)


def _pressure_after(overflow: ContextOverflowError) -> float:
    """How deep to cut: to half, or to what the provider's own numbers ask for if that is less."""
    limit, requested = overflow.limit or 0, overflow.requested or 0
    return min(_OVERFLOW_PRESSURE, limit / requested) if 0 < limit < requested else _OVERFLOW_PRESSURE
