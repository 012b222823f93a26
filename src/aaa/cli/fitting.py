"""One conversation, grown call by call as its agent did, through one fitter."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from aaa.cli.reading import Conversation
from aaa.cli.standin import stand_in_summary
from aaa.cli.tally import Refusal, Tally
from aaa.context import (
    ClearToolResults,
    ContextPolicy,
    DropOldest,
    HeuristicCounter,
    Prepared,
    PromptFitter,
    Summarize,
    TruncateToolResults,
)
from aaa.errors import ContextFloorError
from aaa.messages import Message

__all__ = ["Call", "Fitted", "Setup", "call_lengths", "fit", "fitted_calls"]

_counter = HeuristicCounter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The numbers of a policy, as given on the command line. Units: tokens, but `keep_recent`, which counts groups."""

    window: int
    reserve: int
    keep_recent: int = 3
    sticky: bool = False
    summarize: bool = False

    def policy(self) -> ContextPolicy:
        """A new policy with these numbers."""
        summarize = [Summarize(summarize=stand_in_summary)] if self.summarize else []
        return ContextPolicy(
            self.window,
            reserve_output=self.reserve,
            keep_recent=self.keep_recent,
            strategies=[TruncateToolResults(), ClearToolResults(), *summarize, DropOldest()],
            counter=_counter,
            sticky=self.sticky,
        )


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its number from 1, how many messages its transcript has, and its prompt or why there is none."""

    number: int
    length: int
    outcome: Prepared[Message] | ContextFloorError


@dataclass(slots=True)
class Fitted:
    """What came of one conversation; `last` is the prompt of its last call, None if that was refused."""

    conversation: Conversation
    tally: Tally = field(default_factory=Tally)
    last: Prepared[Message] | None = None
    warnings: list[str] = field(default_factory=list[str])


def fit(conversation: Conversation, setup: Setup, tick: Callable[[], None]) -> Fitted:
    """Fit every call of `conversation` and count what happened; `tick` is called after each.

    Raises:
        RecursionError: something in a message is nested too deeply.
    """
    fitted = Fitted(conversation)
    sizes = [*accumulate(map(_counter.count_message, conversation.messages))]
    tools_tokens = _counter.count_tools(conversation.tools)
    with _Warnings(fitted.warnings):
        for call in fitted_calls(conversation, setup):
            if isinstance(call.outcome, ContextFloorError):
                fitted.last = None
                refusal = Refusal(call.number, call.length, call.outcome)
                fitted.tally.refuse(refusal, tools_tokens + sizes[call.length - 1])
            elif call.outcome.plan is not None:
                fitted.last = call.outcome
                fitted.tally.fitted(call.outcome.plan)
            tick()
    return fitted


def fitted_calls(conversation: Conversation, setup: Setup) -> Iterator[Call]:
    """The calls of `conversation`, in order, through one fitter; a refused one does not end it."""
    fitter = PromptFitter(setup.policy())
    for number, length in enumerate(call_lengths(conversation.messages), 1):
        messages = conversation.messages[:length]
        try:
            outcome = fitter.fit_sync(messages, tools=conversation.tools, model=conversation.model)
        except ContextFloorError as error:
            yield Call(number, length, error)
        else:
            yield Call(number, length, outcome)


def call_lengths(messages: Sequence[Message]) -> list[int]:
    """How many messages each call was sent: all before an assistant message, and all if the last is another's."""
    lengths = [index for index, message in enumerate(messages) if index and message.role == "assistant"]
    if messages and messages[-1].role != "assistant":
        lengths.append(len(messages))
    return lengths


class _Warnings(logging.Handler):
    """Keeps what the context logger warns of, in place of printing it."""

    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._kept = kept
        self._logger = logging.getLogger("aaa.context")

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append(record.getMessage())

    def __enter__(self) -> None:
        self._logger.addHandler(self)

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
