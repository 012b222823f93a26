"""classify_error and what else reads a provider's words: errors, and replies that hide one."""

import asyncio
from collections.abc import Mapping
from typing import Any

import aaa.llm
from aaa.context import CalibratedCounter, ContextPolicy, PromptFitter
from aaa.errors import (
    AaaError,
    ContextOverflowError,
    InvalidRequestError,
    OutputLimitError,
    RateLimitError,
    RequestTooLarge,
)
from aaa.llm import LLMHandler, window_of
from aaa.messages import LLMRequest, LLMResponse, Message
from aaa.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from aaa.wire.fault_body import Fault
from aaa.wire.faults import error_from, fault_from
from aaa.wire.overflow import overflow_of_finish, recognize
from aaa.wire.truncation import NOTHING_SEEN, seen, silent_truncation
from aaa.wire.usage import usage_from
from tests.cases.found import Found

__all__ = ["OPERATIONS"]

_APIS = {"anthropic": anthropic, "gemini": gemini, "ollama": ollama, "openai-responses": openai_responses}
_CLASSES: tuple[tuple[type[AaaError], str], ...] = (
    (RequestTooLarge, "request_too_large"),
    (ContextOverflowError, "context_overflow"),
    (RateLimitError, "rate_limit"),
    (OutputLimitError, "output_limit"),
    (InvalidRequestError, "invalid_request"),
)


def classify_error(found: Found) -> None:
    """What a refusal, or a reply that is one, tells."""
    case = found.case
    bodies = case.get("bodies") or [_said(case)]
    found.facts["classes"] = [_class(found, case, body) for body in bodies]
    known = case.get("known_window") or case.get("window")
    if known and isinstance(found.error, ContextOverflowError):
        fitter = PromptFitter(ContextPolicy(known, reserve_output=0))
        if found.error.limit and found.error.kind == "tokens":
            fitter.learn_window(None, found.error.limit)
        found.facts["window"] = fitter.gauge([]).settings.window_tokens
    elif known:
        found.facts["window"] = known


def _said(case: Mapping[str, Any]) -> Any:
    return next(case[key] for key in ("body", "sse", "result") if key in case)


def _class(found: Found, case: Mapping[str, Any], body: Any) -> str:
    provider, status = case["provider"], case["status"]
    if status == 200 and "sse" not in case:
        return _class_of_reply(found, body)
    fault: Fault = fault_from(status, {}, body)
    found.error = error_from(fault, provider=provider)
    found.facts["overflow"] = recognize(fault, provider=provider)
    return next((name for kind, name in _CLASSES if isinstance(found.error, kind)), "none")


def _class_of_reply(found: Found, body: Mapping[str, Any]) -> str:
    case = found.case
    api = _APIS.get(case["provider"], openai_chat)
    response = api.response_from_body(body)
    window = case.get("window")
    overflow = overflow_of_finish(response.finish_reason, response.message, response.usage, window=window)
    found.facts["overflow"] = overflow
    if overflow is not None:
        return "context_overflow"
    return "output_limit" if response.finish_reason in ("length", "max_tokens") else "none"


def check_response(found: Found) -> None:
    """A reply whose prompt may have been cut."""
    case = found.case
    api = _APIS.get(case["provider"], openai_chat)
    body = {"message": {"role": "assistant", "content": "…"}} | case["body"] if api is ollama else case["body"]
    response = api.response_from_body(body)
    window = case.get("num_ctx") or case.get("window")
    cut = overflow_of_finish(response.finish_reason, response.message, response.usage, window=window)
    if cut is None and "estimate" in case:
        is_cached_told = case["provider"] != "ollama"
        cut = silent_truncation(case["estimate"], response.usage, cached_reported=is_cached_told, window=window)
    found.value = "silent_truncation" if cut is not None and cut.kind == "silent" else "none"
    found.facts["learned"] = cut.limit if cut is not None else None


def check_responses(found: Found) -> None:
    """Several calls of one conversation."""
    before, counter = NOTHING_SEEN, CalibratedCounter()
    found.value, found.facts["learned"] = "none", None
    for call in found.case["calls"]:
        usage = usage_from("openai-chat", call["usage"])
        cut = silent_truncation(call["estimate"], usage, cached_reported=False, before=before)
        before = seen(before, call["estimate"], usage, is_cut=cut is not None)
        if cut is not None:
            found.value, found.facts["learned"] = "silent_truncation", cut.limit
        elif usage is not None:
            counter.observe(None, call["estimate"], usage.prompt_tokens)
    found.facts["ratio"] = counter.ratio(None)


def learn_window(found: Found) -> None:
    """Which of several windows holds."""
    case = found.case
    window = case["configured"]
    reserve = case.get("configured_max_output", 0)
    if window is None:
        window = _asked(case["server"])
    settings = ContextPolicy(window, reserve_output=reserve).settings(None)
    found.value, found.facts["max_output"] = settings.window_tokens, settings.reserve_tokens


def _asked(server: Mapping[str, Any]) -> int:
    """What a llama-server says that was started so."""
    from tests.llm.test_windows import MODEL, Documents

    documents = {
        "/v1/models": {"data": [{"id": MODEL, "meta": {"n_ctx_train": server.get("n_ctx_train")}}]},
        "/props": {"default_generation_settings": {"n_ctx": server["n_ctx"]}},
    }
    with Documents(documents) as served:
        return window_of(aaa.llm.client(f"openai:{MODEL}", base_url=served.url + "/v1", api_key="k"))(None)


class _Recorder:
    """A client that keeps what it would send."""

    dialect = "ollama"

    def __init__(self) -> None:
        self.sent: list[LLMRequest] = []

    async def complete(self, request: LLMRequest) -> LLMResponse:
        self.sent.append(request)
        return LLMResponse(Message("assistant", "hello"))


def build_request(found: Found) -> None:
    """What a request says of the window that the budget is worked out from."""
    from aaa.runtime import Engine
    from tests.runtime.making import Given

    case = found.case
    found.before = openai_chat.messages_from_dicts(case["messages"])
    client = _Recorder()

    async def ask(run: Any, _: Any) -> str:
        return (await run.llm(found.before)).message.text

    async def once() -> None:
        async with Engine() as engine:
            LLMHandler(client, context=ContextPolicy(case["window"])).attach(engine)
            await engine.run(Given(ask), None)

    asyncio.run(once())
    found.facts["body"] = ollama.request_to_body(client.sent[0])


OPERATIONS = {
    "classify_error": classify_error,
    "check_response": check_response,
    "check_responses": check_responses,
    "learn_window": learn_window,
    "build_request": build_request,
}
