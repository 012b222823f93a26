"""A conversation with an engine: an agent that reads pages, and policies that make it fit."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from aaa.context import ContextPolicy, HeuristicCounter
from aaa.errors import EffectError
from aaa.llm import FakeLLMClient, LLMHandler
from aaa.llm.fake import text
from aaa.messages import LLMRequest, LLMResponse, Message, ToolCall, Usage
from aaa.runtime import Engine, EventStore
from tests.runtime.making import Given, visible

__all__ = ["READING", "SUMMARY", "Recorder", "policy_of", "reading_engine"]

SUMMARY = "The pages so far were read."
PAGES = 24


class Recorder:
    """A model that counts 1.3 times what the heuristic does, keeps what it was sent, and hangs at one call."""

    def __init__(self, *, hang_at: int | None = None, fail: Callable[[LLMRequest], Exception | None] = lambda _: None):
        self.sent: list[bytes] = []
        self.is_hanging = asyncio.Event()
        self._hang_at = hang_at
        self._fail = fail

    async def __call__(self, request: LLMRequest) -> LLMResponse | Exception:
        self.sent.append(visible(request))
        if len(self.sent) == self._hang_at:
            self.is_hanging.set()
            await asyncio.Event().wait()
        error = self._fail(request)
        usage = Usage(int(1.3 * HeuristicCounter().count(request.messages, request.tools)), 150)
        return error or LLMResponse(Message("assistant", "a" * 600), usage)


async def _read(run: Any, input: Any) -> str:
    messages = [Message("user", "read #0")]
    for number in range(1, PAGES + 1):
        with suppress(EffectError):  # the next call then has one message less to go on with
            messages.append((await run.llm(messages)).message)
        call = ToolCall(f"c{number}", "read", "{}")
        messages.append(Message("assistant", None, (call,)))
        messages.append(Message("tool", "lorem " * 250, tool_call_id=call.id))
        messages.append(Message("user", f"go on #{number}"))
    return "read"


READING = Given(_read, "reading")


def policy_of(sticky: bool, *, summarizes: bool = True, window: int = 4_000) -> ContextPolicy:
    summarizer = FakeLLMClient(lambda _: text(SUMMARY)) if summarizes else None
    return ContextPolicy(window, reserve_output=0, sticky=sticky, summarizer=summarizer)


def reading_engine(store: EventStore, recorder: Recorder, policy: ContextPolicy) -> Engine:
    engine = Engine(store)
    LLMHandler(FakeLLMClient(recorder), context=policy).attach(engine)
    return engine
