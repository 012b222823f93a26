"""Every exception of the project, in one tree.

    AaaError
    ├── ContextError
    │   └── ContextFloorError     the conversation cannot be made to fit
    ├── WireError                 input that is not in the provider's format
    ├── ToolArgumentsError        a model wrote tool arguments that are not a JSON object
    └── StateError                saved state that cannot be read

Each is built from fields that it keeps, says what failed with numbers, and what to do. None holds message text.
"""

from collections.abc import Sequence

__all__ = ["AaaError", "ContextError", "ContextFloorError", "StateError", "ToolArgumentsError", "WireError"]


class AaaError(Exception):
    """Base of every error raised by this package."""


class ContextError(AaaError):
    """A conversation could not be fitted."""


class ContextFloorError(ContextError):
    """The smallest prompt that keeps head and newest turn is above the budget; nothing was sent.

    Units: calibrated tokens. `head_tokens + tools_tokens + tail_tokens == needed_tokens > budget_tokens`, and
    `budget_tokens == window_tokens - reserve_tokens`. `tail_tokens` is 0 when head and tools alone are too large.
    `largest` names the biggest items left as (index in the transcript, role, tokens).
    """

    def __init__(
        self,
        *,
        window_tokens: int,
        reserve_tokens: int,
        head_tokens: int,
        tools_tokens: int,
        tail_tokens: int,
        largest: Sequence[tuple[int, str, int]] = (),
    ) -> None:
        self.window_tokens = window_tokens
        self.reserve_tokens = reserve_tokens
        self.budget_tokens = window_tokens - reserve_tokens
        self.head_tokens = head_tokens
        self.tools_tokens = tools_tokens
        self.tail_tokens = tail_tokens
        self.needed_tokens = head_tokens + tools_tokens + tail_tokens
        self.largest = tuple(largest)
        super().__init__(self._text())

    def _text(self) -> str:
        parts = f"head {self.head_tokens:,} + tools {self.tools_tokens:,} + newest turn {self.tail_tokens:,}"
        text = (
            f"Prompt needs {self.needed_tokens:,} tokens after compaction ({parts}); "
            f"the budget is {self.budget_tokens:,} (window {self.window_tokens:,} - reserve {self.reserve_tokens:,})."
        )
        if self.largest:
            items = ", ".join(f"message {index} ({role}) {tokens:,}" for index, role, tokens in self.largest)
            text += f" Largest: {items}."
        return text + " Raise max_input_tokens, lower reserve_output, or shorten the largest of these."


class WireError(AaaError):
    """Input is not in the format it is said to be in.

    `index` is the position of the offending message or tool in its list, or None where there is no list.
    """

    def __init__(self, problem: str, *, index: int | None = None) -> None:
        self.problem = problem
        self.index = index
        super().__init__(problem if index is None else f"message {index}: {problem}")


class ToolArgumentsError(AaaError):
    """The arguments of a tool call are not a JSON object; `tool` and `call_id` name the call."""

    def __init__(self, *, tool: str, call_id: str, problem: str) -> None:
        self.tool = tool
        self.call_id = call_id
        self.problem = problem
        super().__init__(f"arguments of call {call_id!r} to tool {tool!r} are not a JSON object: {problem}")


class StateError(AaaError):
    """Saved state cannot be read: not JSON, of an unknown version, or with fields of the wrong type."""
