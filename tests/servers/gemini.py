"""The Gemini API: `generateContent`, `streamGenerateContent?alt=sse`, `countTokens` and the list of models.

`candidatesTokenCount` leaves the thoughts out. Every chunk of a stream carries the usage so far. A missing key is 403
here and a wrong one 400, as it is there.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Any

from tests.servers.base import LocalServer
from tests.servers.counting import rendered, tokens
from tests.servers.gemini_fields import camel, check_body, invalid
from tests.servers.gemini_rules import check_contents
from tests.servers.replies import Fault, Reply
from tests.servers.signing import Signer, digest
from tests.servers.transport import Exchange, dumped, new_id
from tests.servers.turn import Refused, Turn, pieces_of

__all__ = ["GeminiServer"]

_PATH = re.compile(r"/v1(?:alpha|beta)?/models(?:/([^/:]+)(?::(\w+))?)?")
_NEEDS_SIGNATURES = ("gemini-3", "gemini-4")
_DUMMIES = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
_RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"
_ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"


class GeminiServer(LocalServer):
    """`genai.Client(api_key=server.key, http_options=types.HttpOptions(base_url=server.url))`.

    `needs_signatures` turns the rules of Gemini 3 on or off; by default the name of the model says. With them calls
    have ids, and replies carry thought signatures. `accepts_foreign` takes signatures that no server of this account
    made.
    """

    default_models = ("gemini-3-pro-preview", "gemini-2.5-flash")
    byte_limit = 20_971_520

    def __init__(
        self,
        *args: Any,
        needs_signatures: bool | None = None,
        account: str = "project-test",
        accepts_foreign: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self._needs_signatures = needs_signatures
        self._signer = Signer(account, accepts_foreign=accepts_foreign)

    def needs_signatures(self, model: str) -> bool:
        given = self._needs_signatures
        return model.startswith(_NEEDS_SIGNATURES) if given is None else given

    def route(self, exchange: Exchange) -> None:
        found = _PATH.fullmatch(exchange.path)
        if found is None:
            raise Refused(404, "Not Found", status="NOT_FOUND")
        model, method = found[1], found[2]
        if model is None:
            names = self.models or self.default_models
            return exchange.answer(200, {"models": [self._model(name) for name in names]})
        if method is None:
            self.check_model(model)
            return exchange.answer(200, self._model(model))
        body = camel(self.read_body(exchange))
        if method == "countTokens":
            body = {**body, **body.pop("generateContentRequest", {})}
            self.check_model(model)
            return exchange.answer(200, {"totalTokens": tokens("".join(self.pieces(body)))})
        if method not in ("generateContent", "streamGenerateContent"):
            raise Refused(404, "Not Found", status="NOT_FOUND")
        self.generate(exchange, body, model)

    def check_key(self, exchange: Exchange) -> None:
        given = exchange.headers.get("x-goog-api-key") or exchange.query.get("key")
        if self.key is None or given == self.key:
            return
        if given is None:
            raise Refused(
                403,
                "Method doesn't allow unregistered callers (callers without established identity). Please use API Key "
                "or other form of API consumer identity to call this API.",
                status="PERMISSION_DENIED",
            )
        raise _bad_key()

    def check(self, body: dict[str, Any], exchange: Exchange) -> None:
        model = _PATH.fullmatch(exchange.path)[1]  # type: ignore[index]
        check_body(body)
        asked = _asked(body)
        if self.max_output is not None and asked is not None and asked > self.max_output:
            raise invalid(
                f"Unable to submit request because it has a maxOutputTokens value of {asked} but the supported range "
                f"is from 1 (inclusive) to {self.max_output + 1} (exclusive). Update the value and try again."
            )
        check_contents(body, needs_signatures=self.needs_signatures(model), accepts=self._accepts)

    def _accepts(self, signature: str) -> bool:
        if self._signer.accepts_foreign:
            return True
        encoded = [base64.urlsafe_b64encode(dummy.encode()).decode() for dummy in _DUMMIES]
        return signature in (*_DUMMIES, *encoded) or self._signer.open(signature) is not None

    def is_stream(self, body: dict[str, Any], exchange: Exchange) -> bool:
        return exchange.path.endswith(":streamGenerateContent")

    def unknown_model(self, model: str) -> Refused:
        return Refused(
            404,
            f"models/{model} is not found for API version v1beta, or is not supported for generateContent. Call "
            "ListModels to see the list of available models and their supported methods.",
            status="NOT_FOUND",
        )

    def too_many_bytes(self, size: int) -> Refused:
        return invalid(f"Request payload size exceeds the limit: {self.most_bytes} bytes.")

    def pieces(self, body: dict[str, Any]) -> list[str]:
        head = [*(body.get("tools") or ()), *([body["systemInstruction"]] if "systemInstruction" in body else [])]
        return [rendered(piece) for piece in [*head, *(body.get("contents") or ())]]

    def output_limit(self, turn: Turn) -> int | None:
        return _asked(turn.body)

    def overflow(self, turn: Turn) -> Refused | None:
        if self.window is None or turn.prompt_tokens <= self.window:
            return None
        return _overflow(turn.prompt_tokens, self.window)

    def fault(self, fault: Fault) -> Refused:
        match fault.kind:
            case "rate_limit":
                return _rate_limit(fault.retry_after or 1.0)
            case "auth_error":
                return _bad_key()
            case "overflow":
                return _overflow((self.window or 1_048_576) + 1, self.window or 1_048_576)
            case "overloaded":
                message = "The model is overloaded. Please try again later."
                return Refused(fault.status or 503, message, status="UNAVAILABLE")
        message = "An internal error has occurred. Please retry or report in https://developers.generativeai.google"
        return Refused(fault.status or 500, message, status="INTERNAL")

    def error_body(self, refused: Refused) -> Any:
        status = refused.fields.get("status", "INVALID_ARGUMENT")
        details = {"details": refused.fields["details"]} if "details" in refused.fields else {}
        return {"error": {"code": refused.status, "message": refused.message, "status": status, **details}}

    def error_frames(self, refused: Refused) -> Sequence[bytes]:
        return [_frame(self.error_body(refused))]

    def reply_body(self, turn: Turn) -> Any:
        content = {"role": "model", **({"parts": parts} if (parts := list(self._parts(turn))) else {})}
        return self._chunk(turn, {"content": content, **_finish(turn.reply)})

    def frames(self, turn: Turn) -> Sequence[bytes]:
        parts = [piece for part in self._parts(turn) for piece in _pieces(part)] or [{"text": ""}]
        candidates = [{"content": {"role": "model", "parts": [part]}} for part in parts]
        candidates[-1] |= _finish(turn.reply)
        return [_frame(self._chunk(turn, candidate)) for candidate in candidates]

    def _parts(self, turn: Turn) -> Iterator[dict[str, Any]]:
        """The parts of a reply; the signature stands on the first call, or on the last text where there is none."""
        reply = turn.reply
        signs = self.needs_signatures(turn.model) or reply.thinking is not None
        signature = {"thoughtSignature": self._signer.seal(thought=digest(reply.thinking or ""))} if signs else {}
        config = (turn.body.get("generationConfig") or {}).get("thinkingConfig") or {}
        if reply.thinking and config.get("includeThoughts"):
            yield {"text": reply.thinking, "thought": True}
        if reply.text:
            yield {"text": reply.text, **({} if reply.calls else signature)}
        if reply.image is not None:
            yield {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(reply.image).decode()}}
        for index, call in enumerate(reply.calls[:-1] if reply.is_cut else reply.calls):
            id = call.id or (new_id("", 8) if self.needs_signatures(turn.model) else None)
            function = {"name": call.name, "args": dict(call.arguments), **({"id": id} if id else {})}
            yield {"functionCall": function, **({} if index else signature)}

    def _chunk(self, turn: Turn, candidate: dict[str, Any]) -> dict[str, Any]:
        return {
            "candidates": [{**candidate, "index": 0}],
            "usageMetadata": self._usage(turn),
            "modelVersion": turn.model,
            "responseId": turn.notes.setdefault("id", new_id("", 23)),
        }

    @staticmethod
    def _usage(turn: Turn) -> dict[str, Any]:
        counts = {
            "promptTokenCount": turn.prompt_tokens,
            "cachedContentTokenCount": turn.cached_tokens,
            "candidatesTokenCount": turn.output_tokens - turn.thinking_tokens,
            "thoughtsTokenCount": turn.thinking_tokens,
            "totalTokenCount": turn.prompt_tokens + turn.output_tokens,
        }
        details = [{"modality": "TEXT", "tokenCount": turn.prompt_tokens}]
        return {**{key: value for key, value in counts.items() if value}, "promptTokensDetails": details}

    def _model(self, name: str) -> dict[str, Any]:
        limits = {"inputTokenLimit": self.window or 1_048_576, "outputTokenLimit": self.max_output or 65_536}
        methods = ["generateContent", "countTokens"]
        return {"name": f"models/{name}", "displayName": name, **limits, "supportedGenerationMethods": methods}


def _asked(body: dict[str, Any]) -> int | None:
    return (body.get("generationConfig") or {}).get("maxOutputTokens")


def _finish(reply: Reply) -> dict[str, Any]:
    if reply.refusal is not None:
        return {"finishReason": "SAFETY", "finishMessage": reply.refusal}
    if reply.is_cut:
        return {"finishReason": "MAX_TOKENS"}
    return {"finishReason": "STOP"} | ({"finishMessage": "Model generated function call(s)."} if reply.calls else {})


def _pieces(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A part as its chunks; a signature comes with an empty text at the end."""
    if "text" not in part:
        yield part
        return
    yield from (
        {**{key: value for key, value in part.items() if key == "thought"}, "text": piece}
        for piece in pieces_of(part["text"])
    )
    if "thoughtSignature" in part:
        yield {"text": "", "thoughtSignature": part["thoughtSignature"]}


def _frame(value: Any) -> bytes:
    return b"data: %b\r\n\r\n" % dumped(value)


def _overflow(prompt_tokens: int, limit: int) -> Refused:
    return invalid(f"The input token count ({prompt_tokens}) exceeds the maximum number of tokens allowed ({limit}).")


def _bad_key() -> Refused:
    details = [{"@type": _ERROR_INFO, "reason": "API_KEY_INVALID", "domain": "googleapis.com"}]
    return Refused(400, "API key not valid. Please pass a valid API key.", status="INVALID_ARGUMENT", details=details)


def _rate_limit(retry_after: float) -> Refused:
    message = (
        "You exceeded your current quota, please check your plan and billing details. For more information on this "
        f"error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. \nPlease retry in {retry_after:g}s."
    )
    details = [{"@type": _RETRY_INFO, "retryDelay": f"{retry_after:g}s"}]
    return Refused(429, message, status="RESOURCE_EXHAUSTED", details=details)
