"""The messages of a case in their format, as ours and back, and the rules that hold for that format."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aaa.messages import LLMRequest, Message, ToolSpec
from aaa.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from aaa.wire.rules import PROVIDERS
from tests.cases.converse import plain_tools, plain_turns
from tests.cases.names import named

__all__ = ["Format", "format_of", "model_of", "params_of"]

Fields = dict[str, Any]


class Format:
    """One wire format: its `name` is that of the module which reads and writes it, its turns stand at `key`."""

    def __init__(self, module: Any, key: str) -> None:
        self._read: Callable[[Mapping[str, Any]], LLMRequest] = module.request_from_body
        self._write: Callable[[LLMRequest], Fields] = module.request_to_body
        self.name: str = module.__name__.rpartition(".")[2]
        self.key = key

    def read(self, turns: Sequence[Any], tools: Sequence[Any] = ()) -> list[Message]:
        """The messages of a body that has these turns."""
        return list(self.request(turns, tools).messages)

    def request(self, turns: Sequence[Any], tools: Sequence[Any] = ()) -> LLMRequest:
        """The request of a body that has these turns and tools."""
        body: Fields = {"model": "m", self.key: list(turns)}
        return self._read(body | ({"tools": list(tools)} if tools else {}))

    def as_sent(self, turns: Sequence[Any]) -> list[Any]:
        """Turns of a case as `turns` shows them when nothing was changed."""
        return list(turns)

    def body(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Fields:
        """The body that is sent."""
        return self._write(LLMRequest(tuple(messages), tuple(tools), "m"))

    def turns(self, messages: Sequence[Message]) -> list[Fields]:
        """The turns that are sent; those instructions that a format has apart are not among them."""
        return self.body(messages)[self.key]


class _Converse(Format):
    """Bedrock's Converse, which is read and looked at as Anthropic's."""

    def request(self, turns: Sequence[Any], tools: Sequence[Any] = ()) -> LLMRequest:
        return super().request(plain_turns(turns), plain_tools(tools))

    def as_sent(self, turns: Sequence[Any]) -> list[Any]:
        return list(plain_turns(turns))


_CHAT = Format(openai_chat, "messages")
_ANTHROPIC = Format(anthropic, "messages")
_GEMINI = Format(gemini, "contents")
_RESPONSES = Format(openai_responses, "input")
_OWN = {
    **dict.fromkeys(("anthropic", "anthropic-vertex"), _ANTHROPIC),
    "bedrock": _Converse(anthropic, "messages"),
    **dict.fromkeys(("gemini", "google", "vertex"), _GEMINI),
    **dict.fromkeys(("openai-responses", "azure-responses", "xai-responses"), _RESPONSES),
    "ollama": Format(ollama, "messages"),
}


def format_of(case: Mapping[str, Any]) -> tuple[Format, Format, str]:
    """What a case is written in, what is sent, and whose rules hold for that.

    Raises:
        ValueError: a format that is not known.
    """
    sent, _, origin = str(case.get("format", "chat")).partition("-from-")
    written, rules = _named(sent)
    given = _named(origin)[0] if origin else written
    if case.get("template") or case.get("single_system"):
        rules = "strict-template"
    provider = case.get("provider")
    said = named(provider) if isinstance(provider, str) else ""
    return given, written, said if said in PROVIDERS else rules


def _named(name: str) -> tuple[Format, str]:
    """A format, and whose rules hold where nothing else is said; most providers' is OpenAI's as they take it.

    Of OpenAI's own name nothing more is meant than the format: what any of its servers refuses is avoided.
    """
    provider = named(name)
    if provider not in PROVIDERS:
        raise ValueError(f"a format that is not known: {name!r}")
    return _OWN.get(provider, _CHAT), "chat" if provider in ("openai", "openai-chat") else provider


def model_of(case: Mapping[str, Any]) -> str | None:
    """The model that a case names; of Anthropic's one that is neither the oldest nor the newest."""
    sent = str(case.get("format", "")).partition("-from-")[0]
    return case.get("model") or ("claude-opus-4-7" if named(sent) in ("anthropic", "anthropic-vertex") else None)


def params_of(case: Mapping[str, Any]) -> Fields:
    """The parameters of a request that decide what is valid."""
    params = {key: case[key] for key in ("previous_response_id",) if key in case}
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}} if case.get("thinking") else {}
    return params | thinking
