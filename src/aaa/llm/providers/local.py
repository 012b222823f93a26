"""Models that run in this process: they answer in OpenAI's chat format, and check their prompt before they run."""

from collections.abc import Iterator, Mapping
from typing import Any

from aaa.errors import AaaError, ContextOverflowError
from aaa.llm.providers.protocol import ReplyStream
from aaa.llm.providers.transport import as_mapping
from aaa.messages import LLMResponse
from aaa.wire import openai_chat
from aaa.wire.faults import fault_from
from aaa.wire.overflow import recognize

__all__ = ["LocalReplies", "check_fits", "chunks_of"]


def check_fits(name: str, tokens: int, window: int | None) -> None:
    """Refuse a prompt that leaves no room for a reply; there is no SDK's exception to chain.

    Raises:
        ContextOverflowError: with both numbers.
    """
    if window is not None and tokens >= window:
        problem = f"{name}: the prompt fills the model's window; nothing was run"
        raise ContextOverflowError(problem, limit=window, requested=tokens)


class LocalReplies:
    """Reading the answers of a model in this process."""

    is_local = True
    dialect = "llama-server"  # the templates of open models ask for what a strict server of theirs asks for
    name: str

    def accept(self, sdk: Any, *, is_async: bool) -> Any:
        """A loaded model; it serves both sides."""
        return sdk

    def response(self, answer: Any) -> LLMResponse:
        """Read an answer."""
        return openai_chat.response_from_body(as_mapping(self.name, answer))

    def reply_stream(self) -> ReplyStream:
        """A reader for one streamed reply."""
        return openai_chat.ReplyStream()

    def event_of(self, item: Any) -> Mapping[str, Any]:
        """One chunk."""
        return as_mapping(self.name, item)

    def error_of(self, error: Exception) -> AaaError | None:
        """An overflow that the library itself found; whatever else it raises stays what it is."""
        overflow = recognize(fault_from(None, {}, str(error))) if isinstance(error, ValueError | RuntimeError) else None
        if overflow is None:
            return None
        problem = f"{self.name}: the prompt is larger than the model's window"
        return ContextOverflowError(problem, limit=overflow.limit, requested=overflow.requested)


def chunks_of(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A whole answer as the one chunk of a stream."""
    choice = answer["choices"][0]
    calls = [call | {"index": index} for index, call in enumerate(choice["message"].get("tool_calls") or ())]
    delta = choice["message"] | ({"tool_calls": calls} if calls else {})
    yield {**answer, "choices": [{"index": 0, "delta": delta, "finish_reason": choice["finish_reason"]}]}
