"""Where the tokens of conversations are: by role, by kind, by tool, and the largest messages.

    message = text or tool result  +  tool calls        so that the kinds add up to the whole

What single tools take is counted call by call, and rounded call by call.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappush, heappushpop

from msgspec.structs import replace

from aaa.cli.reading import Conversation
from aaa.context import AdditiveCounter, HeuristicCounter, TiktokenCounter
from aaa.messages import Message, OpaquePart, pair

__all__ = ["Census", "Large", "Share", "counters_at_hand"]

_ENCODINGS = ("o200k_base", "cl100k_base")
_MOST_LARGE = 10
_UNKNOWN_TOOL = "(unknown)"
_counter = HeuristicCounter()


def counters_at_hand() -> tuple[dict[str, AdditiveCounter], list[str]]:
    """The counters that work on this machine, by name, and the names of those that do not."""
    counters: dict[str, AdditiveCounter] = {"heuristic": _counter}
    missing: list[str] = []
    for encoding in _ENCODINGS:
        try:
            counters[encoding] = TiktokenCounter(encoding)
        except (ImportError, ValueError):
            missing.append(encoding)
    return counters, missing


@dataclass(slots=True)
class Share:
    """How many of something there are, and their estimated tokens."""

    count: int = 0
    tokens: int = 0

    def add(self, tokens: int, count: int = 1) -> None:
        """Count some more."""
        self.count += count
        self.tokens += tokens


@dataclass(frozen=True, slots=True, order=True)
class Large:
    """One of the largest messages; `order` is negative, so that of two as large the earlier one counts as larger."""

    tokens: int
    order: int
    conversation: str
    index: int
    role: str
    tool: str


@dataclass(slots=True)
class Census:
    """Counts over all conversations seen. `media` counts parts that are no text, by type; they have no tokens here."""

    conversations: int = 0
    messages: int = 0
    roles: defaultdict[str, Share] = field(default_factory=lambda: defaultdict(Share))
    kinds: defaultdict[str, Share] = field(default_factory=lambda: defaultdict(Share))
    calls: defaultdict[str, Share] = field(default_factory=lambda: defaultdict(Share))
    results: defaultdict[str, Share] = field(default_factory=lambda: defaultdict(Share))
    media: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    _large: list[Large] = field(default_factory=list[Large])

    def add(self, conversation: Conversation) -> None:
        """Take in one conversation."""
        self.conversations += 1
        if conversation.tools:
            self.kinds["tool specification"].add(_counter.count_tools(conversation.tools), len(conversation.tools))
        tool_of = _tools_of(conversation.messages)
        for index, message in enumerate(conversation.messages):
            self._add_message(conversation.id, index, message, tool_of.get(index, _UNKNOWN_TOOL))

    @property
    def largest(self) -> list[Large]:
        """The ten largest messages, largest first."""
        return sorted(self._large, reverse=True)

    def _add_message(self, conversation: str, index: int, message: Message, tool: str) -> None:
        tokens = _counter.count_message(message)
        self.messages += 1
        self.roles[message.role].add(tokens)
        calls = self._add_calls(message)
        is_result = message.role == "tool"
        self.kinds["tool result" if is_result else "text"].add(tokens - calls)
        if is_result:
            self.results[tool].add(tokens - calls)
        for part in message.content if isinstance(message.content, tuple) else ():
            if isinstance(part, OpaquePart):
                self.media[part.type or "(no type)"] += 1
        names = tool if is_result else ", ".join(dict.fromkeys(call.name for call in message.tool_calls))
        self._keep(Large(tokens, -self.messages, conversation, index, message.role, names))

    def _add_calls(self, message: Message) -> int:
        """Count the calls of a message; says how many tokens they take together."""
        if not message.tool_calls:
            return 0
        tokens = _counter.count_message(message) - _counter.count_message(replace(message, tool_calls=()))
        self.kinds["tool call"].add(tokens, len(message.tool_calls))
        for call in message.tool_calls:
            alone = replace(message, content=None, tool_calls=(call,))
            self.calls[call.name].add(_counter.count_message(alone) - _counter.per_message)
        return tokens

    def _keep(self, large: Large) -> None:
        if len(self._large) < _MOST_LARGE:
            heappush(self._large, large)
        else:
            heappushpop(self._large, large)


def _tools_of(messages: Sequence[Message]) -> dict[int, str]:
    """The tool of each result, by the call it answers; where it answers none, by its own name if it has one."""
    call_of = pair(messages).call_of
    tools: dict[int, str] = {}
    for index, message in enumerate(messages):
        if message.role == "tool":
            calls = messages[call_of[index]].tool_calls if index in call_of else ()
            names = [call.name for call in calls if call.id == (message.tool_call_id or "")]
            tools[index] = (names[0] if names else message.name) or _UNKNOWN_TOOL
    return tools
