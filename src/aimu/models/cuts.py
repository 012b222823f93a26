"""Servers that cut a conversation without a word, as Ollama does: found out by what they say they read."""

import logging

from aaa.context import HeuristicCounter
from aaa.errors import ContextOverflowError
from aaa.messages import LLMRequest, LLMResponse
from aaa.wire.truncation import NOTHING_SEEN, Seen, seen, silent_truncation

__all__ = ["SilentCuts"]

_log = logging.getLogger("aimu")


class SilentCuts:
    """What the calls of one conversation showed so far."""

    def __init__(self, provider: str, *, strict: bool) -> None:
        self._provider = provider
        self._strict = strict
        self._counter = HeuristicCounter()
        self._seen: Seen = NOTHING_SEEN

    def check(self, request: LLMRequest, response: LLMResponse) -> None:
        """Take in one more call, and warn of a cut.

        Raises:
            ContextOverflowError: there is one, and it is to be an error.
        """
        estimate = self._counter.count(request.messages, request.tools)
        window = request.params.get("options", {}).get("num_ctx") if self._provider == "ollama" else None
        cut = silent_truncation(
            estimate,
            response.usage,
            cached_reported=self._provider != "ollama",
            window=window,
            finish_reason=response.finish_reason,
            before=self._seen,
        )
        self._seen = seen(self._seen, estimate, response.usage, is_cut=cut is not None)
        if cut is None:
            return
        problem = f"{self._provider} cut the conversation without a word"
        error = ContextOverflowError(problem, limit=cut.limit, requested=cut.requested, kind="silent")
        if self._strict:
            raise error
        _log.warning("%s; trim it, or raise the window", error)
