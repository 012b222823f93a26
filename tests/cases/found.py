"""What an operation did, for the checks to look at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aaa.messages import LLMRequest, Message, ToolSpec
from tests.cases.formats import Format, format_of, model_of, params_of
from tests.cases.notation import ScriptedModel

__all__ = ["Found"]


@dataclass
class Found:
    """What was found out about one case; an operation fills in what it has.

    `before` is the conversation, `after` the prompt made of it, `value` the answer of an operation that has one.
    `error` is what was raised, `warnings` what was logged. `again` is the prompt of the same conversation made anew, or
    what makes it when it is asked for.
    """

    case: Mapping[str, Any]
    before: Sequence[Message] = ()
    after: Sequence[Message] | None = None
    tools: Sequence[ToolSpec] = ()
    again: Sequence[Message] | Callable[[], Sequence[Message]] | None = None
    history: Sequence[Message] | None = None
    value: Any = None
    error: Exception | None = None
    seconds: float = 0.0  # of the processor
    count_calls: int = 0
    warnings: list[str] = field(default_factory=list)
    plan: Any = None
    summarizer: ScriptedModel = field(default_factory=lambda: ScriptedModel(None))
    provider: ScriptedModel = field(default_factory=lambda: ScriptedModel(None))
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def given_format(self) -> Format:
        """What the case is written in."""
        return format_of(self.case)[0]

    @property
    def format(self) -> Format:
        """What is sent."""
        return format_of(self.case)[1]

    @property
    def rules(self) -> str:
        """Whose rules hold for it."""
        return format_of(self.case)[2]

    @property
    def target(self) -> dict[str, Any]:
        """Whom a prompt is for, as `PromptFitter.fit` takes it."""
        return {"provider": self.rules, "model": model_of(self.case), "params": params_of(self.case)}

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The prompt as it is sent."""
        return self.format.turns(self.prompt)

    @property
    def prompt(self) -> Sequence[Message]:
        """The prompt; of a run, that of its last call."""
        if self.after is not None:
            return self.after
        if self.provider.requests:
            return self.provider.requests[-1].messages
        raise self.error or AssertionError("there is no prompt")

    @property
    def requests(self) -> Sequence[LLMRequest]:
        """What was sent to the model, call by call."""
        return self.provider.requests
