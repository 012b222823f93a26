"""Every exception of the project, in one tree.

    AaaError
    ├── ContextError
    │   ├── ContextFloorError     the conversation cannot be made to fit
    │   ├── ContextOverflowError  a provider refused a prompt as too large
    │   │   └── RequestTooLarge   … in bytes, which fewer tokens may not cure
    │   └── SummaryError          a compaction that was asked for got no summary
    ├── ProviderError             a provider refused or failed for another reason
    │   ├── RateLimitError        too much in a time
    │   ├── OutputLimitError      more output was asked for than the model gives
    │   ├── InvalidRequestError   a request that breaks a rule of the provider
    │   ├── AuthenticationError   a key that is missing, wrong or not allowed
    │   ├── ServerError           the provider is overloaded or broken
    │   ├── UnreachableError      no connection, or none in time
    │   └── BrokenReplyError      a reply that is not what the format says, or ended half-way
    ├── ClientSetupError          a model client that cannot be made: no such provider, package or key
    ├── WireError                 input that is not in the provider's format
    ├── ToolArgumentsError        a model wrote tool arguments that are not a JSON object
    ├── ToolDefinitionError       a function that cannot be made a tool
    ├── StateError                saved state that cannot be read
    └── RunError
        ├── UnknownRunError       no run of that id
        ├── UnavailableError      a run that needs something that is not here
        ├── StoreError            a store that cannot be opened, read or written
        │   ├── StoreInUseError   another process drives this database
        │   ├── ConflictError     an append that came second
        │   └── SupersededError   a claim that came second
        ├── NonDeterminismError   a resumed algorithm asked for something else than is recorded
        ├── EffectError           an effect of a run failed for good; raised into the algorithm
        └── OutOfTurnsError       an algorithm used all the turns it may take

Each says what failed, with numbers where there are any, and what to do. None of ours holds message text.
"""

import re
from collections.abc import Sequence

__all__ = [
    "AaaError",
    "AuthenticationError",
    "BrokenReplyError",
    "ClientSetupError",
    "ConflictError",
    "ContextError",
    "ContextFloorError",
    "ContextOverflowError",
    "EffectError",
    "InvalidRequestError",
    "NonDeterminismError",
    "OutOfTurnsError",
    "OutputLimitError",
    "ProviderError",
    "RateLimitError",
    "RequestTooLarge",
    "RunError",
    "ServerError",
    "StateError",
    "StoreError",
    "StoreInUseError",
    "SummaryError",
    "SupersededError",
    "ToolArgumentsError",
    "ToolDefinitionError",
    "UnavailableError",
    "UnknownRunError",
    "UnreachableError",
    "WireError",
    "error_data",
    "quoted",
]


class AaaError(Exception):
    """Base of every error raised by this package."""


class ContextError(AaaError):
    """A conversation could not be fitted."""


