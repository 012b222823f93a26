"""Replace old tool results by a placeholder."""

from collections.abc import Collection, Sequence
from copy import copy

from aaa.context.work import Work
from aaa.messages import Message, TextPart, pair, with_text

__all__ = ["ClearToolResults"]


class ClearToolResults:
    """Replace the content of all but the `keep_last` newest tool results by `placeholder`.

    The calls stay, so the model knows what it did and can call again. Loses old tool output. A result that is no
    larger than the placeholder is left as it is, and so are results of tools that are spared.
    """

    name = "clear_tool_results"

    def __init__(self, keep_last: int = 4, placeholder: str = "[tool result removed to save context]") -> None:
        if keep_last < 0:
            raise ValueError(f"keep_last must not be negative, got {keep_last}")
        if not placeholder.strip():
            raise ValueError("placeholder must not be empty: providers refuse empty tool results")
        self.keep_last = keep_last
        self.placeholder = placeholder
        self.spared: frozenset[str] = frozenset()

    def sparing(self, *tools: str) -> "ClearToolResults":
        """This strategy, leaving results of these tools alone: instructions that were loaded, say."""
        other = copy(self)
        other.spared = self.spared | frozenset(tools)
        return other

    async def apply(self, work: Work) -> None:
        """Clear every old result before the recent tail."""
        self.reduce(work)

    def reduce(self, work: Work) -> None:
        """As `apply`; awaits nothing."""
        results = [index for index, message in enumerate(work.messages) if message.role == "tool"]
        old, tail = results[: max(len(results) - self.keep_last, 0)], work.tail
        if self.spared:
            kept = _results_of(work.messages, self.spared)
            old = [index for index in old if index not in kept]
        cleared = clear_results(work, [index for index in old if index < tail], self.placeholder)
        if cleared:
            work.applied.append(f"{self.name}({cleared})")


def clear_results(work: Work, indices: list[int], placeholder: str) -> int:
    """Clear the tool results at `indices` where that makes them smaller; says how many were."""
    items, cleared = work.items, 0
    for index in indices:
        message = work.messages[index]
        empty = with_text(message, (TextPart(placeholder),) if isinstance(message.content, tuple) else placeholder)
        if not work.is_protected(index) and work.count(empty) < items[index].raw:
            work.messages[index] = empty
            cleared += 1
    return cleared


def _results_of(messages: Sequence[Message], names: Collection[str]) -> set[int]:
    """Indices of the results of calls to these tools."""
    called = {(index, call.id): call.name for index, message in enumerate(messages) for call in message.tool_calls}
    return {
        result
        for result, call in pair(messages).call_of.items()
        if called[call, messages[result].tool_call_id or ""] in names
    }
