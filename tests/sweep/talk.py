"""A conversation with what is asked of it over and over, worked out once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from aaa.context import HeuristicCounter
from aaa.context.counters import Measure
from aaa.context.transcript import Transcript
from aaa.messages import Message, ToolSpec
from aaa.wire.openai_chat import messages_from_dicts, tool_from_dict
from tests.cli.test_recorded import head_of, unpaired
from tests.wire.rules.checks import letters

__all__ = ["Talk", "call_lengths", "talk_of"]

_KEYS = {"role", "content", "tool_calls", "tool_call_id", "name"}


@dataclass
class Talk:
    """A recorded conversation."""

    id: str
    messages: list[Message]
    tools: list[ToolSpec] = field(default_factory=list[ToolSpec])
    _sizes: dict[tuple[str, str], tuple[Measure, list[int]]] = field(default_factory=dict, repr=False)

    @cached_property
    def transcript(self) -> Transcript:
        return Transcript(self.messages, count=lambda _: 0)

    @cached_property
    def places(self) -> dict[int, int]:
        """Where each message is, by the identity of the object."""
        return {id(message): index for index, message in enumerate(self.messages)}

    @cached_property
    def said(self) -> dict[int, str]:
        """The letters of what the user and the program said, by place."""
        roles = ("user", "system", "developer")
        return {i: letters([m], m.role) for i, m in enumerate(self.messages) if m.role in roles}

    def size(self, message: Message, provider: str, model: str) -> int:
        """Raw tokens of one message, as a policy for that provider and model counts it."""
        measure, known = self._sizes_for(provider, model)
        place = self.places.get(id(message))
        return measure.message(message) if place is None else known[place]

    def prompt_tokens(self, messages: Sequence[Message], provider: str, model: str) -> int:
        """Tokens of a prompt, tools included: recounted, without its plan."""
        sizes = (self.size(message, provider, model) for message in messages)
        return self._sizes_for(provider, model)[0].tools_raw + sum(sizes)

    def _sizes_for(self, provider: str, model: str) -> tuple[Measure, list[int]]:
        whose = provider, model
        if whose not in self._sizes:
            measure = Measure(HeuristicCounter(), self.tools, model, provider=provider)
            self._sizes[whose] = measure, [*map(measure.message, self.messages)]
        return self._sizes[whose]

    def head(self, length: int) -> int:
        return head_of(self.messages[:length])

    def unpaired(self, length: int) -> Counter[str]:
        return unpaired(self.messages[:length])


def talk_of(fields: dict[str, Any]) -> Talk:
    """A line of a file of recorded conversations, without the recorder's notes, which no provider has a name for."""
    tools = [tool_from_dict(tool) for tool in fields.get("tools") or ()]
    given = [{key: value for key, value in message.items() if key in _KEYS} for message in fields["messages"]]
    return Talk(fields["id"], messages_from_dicts(given), tools)


def call_lengths(messages: Sequence[Message], most: int) -> list[int]:
    """How many messages each call was sent: all before an assistant message, and the whole; at most `most` of them.

    Of more they are taken at equal distances, the first and the last always.
    """
    lengths = [index for index, message in enumerate(messages) if index and message.role == "assistant"]
    lengths.append(len(messages))
    if len(lengths) <= most:
        return lengths
    return [lengths[number * (len(lengths) - 1) // (most - 1)] for number in range(most)]