class ContextFloorError(ContextError):
    """The smallest prompt that keeps head and newest turn is above the budget; nothing was sent.

    Units: calibrated tokens. `head_tokens + tools_tokens + tail_tokens == needed_tokens > budget_tokens`, and
    `budget_tokens == window_tokens - reserve_tokens`; after an overflow the window is what it is taken to be since.
    `tail_tokens` is 0 when head and tools alone are too large.
    `largest` names the biggest items left as (index in the transcript, role, tokens). What was spent on summaries on
    the way is in `tokens_spent` and `cost` (USD), why they were not enough in `rejected`.
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
        self.rejected: tuple[str, ...] = ()
        self.tokens_spent = 0
        self.cost = 0.0
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
        missing = self.needed_tokens - self.budget_tokens
        return f"{text} Raise max_input_tokens, or lower reserve_output, by {missing:,}, or {self._advice()}."

    def _advice(self) -> str:
        """What would help beside a larger window."""
        if self.tools_tokens >= max(self.head_tokens, self.tail_tokens):
            return "send fewer tools, or shorter descriptions of them"
        if self.head_tokens >= self.tail_tokens:
            return "shorten the instructions and the task"
        return "unpin or shorten the largest of these"


class ContextOverflowError(ContextError):
    """A prompt was refused as too large: by its provider, or before sending by a model that runs in this process.

    `limit` and `requested` are the provider's own numbers in tokens, None if it gave none; `counts_output` says that
    `requested` includes the room asked for the reply. `kind` is "tokens", "bytes", or "silent" for a server that cut
    the prompt without a word.
    """

    def __init__(
        self,
        problem: str = "",
        *,
        limit: int | None = None,
        requested: int | None = None,
        counts_output: bool = False,
        kind: str = "tokens",
    ) -> None:
        self.limit = limit
        self.requested = requested
        self.counts_output = counts_output
        self.kind = kind
        known = [f"{name} {number:,}" for name, number in (("limit", limit), ("requested", requested)) if number]
        numbers = f" ({', '.join(known)})" if known else ""
        super().__init__((problem or "the prompt is larger than the model's window") + numbers)


class SummaryError(ContextError):
    """A compaction that was asked for got no summary that could be used; the conversation is as it was.

    `reason` is "empty", "cut off", "tool call", "error text", "too large", "timeout", "too long" (the summarizer can
    not read the shortest part) or "failed"; `problem` says more. What was summarised before it failed is kept.
    """

    def __init__(self, reason: str, problem: str, *, messages: int) -> None:
        self.reason = reason
        self.problem = problem
        self.messages = messages
        super().__init__(
            f"no summary of {messages} messages ({reason}: {problem}). Nothing is lost: try again, with another model, "
            "or let the strategies that call no model make the prompt fit."
        )


class RequestTooLarge(ContextOverflowError):
    """A request has more bytes than its provider takes; `limit` and `requested` are bytes. Fewer tokens may not help:
    images and files count most."""

    def __init__(self, problem: str = "", *, limit: int | None = None, requested: int | None = None) -> None:
        said = problem or "the request has more bytes than the provider takes"
        super().__init__(
            f"{said}; it helps most to leave out or shrink the oldest images and files",
            limit=limit,
            requested=requested,
            kind="bytes",
        )


class ProviderError(AaaError):
    """A provider refused a request, or failed at it. The SDK's own exception is the `__cause__`.

    `status_code` and `code` are the provider's, None where it gave none; `retry_after` is in seconds. `is_transient`
    says whether the same request may succeed later.
    """

    is_transient = False

    def __init__(
        self,
        problem: str,
        *,
        status_code: int | None = None,
        code: str | None = None,
        retry_after: float | None = None,
        is_transient: bool | None = None,
    ) -> None:
        self.problem = problem
        self.status_code = status_code
        self.code = code
        self.retry_after = retry_after
        if is_transient is not None:
            self.is_transient = is_transient
        super().__init__(problem)


class RateLimitError(ProviderError):
    """Too many requests or tokens in a time. A request that is by itself above the limit is not transient."""

    is_transient = True


class OutputLimitError(ProviderError):
    """More output was asked for than the model gives; a smaller prompt does not help, a smaller maximum does."""


class InvalidRequestError(ProviderError):
    """The request breaks a rule of the provider."""


class AuthenticationError(ProviderError):
    """The key is missing, wrong, or not allowed to do this."""


class ServerError(ProviderError):
    """The provider is overloaded, or failed."""

    is_transient = True


class UnreachableError(ProviderError, ConnectionError):
    """No connection, or no answer in time."""

    is_transient = True


class BrokenReplyError(ProviderError):
    """A reply that is not what its format says, or that ended half-way; nothing of it was kept."""

    is_transient = True


class ClientSetupError(AaaError):
    """A model client cannot be made: an unknown provider, a package that is not installed, no key."""


class WireError(AaaError):
    """Input is not in the format it is said to be in.

    `index` is the position of the offending message (or `item`, "tool") in its list, None where there is no list.
    """

    def __init__(self, problem: str, *, index: int | None = None, item: str = "message") -> None:
        self.problem = problem
        self.index = index
        super().__init__(problem if index is None else f"{item} {index}: {problem}")


class ToolArgumentsError(AaaError):
    """The arguments of a tool call are not a JSON object; `tool` and `call_id` name the call."""

    def __init__(self, *, tool: str, call_id: str, problem: str) -> None:
        self.tool = tool
        self.call_id = call_id
        self.problem = problem
        super().__init__(f"arguments of call {call_id!r} to tool {tool!r} are not a JSON object: {problem}")


class ToolDefinitionError(AaaError):
    """A function that cannot be made a tool: no name, a parameter without a type, or one that has no JSON schema."""


class StateError(AaaError):
    """Saved state cannot be read: not JSON, of an unknown version, or with fields of the wrong type."""


class RunError(AaaError):
    """A run, or what keeps it, failed."""


class UnknownRunError(RunError):
    """There is no run of this id."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(f"there is no run {run_id!r}")


