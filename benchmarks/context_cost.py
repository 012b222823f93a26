"""The cost contracts of the context layer, as counted work: messages counted and bytes hashed, not seconds.

| contract | counted here |
|---|---|
| nothing to do, n old and k new messages: O(k) | messages counted for a call with k new |
| a compaction: O(prompt) | messages counted, as a multiple of the transcript |
"""

from collections.abc import Sequence

from aaa.context import ContextPolicy, HeuristicCounter, PromptFitter
from aaa.messages import Message, ToolCall, ToolSpec
from benchmarks.measurement import Measurement

_OLD, _NEW = 2_000, 2


class _CountedCounter(HeuristicCounter):
    """A counter that knows how many messages it was asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.messages = 0

    def count_message(self, message: Message) -> int:
        self.messages += 1
        return super().count_message(message)

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        return self.count_tools(tools) + sum(map(self.count_message, messages))


def measure() -> list[Measurement]:
    """Messages counted when there is nothing to do, and when there is."""
    return [
        Measurement("nothing to do, 2,000 old and 2 new messages", _idle(as_dicts=False), "counted", "at most 2"),
        Measurement("the same with plain dicts", _idle(as_dicts=True), "counted", "at most 2"),
        Measurement("a compaction, per message of the transcript", _compaction(), "counted", "at most 2"),
        Measurement("a sticky call after it, 2 new messages", _after_compaction(), "counted", "at most 2"),
    ]


def _turns(count: int, start: int = 0) -> list[Message]:
    return [
        message
        for number in range(start, start + count // 2)
        for message in (
            Message("assistant", None, (ToolCall(f"call_{number}", "read"),)),
            Message("tool", f"line {number} " * 40, tool_call_id=f"call_{number}"),
        )
    ]


def _conversation(count: int) -> list[Message]:
    return [Message("user", "read everything"), *_turns(count - 1)]


def _idle(*, as_dicts: bool) -> int:
    from aaa.wire.openai_chat import message_to_dict

    counter = _CountedCounter()
    fitter = PromptFitter(ContextPolicy(10_000_000, counter=counter))
    shape = message_to_dict if as_dicts else (lambda message: message)
    whole = [shape(message) for message in _conversation(_OLD + _NEW + 1)]
    fitter.fit_sync(whole[:-_NEW])
    counter.messages = 0
    fitter.fit_sync(whole)
    return counter.messages


def _compaction() -> float:
    counter = _CountedCounter()
    messages = _conversation(_OLD + 1)
    window = counter.count(messages) // 2
    counter.messages = 0
    fitter = PromptFitter(ContextPolicy(window, reserve_output=0, counter=counter))
    fitter.fit_sync(messages)
    return counter.messages / len(messages)


def _after_compaction() -> int:
    counter = _CountedCounter()
    messages = _conversation(_OLD + 1)
    policy = ContextPolicy(counter.count(messages) // 2, reserve_output=0, counter=counter, sticky=True)
    fitter = PromptFitter(policy)
    fitter.fit_sync(messages)
    counter.messages = 0
    fitter.fit_sync([*messages, *_turns(_NEW, start=_OLD)])
    return counter.messages
