"""What OpenAI's two APIs share: keys, errors, faults.

Error bodies are `{"error": {"message", "type", "param", "code"}}`. Texts: the fact sheet's sources, and bodies quoted
in public issues up to November 2026.
"""

from collections.abc import Sequence
from typing import Any

from tests.servers.base import LocalServer
from tests.servers.openai_checks import invalid
from tests.servers.replies import Fault
from tests.servers.transport import Exchange, dumped, new_id
from tests.servers.turn import Refused, Turn

__all__ = ["OpenAIServer", "sse"]

_REASONING = ("o1", "o3", "o4", "gpt-5", "gpt-6")
_BILLS_WRITES = ("gpt-5.6", "gpt-6")
NO_KEY = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
    "(i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API "
    "from your browser and are prompted for a username and password. You can obtain an API key from "
    "https://platform.openai.com/account/api-keys."
)


class OpenAIServer(LocalServer):
    """The part of OpenAI that is the same for both APIs."""

    def check_key(self, exchange: Exchange) -> None:
        given = exchange.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if self.key is None or given == self.key:
            return
        if not given:
            raise invalid(NO_KEY, status=401)
        raise invalid(
            f"Incorrect API key provided: {given[:3]}***. You can find your API key at "
            "https://platform.openai.com/account/api-keys.",
            code="invalid_api_key",
            status=401,
        )

    def unknown_model(self, model: str) -> Refused:
        message = f"The model `{model}` does not exist or you do not have access to it."
        return invalid(message, code="model_not_found", status=404)

    def error_body(self, refused: Refused) -> Any:
        fields = {"type": "invalid_request_error", "param": None, "code": None} | refused.fields
        return {"error": {"message": refused.message, **fields}}

    def fault(self, fault: Fault) -> Refused:
        match fault.kind:
            case "rate_limit":
                return _rate_limit(fault.retry_after or 1.0)
            case "auth_error":
                return invalid("Incorrect API key provided: ***.", code="invalid_api_key", status=401)
            case "overflow":
                return self.overflow_error(self.window or 8192, (self.window or 8192) + 1)
            case "overloaded":
                message = "The engine is currently overloaded, please try again later"
                return Refused(fault.status or 503, message, type="server_error", param=None, code="server_overloaded")
        message = f"The server had an error while processing your request. Sorry about that! ({new_id('req_', 32)})"
        return Refused(fault.status or 500, message, type="server_error", param=None, code="server_error")

    def overflow_error(self, limit: int, prompt_tokens: int) -> Refused:
        raise NotImplementedError

    def is_reasoning(self, model: str) -> bool:
        return model.startswith(_REASONING)

    def check_sampling(self, body: dict[str, Any], model: str) -> None:
        """Reasoning models take no temperature but 1."""
        given = body.get("temperature")
        if self.is_reasoning(model) and given not in (None, 1):
            raise invalid(
                f"Unsupported value: 'temperature' does not support {given} with this model. Only the default (1) "
                "value is supported.",
                "temperature",
                "unsupported_value",
            )

    def cache_details(self, turn: Turn) -> dict[str, int]:
        details = {"cached_tokens": turn.cached_tokens}
        if turn.model.startswith(_BILLS_WRITES):
            details["cache_write_tokens"] = turn.prompt_tokens - turn.cached_tokens
        return details

    def models_body(self) -> dict[str, Any]:
        names = self.models or self.default_models
        entries = [{"id": name, "object": "model", "created": 1700000000, "owned_by": "test"} for name in names]
        return {"object": "list", "data": entries}

    def route_models(self, exchange: Exchange) -> None:
        """Everything but the path that gives replies."""
        if exchange.method == "GET" and exchange.path == "/v1/models":
            return exchange.answer(200, self.models_body())
        raise invalid(f"Invalid URL ({exchange.method} {exchange.path})", status=404)


def sse(*values: Any) -> Sequence[bytes]:
    """Server-sent events without names."""
    return [b"data: %b\n\n" % dumped(value) for value in values]


def _rate_limit(retry_after: float) -> Refused:
    message = (
        "Rate limit reached for the model in organization org-test on tokens per min (TPM): Limit 30000, Used 29000, "
        f"Requested 2000. Please try again in {retry_after:g}s."
    )
    headers = {
        "retry-after": f"{max(1, round(retry_after))}",
        "retry-after-ms": f"{round(retry_after * 1000)}",
        "x-ratelimit-limit-tokens": "30000",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": f"{retry_after:g}s",
    }
    return Refused(429, message, headers=headers, type="tokens", param=None, code="rate_limit_exceeded")