class UnavailableError(RunError):
    """A run needs an algorithm or a handler that this process does not have; it has not ended."""


class StoreError(RunError):
    """A store cannot be opened, read or written; nothing of the failed operation is in it."""


class StoreInUseError(StoreError):
    """Another process drives the runs of this database; `holder` says which."""

    def __init__(self, path: str, holder: str) -> None:
        self.path = path
        self.holder = holder
        super().__init__(f"{path} is driven by {holder}; one process drives a database at a time, any number may read")


class ConflictError(StoreError):
    """An append came second: the log's head or the run's epoch is not what the writer knew."""

    def __init__(self, run_id: str, *, expected_seq: int, head: int, epoch: int | None, current_epoch: int) -> None:
        self.run_id = run_id
        self.expected_seq = expected_seq
        self.head = head
        self.epoch = epoch
        self.current_epoch = current_epoch
        ours = f"after event {expected_seq} in epoch {epoch}"
        super().__init__(f"append to run {run_id!r} {ours}, but it has {head} events and epoch {current_epoch}")


class SupersededError(StoreError):
    """A claim came second: the run is driven under a newer token."""

    def __init__(self, run_id: str, *, token: int, epoch: int) -> None:
        self.run_id = run_id
        self.token = token
        self.epoch = epoch
        super().__init__(f"claim of run {run_id!r} with token {token}, but epoch {epoch} is in force")


class NonDeterminismError(RunError):
    """A resumed algorithm asked for something else than its log records at that step."""

    def __init__(self, run_id: str, *, key: str, recorded: str, requested: str) -> None:
        self.run_id = run_id
        self.key = key
        self.recorded = recorded
        self.requested = requested
        super().__init__(
            f"run {run_id!r}, step {key}: the log records {recorded}, the algorithm now asks for {requested}. "
            "Resume it with the version that started it, or branch on run.version(name)."
        )


class EffectError(RunError):
    """An effect of a run failed for good. `kind` is the class of the original error, as recorded."""

    def __init__(self, key: str, *, kind: str, problem: str) -> None:
        self.key = key
        self.kind = kind
        self.problem = problem
        super().__init__(f"step {key} failed with {kind}: {problem}")


class OutOfTurnsError(RunError):
    """An algorithm used all the turns it may take; `value` is what it has so far."""

    def __init__(self, turns: int, value: object = None) -> None:
        self.turns = turns
        self.value = value
        super().__init__(f"no answer within {turns} turns; raise max_turns, or give the run a smaller task")


_SECRET = re.compile(r"(?i)\b(?:sk|pk|rk|xox[a-z]|gh[a-z]|AIza|bearer|api[-_ ]?key|token)[-_ :=]*[\w.+/-]{6,}")
_LONGEST_MESSAGE = 500


def error_data(error: BaseException) -> dict[str, str]:
    """An error as a log keeps it: {"type", "message"}, the message without what looks like a key, and not too long.

    Providers quote keys and prompts in their errors; the original stays in the process, as `__cause__`.
    """
    message = _SECRET.sub("[...]", str(error))
    if len(message) > _LONGEST_MESSAGE:
        message = message[:_LONGEST_MESSAGE] + f" [... {len(message) - _LONGEST_MESSAGE:,} characters left out]"
    return {"type": type(error).__name__, "message": message}


_QUOTED = re.compile(r"(?<!\w)([\"'`])(?=\S)(?:(?!\1).){60,}\1(?!\w)", re.DOTALL)
_LONGEST_QUOTE = 300


def quoted(text: str) -> str:
    """What a provider said, fit for an error of ours: no key, no long quotation from a prompt, not too long."""
    text = _QUOTED.sub(r"\1[...]\1", _SECRET.sub("[...]", text))
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "[...]"
