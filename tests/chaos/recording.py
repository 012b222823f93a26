"""What was sent, call by call, and what came back: kept beside the run, to be compared with its log."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aaa.errors import AaaError, ContextOverflowError
from aaa.llm import LLMHandler
from aaa.llm.client import ModelClient
from aaa.messages import Delta, LLMRequest, LLMResponse
from tests.chaos.model import WildModel

__all__ = ["Record", "RecordingClient", "RecordingHandler", "Sent"]


@dataclass
class Sent:
    """One request as it was handed to the client: for which effect, in which try of the effect, and what became of it.

    `attempt` counts the tries of effects in the whole run; `crashes` says how often the run had been interrupted.
    """

    key: str
    attempt: int
    crashes: int
    request: LLMRequest
    error: BaseException | None = None
    is_refused: bool = False
    was_cut: bool = False


@dataclass
class Record:
    """All of one run."""

    sent: list[Sent] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    attempt: int = 0
    crashes: int = 0


class RecordingClient(ModelClient):
    """A client that keeps each request, and compares each error with what was really answered."""

    record: Record
    wild: WildModel
    key: str = ""

    async def complete(self, request: LLMRequest) -> LLMResponse:
        return await self._kept(request, lambda: super(RecordingClient, self).complete(request))

    async def stream(self, request: LLMRequest, show: Callable[[Delta], None]) -> LLMResponse:
        return await self._kept(request, lambda: super(RecordingClient, self).stream(request, show))

    async def _kept(self, request: LLMRequest, send: Callable[[], Any]) -> LLMResponse:
        sent = Sent(self.key, self.record.attempt, self.record.crashes, request)
        self.record.sent.append(sent)
        self.wild.refusal, self.wild.was_cut, self.wild.was_fault = None, False, ""
        try:
            return await send()
        except Exception as error:
            sent.error = error
            raise
        finally:
            sent.is_refused, sent.was_cut = self.wild.refusal is not None, self.wild.was_cut
            self.record.problems += _misunderstood(sent.error, self.wild)


def _misunderstood(error: BaseException | None, wild: WildModel) -> list[str]:
    if error is not None and not isinstance(error, AaaError):
        return [f"a bare {type(error).__name__} after {wild.was_fault or 'a reply'}: {error}"]
    refusal = wild.refusal
    if refusal is None:
        if isinstance(error, ContextOverflowError) and error.kind != "silent":
            return [f"{wild.was_fault or 'a reply'} was taken for an overflow"]
        return []
    words = refusal.wording.template
    if not isinstance(error, ContextOverflowError):
        return [f"an overflow was taken for {type(error).__name__}: {words}"]
    limit = refusal.sizes.byte_limit if refusal.wording.kind == "bytes" else refusal.sizes.window
    if refusal.wording.tells_limit and error.limit != limit:
        return [f"limit {error.limit} was read where {limit} was said: {words}"]
    return []


class RecordingHandler(LLMHandler):
    """A handler that says for which effect the client is called."""

    async def handle(self, effects: Any, request: LLMRequest) -> dict[str, Any]:
        assert isinstance(self.client, RecordingClient)
        self.client.key = effects.key
        self.client.record.attempt += 1
        return await super().handle(effects, request)
