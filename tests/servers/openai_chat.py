"""OpenAI's Chat Completions API: `/v1/chat/completions` and `/v1/models`.

Streams are `data:` events that end with `data: [DONE]`; usage comes last, in a chunk without choices, and only with
`stream_options.include_usage`. `reasoning_field` makes it a server like DeepSeek, which shows its thinking in that
field and wants it back in every assistant message of a history that uses tools.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.servers.counting import rendered, tokens
from tests.servers.openai_base import OpenAIServer, sse
from tests.servers.openai_chat_rules import check_messages, check_tools
from tests.servers.openai_checks import check_array, invalid
from tests.servers.replies import Reply
from tests.servers.transport import Exchange, new_id
from tests.servers.turn import Refused, Turn, arguments_of, pieces_of

__all__ = ["OpenAIChatServer"]

_CONFIGURED = ("gpt-5", "gpt-6")  # models whose limit is one on the input alone


class OpenAIChatServer(OpenAIServer):
    """`openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.key)`."""

    default_models = ("gpt-4.1", "gpt-4o", "gpt-5")

    def __init__(
        self, *args: Any, allows_unknown: bool = False, reasoning_field: str | None = None, **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.allows_unknown = allows_unknown
        self.reasoning_field = reasoning_field

    def route(self, exchange: Exchange) -> None:
        if (exchange.method, exchange.path) != ("POST", "/v1/chat/completions"):
            return self.route_models(exchange)
        body = self.read_body(exchange)
        if not isinstance(body.get("model"), str):
            raise invalid("you must provide a model parameter")
        self.generate(exchange, body, body["model"])

    def check(self, body: dict[str, Any], exchange: Exchange) -> None:
        if "messages" not in body:
            raise invalid("Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
        messages = check_array(body["messages"], "messages", 2048)
        self._check_options(body)
        check_tools(body)
        extra = {self.reasoning_field} if self.reasoning_field else set()
        check_messages(messages, None if self.allows_unknown else extra)
        if self.reasoning_field:
            self._check_reasoning(messages, self.reasoning_field)

    def _check_options(self, body: dict[str, Any]) -> None:
        model = body["model"]
        if body.get("stream_options") is not None and not body.get("stream"):
            message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
            raise invalid(message, "stream_options")
        if self.is_reasoning(model) and body.get("max_tokens") is not None:
            raise invalid(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead.",
                "max_tokens",
                "unsupported_parameter",
            )
        self.check_sampling(body, model)
        self._check_output(body)

    def _check_output(self, body: dict[str, Any]) -> None:
        asked = _asked(body)
        if asked is not None and self.max_output is not None and asked > self.max_output:
            raise invalid(
                f"max_tokens is too large: {asked}. This model supports at most {self.max_output} completion tokens, "
                f"whereas you provided {asked}.",
                "max_tokens",
                "invalid_value",
            )

    @staticmethod
    def _check_reasoning(messages: list[dict[str, Any]], field: str) -> None:
        if any(message.get("tool_calls") for message in messages):
            for index, message in enumerate(messages):
                if message["role"] == "assistant" and not isinstance(message.get(field), str):
                    raise invalid(f"Missing `{field}` field in the assistant message at message index {index}.")

    def output_limit(self, turn: Turn) -> int | None:
        return _asked(turn.body)

    def pieces(self, body: dict[str, Any]) -> list[str]:
        return [rendered(piece) for piece in [*(body.get("tools") or ()), *body["messages"]]]

    def overflow(self, turn: Turn) -> Refused | None:
        prompt_tokens = turn.prompt_tokens
        is_on_input = turn.model.startswith(_CONFIGURED)
        output = 0 if is_on_input else self.output_limit(turn) or 0
        if self.window is None or prompt_tokens + output <= self.window:
            return None
        if is_on_input:
            message = (
                f"Input tokens exceed the configured limit of {self.window} tokens. Your messages resulted in "
                f"{prompt_tokens} tokens. Please reduce the length of the messages."
            )
            return invalid(message, "messages", "context_length_exceeded")
        functions = tokens("".join(turn.pieces[: len(turn.body.get("tools") or ())]))
        return self.overflow_error(self.window, prompt_tokens, output, functions)

    def overflow_error(self, limit: int, prompt_tokens: int, output: int = 0, functions: int = 0) -> Refused:
        shares = [f"{prompt_tokens - functions} in the messages"]
        shares += [f"{functions} in the functions"] * bool(functions) + [f"{output} in the completion"] * bool(output)
        listed = ", ".join(shares[:-1]) + (", and " if len(shares) > 2 else ", ") + shares[-1]
        verb = "you requested" if output else "your messages resulted in"
        total = f"{prompt_tokens + output} tokens" + (f" ({listed})" if len(shares) > 1 else "")
        parts = ["messages"] + ["functions"] * bool(functions) + ["completion"] * bool(output)
        joined = " or ".join(parts) if len(parts) < 3 else ", ".join(parts[:-1]) + ", or " + parts[-1]
        return invalid(
            f"This model's maximum context length is {limit} tokens. However, {verb} {total}. Please reduce the length "
            f"of the {joined}.",
            "messages",
            "context_length_exceeded",
        )

    def reply_body(self, turn: Turn) -> Any:
        choice = {
            "index": 0,
            "message": self._message(turn.reply),
            "logprobs": None,
            "finish_reason": _finish(turn.reply),
        }
        return {**self._head(turn, "chat.completion"), "choices": [choice], "usage": self._usage(turn)}

    def _message(self, reply: Reply) -> dict[str, Any]:
        has_text = reply.text or not (reply.calls or reply.refusal)
        message: dict[str, Any] = {
            "role": "assistant",
            "content": reply.text if has_text else None,
            "refusal": reply.refusal,
            "annotations": [],
        }
        if self.reasoning_field:
            message[self.reasoning_field] = reply.thinking or ""
        if reply.calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
                for id, name, arguments in _calls(reply)
            ]
        return message

    def frames(self, turn: Turn) -> Sequence[bytes]:
        wants_usage = (turn.body.get("stream_options") or {}).get("include_usage") is True
        head = self._head(turn, "chat.completion.chunk") | ({"usage": None} if wants_usage else {})
        choices = [(delta, None) for delta in self._deltas(turn.reply)] + [({}, _finish(turn.reply))]
        chunks = [
            {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}
            for delta, finish in choices
        ]
        if wants_usage:
            chunks.append({**head, "choices": [], "usage": self._usage(turn)})
        return [*sse(*chunks), b"data: [DONE]\n\n"]

    def _deltas(self, reply: Reply) -> Iterator[dict[str, Any]]:
        yield {"role": "assistant", "content": None if reply.calls and not reply.text else "", "refusal": None}
        if self.reasoning_field:
            yield from ({self.reasoning_field: piece} for piece in pieces_of(reply.thinking or ""))
        yield from ({"content": piece} for piece in pieces_of(reply.text))
        yield from ({"refusal": piece} for piece in pieces_of(reply.refusal or ""))
        for index, (id, name, arguments) in enumerate(_calls(reply)):
            function = {"name": name, "arguments": ""}
            yield {"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}
            for piece in pieces_of(arguments):
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}

    def error_frames(self, refused: Refused) -> Sequence[bytes]:
        return sse(self.error_body(refused))

    @staticmethod
    def _head(turn: Turn, kind: str) -> dict[str, Any]:
        return {
            "id": new_id("chatcmpl-"),
            "object": kind,
            "created": 1700000000,
            "model": turn.model,
            "service_tier": "default",
            "system_fingerprint": None,
        }

    def _usage(self, turn: Turn) -> dict[str, Any]:
        return {
            "prompt_tokens": turn.prompt_tokens,
            "completion_tokens": turn.output_tokens,
            "total_tokens": turn.prompt_tokens + turn.output_tokens,
            "prompt_tokens_details": {**self.cache_details(turn), "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": turn.thinking_tokens, "audio_tokens": 0},
        }


def _asked(body: dict[str, Any]) -> int | None:
    return body.get("max_completion_tokens") or body.get("max_tokens")


def _finish(reply: Reply) -> str:
    return "length" if reply.is_cut else "tool_calls" if reply.calls else "stop"


def _calls(reply: Reply) -> Iterator[tuple[str, str, str]]:
    """(id, name, arguments) of each call."""
    for call in reply.calls:
        is_cut = reply.is_cut and call is reply.calls[-1]
        yield call.id or new_id("call_"), call.name, arguments_of(call, is_cut)
