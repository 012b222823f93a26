"""classify_error and what else reads a provider's words: errors, and replies that hide one."""

import asyncio
from collections.abc import Mapping
from typing import Any

import aaa.llm
from aaa.context import CalibratedCounter, ContextPolicy, PromptFitter
from aaa.errors import (
    AaaError,
    ClientSetupError,
    ContextOverflowError,
    InvalidRequestError,
    OutputLimitError,
    RateLimitError,
    RequestTooLarge,
)
from aaa.llm import LLMHandler, window_of
from aaa.messages import LLMRequest, LLMResponse, Message, TextPart, Usage
from aaa.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from aaa.wire.fault_body import Fault
from aaa.wire.faults import error_from, fault_from
from aaa.wire.overflow import overflow_of_finish, recognize
from aaa.wire.truncation import NOTHING_SEEN, seen, silent_truncation
from aaa.wire.usage import usage_from
from tests.cases.found import Found
from tests.cases.names import named

__all__ = ["OPERATIONS"]

_UNKNOWN = 2**31  # tokens: where nobody names a window, only a refusal tells one

_SHAPES: dict[str, Any] = {
    "choices": openai_chat,
    "candidates": gemini,
    "done": ollama,
    "incomplete_details": openai_responses,
    "output": openai_responses,
    "stop_reason": anthropic,
}
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
    return next((case[key] for key in ("body", "sse", "result", "text", "message", "error") if key in case), None)


def _class(found: Found, case: Mapping[str, Any], body: Any) -> str:
    provider, status = case.get("provider", ""), case.get("status")
    if status in (None, 200) and (answer := _answer(body)) is not None:
        return _class_of_reply(found, answer)
    fault: Fault = fault_from(status, case.get("headers", {}), body)
    found.error = error_from(fault, provider=provider)
    found.facts["overflow"] = recognize(fault, provider=provider)
    return next((name for kind, name in _CLASSES if isinstance(found.error, kind)), "none")


def _answer(body: Any) -> LLMResponse | None:
    """The reply that a body of status 200 is; None for an error in its place, whatever shape that has."""
    if not isinstance(body, Mapping) or "error" in body or body.get("status") == "failed":
        return None
    if "stopReason" in body:  # Bedrock's Converse, for which there is no format: its usage has a reader
        texts = [TextPart(block["text"]) for block in body["output"]["message"]["content"] if "text" in block]
        message = Message("assistant", tuple(texts) or None)
        return LLMResponse(message, usage_from("bedrock", body.get("usage")), finish_reason=body["stopReason"])
    api = next((api for key, api in _SHAPES.items() if key in body), None)
    return None if api is None else api.response_from_body(body)


def _class_of_reply(found: Found, response: LLMResponse) -> str:
    window = found.case.get("window") or found.case.get("known_window")
    overflow = overflow_of_finish(response.finish_reason, response.message, response.usage, window=window)
    found.facts["overflow"] = overflow
    if overflow is not None:
        return "context_overflow"
    return "output_limit" if response.finish_reason in ("length", "max_tokens") else "none"


def check_response(found: Found) -> None:
    """A reply whose prompt may have been cut."""
    case, body = found.case, found.case["body"]
    if "done" in body:
        body = {"message": {"role": "assistant", "content": "…"}} | body
    response = _answer(body) or LLMResponse(Message("assistant", "…"), usage_from("openai-chat", body.get("usage")))
    window = case.get("num_ctx") or case.get("window")
    cut = overflow_of_finish(response.finish_reason, response.message, response.usage, window=window)
    if cut is None and "estimate" in case:
        cut = silent_truncation(
            case["estimate"],
            response.usage,
            cached_reported=case.get("provider") != "ollama",
            window=window,
            finish_reason=response.finish_reason,
        )
    found.value = "silent_truncation" if cut is not None and cut.kind == "silent" else "none"
    found.facts["learned"] = cut.limit if cut is not None else None


