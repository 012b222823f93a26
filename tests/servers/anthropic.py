"""Anthropic's Messages API: `/v1/messages`, `/v1/messages/count_tokens` and `/v1/models`.

`input_tokens` leaves out what was read from and written to the cache; the cache works only where `cache_control`
stands. In a stream the input side comes in `message_start`, the output in `message_delta`.
"""

from collections.abc import Sequence
from typing import Any

from tests.servers.anthropic_blocks import check_message, invalid, text_blocks
from tests.servers.anthropic_options import breakpoints, check_breakpoints, check_options, check_tools
from tests.servers.anthropic_rules import check_conversation
from tests.servers.anthropic_stream import message_events, named_frame
from tests.servers.anthropic_thinking import ThinkingGuard
from tests.servers.base import LocalServer
from tests.servers.counting import BreakpointCache, rendered, tokens
from tests.servers.replies import Fault
from tests.servers.signing import Signer
from tests.servers.transport import Exchange, new_id
from tests.servers.turn import Refused, Turn

__all__ = ["AnthropicServer"]


class AnthropicServer(LocalServer):
    """`anthropic.Anthropic(base_url=server.url, api_key=server.key)`.

    `binds_thinking` binds each thinking block to all that was before it, as the models of the 5.5 generation do.
    `counts_output` is the rule of models before 4.5: prompt and `max_tokens` must fit the window together; without
    it a reply that runs into the window stops with `model_context_window_exceeded`. `takes_prefill` and
    `takes_system` let a conversation end with the assistant, and have system messages inside. `accepts_foreign` takes
    signatures that no server of this account made.
    """

    default_models = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-haiku-4-5")

    def __init__(
        self,
        *args: Any,
        binds_thinking: bool = False,
        counts_output: bool = False,
        takes_prefill: bool = False,
        takes_system: bool = False,
        cache_minimum: int = 0,
        account: str = "org-test",
        accepts_foreign: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self.counts_output = counts_output
        self.takes_prefill = takes_prefill
        self.takes_system = takes_system
        self._thinking = ThinkingGuard(Signer(account, accepts_foreign=accepts_foreign), binds_thinking)
        self._breakpoints = BreakpointCache(cache_minimum)

    def route(self, exchange: Exchange) -> None:
        if "anthropic-version" not in exchange.headers:
            raise invalid("anthropic-version: header is required")
        if (exchange.method, exchange.path) == ("GET", "/v1/models"):
            return exchange.answer(200, self._models())
        body = self.read_body(exchange)
        if not isinstance(body.get("model"), str):
            raise invalid("model: Field required")
        if exchange.path == "/v1/messages/count_tokens":
            self.check_model(body["model"])
            self.check(body, exchange)
            return exchange.answer(200, {"input_tokens": tokens("".join(self.pieces(body)))})
        if exchange.path != "/v1/messages":
            raise Refused(404, "Not Found", type="not_found_error")
        self.generate(exchange, body, body["model"])

    def check_key(self, exchange: Exchange) -> None:
        bearer = exchange.headers.get("authorization", "").removeprefix("Bearer ")  # what the SDK sends since 2.0
        given = exchange.headers.get("x-api-key") or bearer
        if self.key is not None and given != self.key:
            message = "invalid x-api-key" if given else "x-api-key header is required"
            raise Refused(401, message, type="authentication_error")

    def check(self, body: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
        check_options(body, counts_only=exchange.path.endswith("count_tokens"))
        asked = body.get("max_tokens")
        if self.max_output is not None and asked is not None and asked > self.max_output:
            raise invalid(
                f"max_tokens: {asked} > {self.max_output}, which is the maximum allowed number of output tokens for "
                f"{body['model']}"
            )
        check_tools(body)
        for index, message in enumerate(body["messages"]):
            check_message(message, index)
        check_breakpoints(body)
        check_conversation(body["messages"], takes_prefill=self.takes_prefill, takes_system=self.takes_system)
        return {"dropped": self._thinking.check(body, exchange.headers.get("anthropic-beta", ""))}

    def unknown_model(self, model: str) -> Refused:
        return Refused(404, f"model: {model}", type="not_found_error")

    def too_many_bytes(self, size: int) -> Refused:
        return Refused(413, "Request exceeds the maximum size", type="request_too_large")

    def pieces(self, body: dict[str, Any]) -> list[str]:
        return [rendered(part) for part in _parts(body)]

    def take(self, turn: Turn) -> None:
        marked = [any(breakpoints(part)) for part in _parts(turn.body)]
        marked[-1] |= bool(turn.body.get("cache_control"))
        blocks = list(zip(turn.pieces, marked, strict=True))
        turn.cached_tokens, turn.written_tokens = self._breakpoints.read(blocks)

    def output_limit(self, turn: Turn) -> int | None:
        return min(turn.body["max_tokens"], self._room(turn))

    def _room(self, turn: Turn) -> int:
        """Tokens that the window has left for the reply."""
        return turn.body["max_tokens"] if self.window is None else max(0, self.window - turn.prompt_tokens)

    def overflow(self, turn: Turn) -> Refused | None:
        asked, prompt_tokens = turn.body["max_tokens"], turn.prompt_tokens
        if self.window is None:
            return None
        if prompt_tokens > self.window:
            return invalid(f"prompt is too long: {prompt_tokens} tokens > {self.window} maximum")
        if self.counts_output and prompt_tokens + asked > self.window:
            return invalid(
                f"input length and `max_tokens` exceed context limit: {prompt_tokens} + {asked} > {self.window}, "
                "decrease input length or `max_tokens` and try again"
            )
        return None

    def fault(self, fault: Fault) -> Refused:
        match fault.kind:
            case "rate_limit":
                return _rate_limit(fault.retry_after or 1.0)
            case "auth_error":
                return Refused(401, "invalid x-api-key", type="authentication_error")
            case "overloaded":
                return Refused(fault.status or 529, "Overloaded", type="overloaded_error")
            case "overflow":
                limit = self.window or 200_000
                return invalid(f"prompt is too long: {limit + 1} tokens > {limit} maximum")
        return Refused(fault.status or 500, "Internal server error", type="api_error")

    def error_body(self, refused: Refused) -> Any:
        error = {"type": refused.fields.get("type", "invalid_request_error"), "message": refused.message}
        return {"type": "error", "error": error, "request_id": new_id("req_")}

    def error_frames(self, refused: Refused) -> Sequence[bytes]:
        return [named_frame(self.error_body(refused))]

    def reply_body(self, turn: Turn) -> Any:
        content = self._content(turn)
        self._thinking.remember(content)
        dropped = turn.notes["dropped"]
        return {
            "id": new_id("msg_01", 22),
            "type": "message",
            "role": "assistant",
            "model": turn.model,
            "content": content,
            **self._stop(turn),
            "usage": self._usage(turn),
            **({"input_transformations": dropped} if dropped else {}),
        }

    def _content(self, turn: Turn) -> list[dict[str, Any]]:
        reply = turn.reply
        content = self._thinking.blocks(turn.body, reply)
        content += [{"type": "text", "text": reply.text}] * bool(reply.text)
        for call in reply.calls:
            is_cut = reply.is_cut and call is reply.calls[-1]
            id = call.id or new_id("toolu_01", 22)
            content.append(
                {"type": "tool_use", "id": id, "name": call.name, "input": {} if is_cut else dict(call.arguments)}
            )
        return content

    def _stop(self, turn: Turn) -> dict[str, Any]:
        reply, room = turn.reply, self._room(turn)
        reason, details = "tool_use" if reply.calls else "end_turn", None
        if reply.is_cut:
            is_full = room < turn.body["max_tokens"] and tokens(reply.text) >= room
            reason = "model_context_window_exceeded" if is_full else "max_tokens"
        elif reply.refusal is not None:
            reason, details = "refusal", {"type": "refusal", "category": None, "explanation": reply.refusal}
        return {"stop_reason": reason, "stop_sequence": None, "stop_details": details}

    @staticmethod
    def _usage(turn: Turn) -> dict[str, Any]:
        return {
            "input_tokens": turn.prompt_tokens - turn.cached_tokens - turn.written_tokens,
            "cache_creation_input_tokens": turn.written_tokens,
            "cache_read_input_tokens": turn.cached_tokens,
            "cache_creation": {
                "ephemeral_5m_input_tokens": turn.written_tokens,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": turn.output_tokens,
            "service_tier": "standard",
        }

    def frames(self, turn: Turn) -> Sequence[bytes]:
        return [named_frame(event) for event in message_events(self.reply_body(turn), turn.reply)]

    def _models(self) -> dict[str, Any]:
        names = list(self.models or self.default_models)
        limits = {"max_input_tokens": self.window, "max_tokens": self.max_output}
        entries = [
            {"id": name, "type": "model", "display_name": name, "created_at": "2026-01-01T00:00:00Z", **limits}
            for name in names
        ]
        return {"data": entries, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def _parts(body: dict[str, Any]) -> list[Any]:
    """The prompt block by block."""
    head = [*(body.get("tools") or ()), *text_blocks(body.get("system") or [])]
    return head + [[m["role"], block] for m in body["messages"] for block in text_blocks(m["content"])]


def _rate_limit(retry_after: float) -> Refused:
    message = (
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute. For details, "
        "refer to: https://docs.claude.com/en/api/rate-limits."
    )
    headers = {
        "retry-after": f"{max(1, round(retry_after))}",
        "anthropic-ratelimit-input-tokens-limit": "30000",
        "anthropic-ratelimit-input-tokens-remaining": "0",
    }
    return Refused(429, message, headers=headers, type="rate_limit_error")
