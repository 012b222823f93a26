"""Ollama's native API: `/api/chat`, `/api/show`, `/api/ps`, `/api/tags` and `/api/version`.

A chat is streamed unless told otherwise, as lines of JSON. A prompt that is too long is cut without a word, and
`prompt_eval_count` is that of what was left.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from tests.servers.base import LocalServer
from tests.servers.counting import rendered, tokens
from tests.servers.ollama_rules import TOO_LONG, check_body, kept_indices
from tests.servers.replies import Fault, Reply
from tests.servers.transport import Exchange, dumped
from tests.servers.turn import Refused, Turn, pieces_of

__all__ = ["OllamaServer"]

_CREATED = "2026-01-01T00:00:00.000000Z"
_DETAILS = {"format": "gguf", "family": "llama", "parameter_size": "8.0B", "quantization_level": "Q4_K_M"}
_DEFAULT_WINDOW = 4096


class OllamaServer(LocalServer):
    """`ollama.Client(host=server.url)`.

    `window` is what the server loads a model with if the request has no `options.num_ctx` (4096 without either);
    `trained` is the model's own limit, which caps both. `seen` holds, for each reply, the messages that were left
    after dropping, and `dropped` how many were not.
    """

    default_models = ("llama3.1:latest", "qwen3:8b")
    stream_type = "application/x-ndjson"

    def __init__(
        self,
        *args: Any,
        trained: int = 131_072,
        capabilities: Collection[str] = ("completion", "tools", "thinking", "vision"),
        key: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*args, key=key, **settings)
        self.trained = trained
        self.capabilities = capabilities
        self.loaded: dict[str, int] = {}
        self.seen: list[list[dict[str, Any]]] = []
        self.dropped: list[int] = []

    def route(self, exchange: Exchange) -> None:
        match exchange.method, exchange.path:
            case "GET", "/api/version":
                exchange.answer(200, {"version": "0.40.0"})
            case "GET", "/api/tags":
                exchange.answer(200, {"models": [self._entry(name) for name in self.models or self.default_models]})
            case "GET", "/api/ps":
                exchange.answer(200, {"models": [self._process(name) for name in self.loaded]})
            case "POST", "/api/show":
                exchange.answer(200, self._show(self.read_body(exchange)))
            case "POST", "/api/chat":
                self._chat(exchange, self.read_body(exchange))
            case _:
                raise Refused(404, "404 page not found")

    def _chat(self, exchange: Exchange, body: dict[str, Any]) -> None:
        model = str(body.get("model") or "")
        if body.get("messages"):
            return self.generate(exchange, body, model)
        self.check_model(model)  # without messages it only asks for the model to be loaded
        self.check(body, exchange)
        self.loaded[model] = self.window_of(body)
        message = {"role": "assistant", "content": ""}
        loaded = {"model": model, "created_at": _CREATED, "message": message, "done_reason": "load", "done": True}
        exchange.answer(200, _line(loaded))

    def check_key(self, exchange: Exchange) -> None:
        if self.key is not None and exchange.headers.get("authorization") != f"Bearer {self.key}":
            raise Refused(401, "unauthorized")

    def check_model(self, model: str) -> None:
        """A name without a tag means the tag `latest`."""
        if model and self.models is not None:
            known = {name if ":" in name else f"{name}:latest" for name in self.models}
            if (model if ":" in model else f"{model}:latest") not in known:
                raise self.unknown_model(model)

    def unknown_model(self, model: str) -> Refused:
        return Refused(404, f"model '{model}' not found")

    def check(self, body: dict[str, Any], exchange: Exchange) -> None:
        check_body(body, self.capabilities)

    def is_stream(self, body: dict[str, Any], exchange: Exchange) -> bool:
        return body.get("stream") is not False

    def pieces(self, body: dict[str, Any]) -> list[str]:
        return [rendered(piece) for piece in [*(body.get("tools") or ()), *(body.get("messages") or ())]]

    def window_of(self, body: dict[str, Any]) -> int:
        """The context length that is in force for a request."""
        asked = (body.get("options") or {}).get("num_ctx")
        return min(asked or self.window or _DEFAULT_WINDOW, self.trained)

    def output_limit(self, turn: Turn) -> int | None:
        asked = (turn.body.get("options") or {}).get("num_predict")
        return asked if asked is not None and asked > 0 else None

    def overflow(self, turn: Turn) -> Refused | None:
        window = self.loaded[turn.model] = self.window_of(turn.body)
        turn.notes["kept"] = range(len(turn.body["messages"]))
        if turn.body.get("truncate") is not False:
            turn.notes["kept"] = kept_indices(turn.pieces, turn.body["messages"], window)
        return Refused(400, TOO_LONG) if self._tokens_kept(turn) > window else None

    @staticmethod
    def _tokens_kept(turn: Turn) -> int:
        tools = len(turn.body.get("tools") or ())
        return tokens("".join([*turn.pieces[:tools], *(turn.pieces[tools + index] for index in turn.notes["kept"])]))

    def take(self, turn: Turn) -> None:
        messages, kept = turn.body["messages"], turn.notes["kept"]
        turn.prompt_tokens = self._tokens_kept(turn)
        self.seen.append([messages[index] for index in kept])
        self.dropped.append(len(messages) - len(kept))

    def fault(self, fault: Fault) -> Refused:
        match fault.kind:
            case "rate_limit":
                return Refused(429, "too many requests", headers={"retry-after": f"{fault.retry_after or 1:g}"})
            case "auth_error":
                return Refused(401, "unauthorized")
            case "overflow":
                return Refused(400, TOO_LONG)
            case "overloaded":
                message = "server busy, please try again.  maximum pending requests exceeded"
                return Refused(fault.status or 503, message)
        return Refused(fault.status or 500, "llama runner process has terminated: exit status 2")

    def error_body(self, refused: Refused) -> Any:
        return {"error": refused.message}

    def error_frames(self, refused: Refused) -> Sequence[bytes]:
        return [_line(self.error_body(refused))]

    def reply_body(self, turn: Turn) -> Any:
        message: dict[str, Any] = {"role": "assistant", "content": turn.reply.text or turn.reply.refusal or ""}
        if turn.reply.thinking and turn.body.get("think") is not False:
            message["thinking"] = turn.reply.thinking
        if turn.reply.calls:
            message["tool_calls"] = _calls(turn.reply)
        return {**self._head(turn), "message": message, **self._end(turn)}

    def frames(self, turn: Turn) -> Sequence[bytes]:
        body = self.reply_body(turn)
        last = {**self._head(turn), "message": {"role": "assistant", "content": ""}, **self._end(turn)}
        messages = [{"role": "assistant", "content": "", **delta} for delta in _deltas(body["message"])]
        lines = [{**self._head(turn), "message": message, "done": False} for message in messages]
        return [_line(value) for value in [*lines, last]]

    @staticmethod
    def _head(turn: Turn) -> dict[str, Any]:
        return {"model": turn.model, "created_at": _CREATED}

    @staticmethod
    def _end(turn: Turn) -> dict[str, Any]:
        return {
            "done_reason": "length" if turn.reply.is_cut else "stop",
            "done": True,
            "total_duration": 2_000_000,
            "load_duration": 500_000,
            "prompt_eval_count": turn.prompt_tokens,
            "prompt_eval_duration": 500_000,
            "eval_count": turn.output_tokens,
            "eval_duration": 1_000_000,
        }

    def _entry(self, name: str) -> dict[str, Any]:
        return {"name": name, "model": name, "modified_at": _CREATED, "size": 1, "digest": "0", "details": _DETAILS}

    def _process(self, name: str) -> dict[str, Any]:
        loaded = {"expires_at": _CREATED, "size_vram": 1, "context_length": self.loaded[name]}
        return {**self._entry(name), **loaded}

    def _show(self, body: dict[str, Any]) -> dict[str, Any]:
        self.check_model(str(body.get("model") or body.get("name") or ""))
        return {
            "modelfile": "",
            "parameters": "",
            "template": "",
            "details": _DETAILS,
            "model_info": {"general.architecture": "llama", "llama.context_length": self.trained},
            "capabilities": list(self.capabilities),
            "modified_at": _CREATED,
        }


def _calls(reply: Reply) -> list[dict[str, Any]]:
    """Calls without ids, as most models have them; one that was cut is lost."""
    called = reply.calls[:-1] if reply.is_cut else reply.calls
    return [
        {
            **({"id": call.id} if call.id else {}),
            "function": {"index": index, "name": call.name, "arguments": dict(call.arguments)},
        }
        for index, call in enumerate(called)
    ]


def _deltas(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from ({"thinking": piece} for piece in pieces_of(message.get("thinking", "")))
    yield from ({"content": piece} for piece in pieces_of(message["content"]))
    yield from ({"tool_calls": [call]} for call in message.get("tool_calls", ()))


def _line(value: Any) -> bytes:
    return dumped(value) + b"\n"