def check_responses(found: Found) -> None:
    """Several calls of one conversation."""
    before, counter = NOTHING_SEEN, CalibratedCounter()
    found.value, found.facts["learned"] = "none", None
    for call in found.case["calls"]:
        usage = _usage_of(call)
        cut = silent_truncation(
            call["estimate"], usage, cached_reported=False, before=before, window=found.case.get("num_ctx")
        )
        before = seen(before, call["estimate"], usage, is_cut=cut is not None)
        if cut is not None:
            found.value, found.facts["learned"] = "silent_truncation", cut.limit
        elif usage is not None:
            counter.observe(None, call["estimate"], usage.prompt_tokens)
    found.facts["ratio"] = counter.ratio(None)


def _usage_of(call: Mapping[str, Any]) -> Usage | None:
    """The usage of one call, told as OpenAI's format does or as Ollama's."""
    known = usage_from("openai-chat", call.get("usage"))
    return known or usage_from("ollama", call.get("body") or call.get("usage"))


def learn_window(found: Found) -> None:
    """Which of several windows holds: the operator's, the server's, a published one; and what a refusal told.

    An operator may want less than the server has, and cannot have more.
    """
    case = found.case
    served = _asked(case["server"], case.get("provider", "")) if "server" in case else None
    window = min(filter(None, (case.get("configured"), served)), default=case.get("catalog"))
    reserve = case.get("configured_max_output") or case.get("catalog_max_output") or 0
    fitter = PromptFitter(ContextPolicy(window or _UNKNOWN, reserve_output=reserve))
    for error in [case["error"]] if "error" in case else case.get("errors", ()):
        overflow = recognize(fault_from(case.get("status", 400), {}, error), provider=case.get("provider", ""))
        if overflow is not None and overflow.limit and overflow.kind == "tokens":
            fitter.learn_window(None, overflow.limit)
    settings = fitter.gauge([]).settings
    found.value, found.facts["max_output"] = settings.window_tokens, settings.reserve_tokens


def _asked(server: Mapping[str, Any], provider: str) -> int | None:
    """What a server says that was started so, as far as it says anything."""
    from tests.llm.test_windows import MODEL, Documents

    client, path = ("ollama", "") if provider == "ollama" else ("openai", "/v1")
    with Documents(_documents(server, MODEL)) as served:
        try:
            return window_of(aaa.llm.client(f"{client}:{MODEL}", base_url=served.url + path, api_key="k"))(None)
        except ClientSetupError:
            return None


def _documents(server: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The documents in which servers tell it: llama-server, LM Studio, Ollama, and those that list it by model."""
    listed = {
        key: server[key]
        for key in ("max_model_len", "context_length", "context_window", "top_provider")
        if key in server
    }
    documents: dict[str, Any] = {
        "/v1/models": {"data": [{"id": model, "meta": {"n_ctx_train": server.get("n_ctx_train")}, **listed}]}
    }
    if "n_ctx" in server:
        documents["/props"] = {"default_generation_settings": {"n_ctx": server["n_ctx"]}}
    if "loaded_context_length" in server:
        documents["/api/v0/models"] = {"data": [{"id": model, **server}]}
    if loaded := server.get("num_ctx", server.get("context_length")):
        documents["/api/ps"] = {"models": [{"name": model, "context_length": loaded}]}
    if "model_info" in server or "parameters" in server:
        documents["/api/show"] = {key: server[key] for key in ("model_info", "parameters") if key in server}
    return documents


class _Recorder:
    """A client that keeps what it would send to a provider."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
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
    provider = named(case.get("provider", "ollama"))
    client = _Recorder(provider)

    async def ask(run: Any, _: Any) -> str:
        return (await run.llm(found.before)).message.text

    async def once() -> None:
        async with Engine() as engine:
            policy = ContextPolicy(case["window"], reserve_output=case.get("reserve_output", 0))
            LLMHandler(client, context=policy).attach(engine)
            await engine.run(Given(ask), None)

    asyncio.run(once())
    api = ollama if provider == "ollama" else openai_chat
    found.facts["body"] = api.request_to_body(client.sent[0])


OPERATIONS = {
    "classify_error": classify_error,
    "check_response": check_response,
    "check_responses": check_responses,
    "learn_window": learn_window,
    "build_request": build_request,
}
