"""OpenAI's Responses API: `/v1/responses`, `/v1/responses/input_tokens` and `/v1/models`."""

from collections.abc import Sequence
from typing import Any, Literal

from tests.servers.counting import rendered, tokens
from tests.servers.openai_base import OpenAIServer
from tests.servers.openai_checks import invalid
from tests.servers.openai_responses_items import ItemMemory, encrypted
from tests.servers.openai_responses_rules import check_item, check_tools, check_top
from tests.servers.openai_responses_stream import item_events, named_frames, output_items
from tests.servers.signing import Signer
from tests.servers.transport import Exchange, new_id
from tests.servers.turn import Refused, Turn

__all__ = ["OpenAIResponsesServer"]

StreamFailure = Literal["failed", "error", "nested", "status"]


class OpenAIResponsesServer(OpenAIServer):
    """`openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.key)`.

    `stream_failure` is how a request that asked for a stream learns that it is too large: by `response.failed`, by an
    `error` event, by one whose fields are nested under `error`, or by status 400 before any stream. `accepts_foreign`
    takes encrypted reasoning that no server of this account made.
    """

    default_models = ("gpt-5", "gpt-5.6", "gpt-4.1")

    def __init__(
        self,
        *args: Any,
        stream_failure: StreamFailure = "failed",
        account: str = "org-test",
        accepts_foreign: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self.stream_failure = stream_failure
        self._signer = Signer(account, accepts_foreign=accepts_foreign)
        self._memory = ItemMemory(self._signer)

    def route(self, exchange: Exchange) -> None:
        if exchange.method != "POST":
            return self.route_models(exchange)
        body = self.read_body(exchange)
        if not isinstance(body.get("model"), str):
            raise invalid("Missing required parameter: 'model'.", "model", "missing_required_parameter")
        if exchange.path == "/v1/responses/input_tokens":
            self.check(body, exchange)
            count = tokens("".join(self.pieces(body)))
            return exchange.answer(200, {"object": "response.input_tokens", "input_tokens": count})
        if exchange.path != "/v1/responses":
            return self.route_models(exchange)
        self.generate(exchange, body, body["model"])

    def check(self, body: dict[str, Any], exchange: Exchange) -> None:
        check_top(body)
        self.check_sampling(body, body["model"])
        check_tools(body)
        for index, item in enumerate(_input_items(body)):
            check_item(item, index)
        self._memory.check(self._items(body))

    def _items(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The whole conversation: what a stored response brings along, and what was sent."""
        return self._memory.before(body.get("previous_response_id")) + self._memory.resolved(_input_items(body))

    def pieces(self, body: dict[str, Any]) -> list[str]:
        head = [*(body.get("tools") or ()), *([body["instructions"]] if body.get("instructions") else [])]
        return [rendered(piece) for piece in [*head, *self._items(body)]]

    def output_limit(self, turn: Turn) -> int | None:
        return turn.body.get("max_output_tokens")

    def overflow(self, turn: Turn) -> Refused | None:
        if self.window is None or turn.prompt_tokens <= self.window or turn.body.get("truncation") == "auto":
            return None
        return self.overflow_error(self.window, turn.prompt_tokens)

    def overflow_error(self, limit: int, prompt_tokens: int) -> Refused:
        message = "Your input exceeds the context window of this model. Please adjust your input and try again."
        return invalid(message, "input", "context_length_exceeded")

    def answer_overflow(self, exchange: Exchange, turn: Turn, refused: Refused) -> None:
        if self.stream_failure == "status" or not self.is_stream(turn.body, exchange):
            return self.refuse(exchange, refused)
        head = self._head(turn.body, new_id("resp_", 48))
        frames = named_frames([_event("response.created", head), _event("response.in_progress", head)])
        exchange.stream([*frames, *self.error_frames(refused)], self.stream_type)
        exchange.end()

    def take(self, turn: Turn) -> None:
        super().take(turn)
        if self.window is not None:  # with truncation "auto" the beginning is dropped, and nobody is told
            turn.prompt_tokens = min(turn.prompt_tokens, self.window)
            turn.cached_tokens = min(turn.cached_tokens, turn.prompt_tokens)

    def reply_body(self, turn: Turn) -> Any:
        response = {**self._head(turn.body, new_id("resp_", 48)), "status": "completed", "output": self._output(turn)}
        if turn.reply.is_cut:
            response |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        self._memory.bind(response["output"])
        if turn.body.get("store") is not False:
            self._memory.keep(response["id"], self._items(turn.body), response["output"])
        return {**response, "usage": self._usage(turn)}

    def frames(self, turn: Turn) -> Sequence[bytes]:
        response = self.reply_body(turn)
        head = self._head(turn.body, response["id"])
        events = [_event("response.created", head), _event("response.in_progress", head)]
        for index, item in enumerate(response["output"]):
            events += item_events(index, item)
        return named_frames([*events, _event(f"response.{response['status']}", response)])

    def error_frames(self, refused: Refused) -> Sequence[bytes]:
        code, param = refused.fields.get("code"), refused.fields.get("param")
        error = {"code": code, "message": refused.message, "param": param}
        event: dict[str, Any] = {"type": "error", **error}
        if self.stream_failure == "nested":
            event = {"type": "error", "error": {"type": refused.fields.get("type"), **error}}
        elif self.stream_failure == "failed":
            failed = {"status": "failed", "error": {"code": code, "message": refused.message}}
            event = _event("response.failed", {**self._head({}, new_id("resp_", 48)), **failed})
        return named_frames([event], 1000)

    def _output(self, turn: Turn) -> list[dict[str, Any]]:
        has_summary = bool((turn.body.get("reasoning") or {}).get("summary"))
        items = output_items(turn.reply, has_summary=has_summary)
        if "reasoning.encrypted_content" in (turn.body.get("include") or ()):
            for item in items:
                if item["type"] == "reasoning":
                    item["encrypted_content"] = encrypted(self._signer, item["id"])
        return items

    @staticmethod
    def _head(body: dict[str, Any], id: str) -> dict[str, Any]:
        return {
            "id": id,
            "object": "response",
            "created_at": 1700000000,
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "max_output_tokens": body.get("max_output_tokens"),
            "model": body.get("model", "unknown"),
            "output": [],
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "previous_response_id": body.get("previous_response_id"),
            "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
            "store": body.get("store") is not False,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools") or [],
            "top_p": 1.0,
            "truncation": body.get("truncation") or "disabled",
            "usage": None,
            "user": None,
            "metadata": {},
        }

    def _usage(self, turn: Turn) -> dict[str, Any]:
        return {
            "input_tokens": turn.prompt_tokens,
            "input_tokens_details": self.cache_details(turn),
            "output_tokens": turn.output_tokens,
            "output_tokens_details": {"reasoning_tokens": turn.thinking_tokens},
            "total_tokens": turn.prompt_tokens + turn.output_tokens,
        }


def _input_items(body: dict[str, Any]) -> list[Any]:
    given = body.get("input") or []
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _event(type: str, response: dict[str, Any]) -> dict[str, Any]:
    return {"type": type, "response": response}
