"""The stateful door: fit, send, record the usage.

    prompt = await fitter.fit(messages)        your list, as it is
    reply  = send(prompt.messages)             your client
    fitter.record(reply.usage)                 what the provider counted

One fitter per conversation. What it keeps (summaries, edits in force, the last reported size, the calibration) is
plain data and can be saved; another process goes on with the same bytes.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from types import MappingProxyType
from typing import Any, cast

import msgspec

from aaa.context.anchor import Anchor
from aaa.context.breaker import Breaker
from aaa.context.compacting import Compaction, summarize_of
from aaa.context.conversation import Conversation
from aaa.context.counters import CalibratedCounter
from aaa.context.driving import finish, finish_now
from aaa.context.edits import Edit
from aaa.context.gauge import Gauge
from aaa.context.groups import awaits_results
from aaa.context.plan import Plan
from aaa.context.planner import Planning
from aaa.context.policy import ContextPolicy, M, Prepared, prepared
from aaa.context.settings import Call
from aaa.context.summaries import SummaryBook, SummaryRecord
from aaa.context.transcript_cache import TranscriptCaches
from aaa.errors import StateError
from aaa.messages import ToolSpec

__all__ = ["FitterState", "PromptFitter"]

_VERSION = 1


class FitterState(msgspec.Struct, frozen=True):
    """What a fitter knows of its conversation. `ratios` holds (model, actual / estimated),
    `windows` (model, tokens) where a provider has shown its window to be smaller than the policy says, `max_bytes`
    (model, bytes) where it has refused a request for its bytes.

    `sent` is the prompt whose usage is still to be recorded, `anchor` the last one whose usage was.
    """

    records: tuple[SummaryRecord, ...] = ()
    edits: tuple[Edit, ...] = ()
    rejected: tuple[str, ...] = ()
    sent: Anchor | None = None
    anchor: Anchor | None = None
    ratios: tuple[tuple[str | None, float], ...] = ()
    windows: tuple[tuple[str | None, int], ...] = ()
    breaker: Breaker = Breaker()
    max_bytes: tuple[tuple[str | None, int], ...] = ()
    version: int = _VERSION

    def to_json(self) -> str:
        """The state as JSON text, ASCII only."""
        return json.dumps(_mapped(msgspec.to_builtins(self), _hide_surrogates), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> "FitterState":
        """Read a saved state.

        Raises:
            StateError: not JSON, of another version, or of another shape.
        """
        try:
            state = msgspec.convert(_mapped(json.loads(text), _show_surrogates), cls)
        except (ValueError, RecursionError) as error:
            raise StateError(f"saved state of {len(text):,} characters cannot be read: {error}") from error
        if any(not (isfinite(ratio) and ratio > 0) for _, ratio in state.ratios):
            raise StateError(f"saved state has ratios that are not above 0 and finite: {[r for _, r in state.ratios]}")
        if state.version != _VERSION:
            raise StateError(f"saved state has version {state.version}; this release reads version {_VERSION}")
        return state


class PromptFitter:
    """Fits one conversation, call by call, by `policy`; `state` continues an earlier fitter's work."""

    def __init__(self, policy: ContextPolicy, state: FitterState | None = None) -> None:
        state = state or FitterState()
        self.policy = policy
        self.book = SummaryBook(list(state.records), list(state.edits), list(state.rejected), state.breaker)
        self._anchor = state.anchor
        counter = policy.counter
        if isinstance(counter, CalibratedCounter):
            counter = counter.copy(dict(state.ratios) if state.ratios else None)
        self.counter = counter
        self._caches = TranscriptCaches(size=4, pin=policy.pin)
        self._sent = state.sent
        self._windows = dict(state.windows)
        self._max_bytes = dict(state.max_bytes)

    @property
    def state(self) -> FitterState:
        """What is known now, to be saved between calls."""
        ratios = tuple(self.counter.ratios.items()) if isinstance(self.counter, CalibratedCounter) else ()
        book = self.book
        return FitterState(
            tuple(book.records),
            tuple(book.edits),
            tuple(book.rejected),
            self._sent,
            self._anchor,
            ratios,
            tuple(self._windows.items()),
            book.breaker,
            tuple(self._max_bytes.items()),
        )

    async def fit(
        self,
        messages: Sequence[M],
        *,
        tools: Sequence[ToolSpec | Mapping[str, Any]] = (),
        model: str | None = None,
        pressure: float = 1.0,
        provider: str | None = None,
        params: Mapping[str, Any] = MappingProxyType({}),
    ) -> Prepared[M]:
        """The prompt for the whole conversation `messages`; see `ContextPolicy.prepare`.

        Raises:
            ContextFloorError, WireError: as `prepare`; the state is as it was.
        """
        conversation = Conversation(messages, tools)
        planning = self._planning(conversation, model, Call(pressure=pressure, provider=provider, params=params))
        return self._keep(await finish(planning.steps()), planning, conversation, messages)

    def fit_sync(
        self,
        messages: Sequence[M],
        *,
        tools: Sequence[ToolSpec | Mapping[str, Any]] = (),
        model: str | None = None,
        pressure: float = 1.0,
        provider: str | None = None,
        params: Mapping[str, Any] = MappingProxyType({}),
    ) -> Prepared[M]:
        """`fit` for programs without an event loop."""
        conversation = Conversation(messages, tools)
        planning = self._planning(conversation, model, Call(pressure=pressure, provider=provider, params=params))
        return self._keep(finish_now(planning.steps()), planning, conversation, messages)

    async def compact(
        self,
        messages: Sequence[M],
        *,
        keep_recent: int | None = None,
        keep_first: int | None = None,
        tools: Sequence[ToolSpec | Mapping[str, Any]] = (),
        model: str | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Have all but the newest `keep_recent` groups summarised now, whatever their size; `fit` then uses it.

        For a user or a program that asks for it. Messages that come meanwhile simply follow; if the conversation is
        another one by then, the summary is not used. `timeout_seconds` is for each part of a long conversation; the
        parts that are done stay done. `keep_first` messages stay in front, by default instructions, and the task
        while it is the last that the user said.

        Raises:
            SummaryError: no summary that can be used; the conversation is as it was.
            ValueError: the policy has nothing to summarise with.
        """
        conversation = Conversation(messages, tools)
        measure = self.policy.measure(conversation.tools, model, self.counter)
        settings = self.policy.settings(model, learned_tokens=self._windows.get(model))
        await Compaction(
            transcript=self._caches.transcript_of(conversation.messages, measure),
            measure=measure,
            settings=settings,
            strategy=summarize_of(settings.strategies),
            book=self.book,
            keep_recent=settings.keep_recent if keep_recent is None else keep_recent,
            keep_first=keep_first,
            timeout_seconds=timeout_seconds,
        ).run()

    def gauge(
        self,
        messages: Sequence[M],
        *,
        tools: Sequence[ToolSpec | Mapping[str, Any]] = (),
        model: str | None = None,
    ) -> Gauge:
        """How full the window is with `messages`: what `fit` would start from. Changes nothing, calls no model."""
        conversation = Conversation(messages, tools)
        planning = self._planning(conversation, model, Call())
        return Gauge(
            tokens=planning.prompt_tokens,
            settings=planning.settings,
            fixed_tokens=planning.fixed_tokens,
            awaits_results=awaits_results(conversation.messages),
        )

    def record(self, usage: object) -> None:
        """Learn from what the provider counted for the prompt fitted last.

        `usage` is a `Usage`, the provider's own object or dict with `prompt_tokens`, or that number. None, zero or
        a negative number teaches nothing, nor does a second report for the same prompt.

        Raises:
            TypeError: anything else.
        """
        reported = _prompt_tokens(usage)
        sent, self._sent = self._sent, None
        if sent is None or reported <= 0:
            return
        self.observe(sent.model, sent.raw, reported)
        if sent.length:
            self._anchor = msgspec.structs.replace(sent, reported=self.believed(sent.raw, reported, sent.model))

    @property
    def sent(self) -> Anchor | None:
        """What was fitted last and not yet recorded; enough, with its usage, for `replay`."""
        return self._sent

    def replay(
        self, edits: Sequence[Edit], sent: Anchor | None, anchor: Anchor | None, *, breaker: Breaker | None = None
    ) -> None:
        """Be as after the fit that sent `sent`, with these edits and this anchor; `observe` was told the usage."""
        self.book.keep((), edits if self.policy.sticky else None, breaker=breaker)
        self._sent, self._anchor = sent, anchor

    def believed(self, raw_tokens: int, reported: int, model: str | None = None) -> int:
        """What is taken for the size of a prompt: the report, within the bounds of the calibration.

        An estimate that is above the window even at the lowest ratio is disproved by the reply, and bounds nothing.
        """
        low, high = self.counter.bounds if isinstance(self.counter, CalibratedCounter) else (0.4, 3.0)
        if low * raw_tokens > self.policy.settings(model).window_tokens:
            return reported
        return round(min(max(reported, low * raw_tokens), high * raw_tokens))

    def observe(self, model: str | None, raw_tokens: int, reported: int) -> None:
        """Learn from a count without a prompt to go with it."""
        if isinstance(self.counter, CalibratedCounter):
            self.counter.observe(model, raw_tokens, reported)

    def window(self, model: str | None) -> int:
        """The window that prompts for `model` are fitted to: the policy's, or a smaller one that was learned."""
        return self.policy.settings(model, learned_tokens=self._windows.get(model)).window_tokens

    def learn_window(self, model: str | None, tokens: int) -> bool:
        """Take `tokens` for the window of `model` from now on; whether that is less than what was known."""
        if tokens <= 0 or tokens >= self._windows.get(model, self.policy.settings(model).window_tokens):
            return False
        self._windows[model] = tokens
        return True

    def learn_max_bytes(self, model: str | None, max_bytes: int) -> bool:
        """Have requests to `model` no larger than that as far as media go; whether that is less than what was known."""
        if max_bytes <= 0 or max_bytes >= self._max_bytes.get(model, max_bytes + 1):
            return False
        self._max_bytes[model] = max_bytes
        return True

    def _planning(self, conversation: Conversation, model: str | None, call: Call) -> Planning:
        learned, max_bytes = self._windows.get(model), self._max_bytes.get(model)
        call = replace(call, anchor=self._anchor, learned_tokens=learned, max_bytes=max_bytes)
        measure = self.policy.measure(conversation.tools, model, self.counter, provider=call.provider)
        transcript = self._caches.transcript_of(conversation.messages, measure)
        return self.policy.planning(transcript, measure, self.book, call)

    def _keep(self, plan: Plan, planning: Planning, conversation: Conversation, given: Sequence[M]) -> Prepared[M]:
        """Take over what the plan did, all at once."""
        edits = plan.edits if self.policy.sticky else None
        self.book.keep(plan.new_summaries, edits, plan.rejected_digests, breaker=plan.breaker)
        if any(name != "stored_summary" for name in plan.applied):
            self._anchor = None
        self._sent = self._sent_now(plan, planning)
        return prepared(plan, given, conversation, planning.transcript)

    def _sent_now(self, plan: Plan, planning: Planning) -> Anchor:
        """What was sent; of length 0, and so no anchor, if the next prompt will not begin with it."""
        summary = next((edit.stop for edit in plan.edits if edit.action == "summarize"), 0)
        is_stable = self.policy.sticky or all(edit.action == "summarize" for edit in plan.edits)
        length = plan.length if is_stable else 0
        measure = planning.measure
        digest = planning.transcript.digest(length)
        return Anchor(length, digest, summary, plan.raw_tokens, 0, measure.model, measure.tools_raw, measure.provider)


def _prompt_tokens(usage: object) -> int:
    tokens: object = usage
    if isinstance(usage, Mapping):
        tokens = cast("Mapping[str, object]", usage).get("prompt_tokens", ...)
    elif not isinstance(usage, int | None):
        tokens = getattr(usage, "prompt_tokens", ...)
    if tokens is None or (isinstance(tokens, int) and not isinstance(tokens, bool)):
        return tokens or 0
    name = type(usage).__name__  # pyright: ignore[reportUnknownArgumentType]
    raise TypeError(f"usage must be a number or have prompt_tokens, got {name}")


# JSON joins two lone surrogates that happen to stand side by side, and some readers refuse one alone. So each is
# written as U+10FFFF, a code point that text does not use, and its number; U+10FFFF itself likewise.
_HIDDEN = re.compile("[\ud800-\udfff\U0010ffff]")
_SHOWN = re.compile("\U0010ffff([0-9a-f]{6})")


def _hide_surrogates(text: str) -> str:
    return text if text.isascii() else _HIDDEN.sub(lambda found: f"\U0010ffff{ord(found[0]):06x}", text)


def _show_surrogates(text: str) -> str:
    return text if text.isascii() else _SHOWN.sub(lambda found: chr(int(found[1], 16)), text)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case list() | tuple():
            return [_mapped(item, change) for item in cast("list[Any]", value)]
        case dict():
            return {key: _mapped(item, change) for key, item in cast("dict[str, Any]", value).items()}
        case _:
            return value
