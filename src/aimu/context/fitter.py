"""The stateful door for a loop over plain dicts: fit, send, record."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from aaa.context import CalibratedCounter, ContextPolicy, FitterState, Plan, PromptFitter, Strategy
from aaa.messages import ToolSpec
from aimu.context.asking import TextModel, TextModelClient
from aimu.context.counters import Counter, EstimateCounter, token_counter
from aimu.context.reading import owned, readable
from aimu.context.texts import MessageDict

__all__ = ["Fitter", "PolicySettings"]


class PolicySettings(TypedDict, total=False):
    """What may be said about a policy besides its window; see `aaa.context.ContextPolicy`."""

    reserve_output: int
    trigger: float
    target: float
    keep_recent: int
    strategies: Sequence[Strategy]
    sticky: bool


class Fitter:
    """Fits one conversation, call by call, to `max_tokens`.

        fitter = aimu.Fitter(100_000)
        prompt = fitter.fit(messages)      the whole conversation in, what to send out
        reply  = …                         your client
        fitter.record(reply.usage)         what the provider counted; the next estimate is better for it

    Keep the whole conversation, and hand it in each time: what was once left out of a prompt stays out, so that
    prompts grow at their end and the provider's cache holds, and nothing is lost.

    Args:
        max_tokens: what a prompt may have, tools included; or a whole policy of `aaa.context`.
        client: writes summaries, by `generate(prompt) -> str`; without one, what is old is cleared and dropped.
        counter: as of `count_tokens`; by default its estimate, corrected by what is recorded.
        state: what `to_json` gave, to go on where another fitter was.
        settings: of the policy, by the names of `aaa.context.ContextPolicy`; `sticky` is on and `reserve_output` 0
            unless given.

    Raises:
        ValueError: numbers that contradict each other, or settings beside a whole policy.
        StateError: a state that cannot be read.
    """

    def __init__(
        self,
        max_tokens: int | ContextPolicy,
        *,
        client: TextModel | None = None,
        counter: Counter | None = None,
        state: str | bytes | None = None,
        **settings: Unpack[PolicySettings],
    ) -> None:
        self.policy = _policy(max_tokens, client, counter, settings)
        self.plan: Plan | None = None
        self._fitter = PromptFitter(self.policy, None if state is None else FitterState.from_json(state))

    def fit(
        self,
        messages: Sequence[MessageDict],
        *,
        tools: Sequence[Any] = (),
        model: str | None = None,
        pressure: float = 1.0,
    ) -> list[MessageDict]:
        """What to send for the whole conversation `messages`; the edits that make it are in `plan` afterwards.

        `tools` are specifications: dicts in OpenAI's format, or tools made by `@tool`. After a provider refused a
        prompt as too large, a `pressure` below 1 cuts deeper.

        Raises:
            ContextFloorError: it cannot be made to fit, with the sizes; nothing was changed.
            WireError: a message or tool that cannot be read, with its index.

        Shape: a new list; the caller's own dicts, and new ones that stand for others.
        """
        plain = readable(messages)
        prepared = self._fitter.fit_sync(plain, tools=list(map(_spec_of, tools)), model=model, pressure=pressure)
        self.plan = prepared.plan
        return owned(prepared.messages, messages, plain)

    def record(self, usage: object) -> None:
        """Learn from what the provider counted for the prompt fitted last: its usage, or the number of prompt tokens.

        None teaches nothing.
        """
        self._fitter.record(usage)

    def to_json(self) -> str:
        """What is known of the conversation, to be saved: summaries, what was left out, what was learned."""
        return self._fitter.state.to_json()


def _policy(
    max_tokens: int | ContextPolicy, client: TextModel | None, counter: Counter | None, settings: PolicySettings
) -> ContextPolicy:
    if isinstance(max_tokens, ContextPolicy):
        if client is not None or counter is not None or settings:
            raise ValueError("a whole policy was given: what else is to be set must be set there")
        return max_tokens
    chosen: PolicySettings = {"reserve_output": 0, "sticky": True, **settings}
    return ContextPolicy(
        max_tokens,
        counter=CalibratedCounter(EstimateCounter()) if counter is None else token_counter(counter),
        summarizer=None if client is None else TextModelClient(client),
        **chosen,
    )


def _spec_of(tool: Any) -> ToolSpec | Mapping[str, Any]:
    return getattr(tool, "spec", tool)
