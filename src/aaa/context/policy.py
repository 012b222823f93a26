"""When a prompt is made smaller and by which strategies."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor
from typing import Any, Generic, TypeVar, cast

from aaa.context.conversation import Conversation, Given
from aaa.context.counters import CalibratedCounter, Measure, TokenCounter
from aaa.context.driving import finish
from aaa.context.plan import Plan
from aaa.context.planner import Planning
from aaa.context.settings import Call, Settings
from aaa.context.strategies import ClearToolResults, DropOldest, Strategy, Summarize, TruncateToolResults
from aaa.context.summaries import SummaryBook, SummaryRecord
from aaa.context.transcript import Transcript
from aaa.context.transcript_cache import TranscriptCaches
from aaa.context.validity import made_valid
from aaa.messages import LLMClient, Message, ToolSpec

__all__ = ["ContextPolicy", "M", "Prepared", "prepared"]

M = TypeVar("M", bound="Message | Mapping[str, Any]")
"""The caller's own kind of message: `Message`, or a dict in the OpenAI format."""

_log = logging.getLogger("aaa.context")


@dataclass(slots=True)
class Prepared(Generic[M]):
    """The prompt for one call.

    `messages` are of the kind that was given: the caller's own sequence if nothing was done, else a list of his own
    objects and of those that stand for others. `report` is None if the prompt is the whole transcript. Summaries made
    for this call are in `new_summaries`, what they cost in `tokens_spent` and `cost` (USD).
    """

    messages: list[M]
    report: dict[str, Any] | None = None
    new_summaries: list[SummaryRecord] = field(default_factory=list[SummaryRecord])
    tokens_spent: int = 0
    cost: float = 0.0
    plan: Plan | None = None


class ContextPolicy:
    """Fit conversations into a model's input window.

    `max_input_tokens` is the model's window, a number or a function of the model's name; nothing here knows it for
    you. `reserve_output` is kept free for the reply; the rest is the budget. Above `trigger` of the budget the
    `strategies` run in order until the prompt is at or under `target` of it. The newest `keep_recent` groups stay as
    they are. The default strategies are truncate, clear, summarize (if there is a `summarizer`) and drop.

    By default each prompt is computed from transcript, summaries and calibration alone. With `sticky=True` edits once
    made stay in force, so that between two compactions the prompt only grows at its end and a provider's cache holds;
    they are kept in the `book`, or by a `PromptFitter`.

    With a `provider` (one of `aaa.wire.rules.PROVIDERS`) the prompt is also valid for it, whatever the conversation is
    like: what has to be changed for that is in the report.

    What is pinned is never cut, cleared, dropped or summarised: messages with `pinned=True`, dicts with
    `"pinned": True` (a key that is not sent), and messages that `pin` says yes to; its calls and results stay with it.

    Images, sound, films and documents are counted by the provider's rule, where the counter does not count them itself.

    Raises:
        ValueError: numbers that contradict each other, or `Summarize` with nothing to summarise with.
    """

    def __init__(  # noqa: PLR0913 - the signature is specified
        self,
        max_input_tokens: int | Callable[[str | None], int],
        *,
        reserve_output: int = 4096,
        trigger: float = 0.85,
        target: float = 0.6,
        keep_recent: int = 3,
        strategies: Sequence[Strategy] | None = None,
        counter: TokenCounter | None = None,
        summarizer: LLMClient | None = None,
        summarizer_model: str | None = None,
        sticky: bool = False,
        provider: str | None = None,
        pin: Callable[[Message], bool] | None = None,
    ) -> None:
        if not 0 < target <= trigger <= 1:
            raise ValueError(f"0 < target <= trigger <= 1 must hold, got target={target}, trigger={trigger}")
        if keep_recent < 0 or reserve_output < 0:
            numbers = f"keep_recent={keep_recent}, reserve_output={reserve_output}"
            raise ValueError(f"keep_recent and reserve_output must not be negative, got {numbers}")
        self.max_input_tokens = max_input_tokens
        self.reserve_output = reserve_output
        self.trigger = trigger
        self.target = target
        self.keep_recent = keep_recent
        self.counter: TokenCounter = counter if counter is not None else CalibratedCounter()
        self.sticky = sticky
        self.provider = provider
        self.pin = pin
        self.strategies = _strategies(strategies, summarizer, summarizer_model)
        self._caches = TranscriptCaches(pin=pin)
        self._is_warned = False
        if not callable(max_input_tokens):
            self.settings(None)

    def __repr__(self) -> str:
        numbers = f"{self.max_input_tokens!r}, reserve_output={self.reserve_output}, trigger={self.trigger}"
        names = ", ".join(strategy.name for strategy in self.strategies)
        return f"ContextPolicy({numbers}, target={self.target}, sticky={self.sticky}, strategies=[{names}])"

    def settings(self, model: str | None, *, learned_tokens: int | None = None) -> Settings:
        """The numbers for one model; `learned_tokens` is a window that its provider has shown to be smaller.

        Raises:
            ValueError: a window that is no positive number, or not above the reserve.
        """
        given = self.max_input_tokens
        window = given(model) if callable(given) else given
        if not _is_number(window) or window <= self.reserve_output:
            expected = f"a number of tokens above reserve_output={self.reserve_output:,}"
            raise ValueError(f"max_input_tokens must be {expected}, got {window!r}")
        reserve = self.reserve_output
        if learned_tokens is not None and learned_tokens < window:
            window, reserve = (
                learned_tokens,
                min(reserve, learned_tokens // 2),
            )  # however small it is, half is for input
        budget = window - reserve
        return Settings(
            window_tokens=window,
            reserve_tokens=reserve,
            trigger_tokens=floor(self.trigger * budget + 1e-9),
            target_tokens=floor(self.target * budget + 1e-9),
            keep_recent=self.keep_recent,
            strategies=self.strategies,
            is_sticky=self.sticky,
        )

    def observe(
        self,
        model: str | None,
        sent: Sequence[Given],
        tools: Sequence[ToolSpec | Mapping[str, Any]],
        actual_prompt_tokens: int,
    ) -> None:
        """Calibrate on a real response: the provider's prompt tokens against our raw estimate of what was sent."""
        if isinstance(self.counter, CalibratedCounter):
            conversation = Conversation(sent, tools)
            measure = self.measure(conversation.tools, model)
            raw = sum(map(measure.message, conversation.messages)) if measure.is_additive else 0
            self.counter.observe(model, measure.total(raw, conversation.messages), actual_prompt_tokens)

    async def prepare(
        self,
        transcript: Sequence[M],
        *,
        tools: Sequence[ToolSpec | Mapping[str, Any]] = (),
        model: str | None = None,
        book: SummaryBook | None = None,
        pressure: float = 1.0,
    ) -> Prepared[M]:
        """The messages to send for `transcript`: exactly `plan`, applied.

        `pressure` below 1 assumes the real size to be 1/pressure times the estimate and cuts deeper; for the retry
        after a provider reported an overflow. Summaries made are added to `book`, and with `sticky=True` the edits.

        Raises:
            ContextFloorError: the prompt can not be made to fit; nothing was changed.
            WireError: a dict that is not a message.
        """
        conversation = Conversation(transcript, tools)
        kept = SummaryBook() if book is None else book
        measure = self.measure(conversation.tools, model)
        known = self.transcript_of(conversation, measure)
        planning = self.planning(known, measure, kept, Call(pressure=pressure))
        plan = await finish(planning.steps())
        kept.keep(plan.new_summaries, plan.edits if self.sticky else None, plan.rejected_digests, breaker=plan.breaker)
        return prepared(plan, transcript, conversation, known)

    async def plan(
        self,
        transcript: Sequence[Given],
        *,
        tools: Sequence[ToolSpec | Mapping[str, Any]] = (),
        model: str | None = None,
        book: SummaryBook | None = None,
        pressure: float = 1.0,
        estimate: bool = False,
    ) -> Plan:
        """The edits that `prepare` would make, as data; nothing is kept. With `estimate=True` no model is called.

        Raises:
            ContextFloorError, WireError: as `prepare`.
        """
        conversation = Conversation(transcript, tools)
        measure = self.measure(conversation.tools, model)
        known = self.transcript_of(conversation, measure)
        planning = self.planning(known, measure, book or SummaryBook(), Call(pressure=pressure, is_estimate=estimate))
        return await finish(planning.steps())

    def measure(
        self,
        tools: Sequence[ToolSpec] = (),
        model: str | None = None,
        counter: TokenCounter | None = None,
        *,
        provider: str | None = None,
    ) -> Measure:
        """The sizes of one request, by this policy's counter and provider or a conversation's own."""
        return Measure(counter or self.counter, tools, model, provider=provider or self.provider)

    def transcript_of(self, conversation: Conversation, measure: Measure) -> Transcript:
        """The transcript of what was given; recognised if it has grown since it was last seen."""
        return self._caches.transcript_of(conversation.messages, measure)

    def planning(self, transcript: Transcript, measure: Measure, book: SummaryBook, call: Call) -> Planning:
        """The making of a plan, without I/O; `measure` and `call` are those of the conversation."""
        call = replace(call, provider=call.provider or self.provider)
        settings = self.settings(measure.model, learned_tokens=call.learned_tokens)
        planning = Planning(settings, transcript, measure, book, call)
        self._warn_once(planning.fixed_tokens, settings)
        return planning

    def _warn_once(self, fixed_tokens: int, settings: Settings) -> None:
        if fixed_tokens > settings.trigger_tokens and not self._is_warned:
            self._is_warned = True
            _log.warning(
                "head and tools take %d tokens, above the trigger of %d: every call will be compacted",
                fixed_tokens,
                settings.trigger_tokens,
            )


def prepared(plan: Plan, given: Sequence[M], conversation: Conversation, transcript: Transcript) -> Prepared[M]:
    """`plan` applied to what the caller gave."""
    messages: Sequence[Any] = conversation.own
    if plan.edits or plan.repairs:
        items = plan.items(transcript)
        repaired = made_valid(items, transcript, plan.target)[0] if plan.repairs else None
        messages = conversation.prompt(items, transcript, repaired)
    return Prepared(
        messages=cast("list[M]", messages),
        report=plan.report(),
        new_summaries=list(plan.new_summaries),
        tokens_spent=plan.tokens_spent,
        cost=plan.cost,
        plan=plan,
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _strategies(
    given: Sequence[Strategy] | None, summarizer: LLMClient | None, model: str | None
) -> tuple[Strategy, ...]:
    if given is None:
        summarize = [Summarize(summarizer, model)] if summarizer is not None else []
        return (TruncateToolResults(), ClearToolResults(), *summarize, DropOldest())
    bound = tuple(s.using(summarizer, model) if isinstance(s, Summarize) else s for s in given)
    for strategy in bound:
        if not isinstance(getattr(strategy, "name", None), str) or not callable(getattr(strategy, "apply", None)):
            raise ValueError(f"a strategy needs a name and an async apply(work), got {type(strategy).__name__}")
        if isinstance(strategy, Summarize) and not strategy.has_summarizer:
            raise ValueError("Summarize needs client=, summarize=, or a policy with summarizer=")
    return bound
