"""The messages of a case in their format, as ours and back, and the rules that hold for that format."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aaa.messages import LLMRequest, Message, ToolSpec
from aaa.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from aaa.wire.rules import PROVIDERS

__all__ = ["Format", "format_of", "model_of", "params_of"]

Fields = dict[str, Any]


class Format:
    """One wire format: where its turns stand in a body, and under which name `aaa.wire.rules` knows its provider."""

    def __init__(self, module: Any, key: str, provider: str) -> None:
        self._read: Callable[[Mapping[str, Any]], LLMRequest] = module.request_from_body
        self._write: Callable[[LLMRequest], Fields] = module.request_to_body
        self.key = key
        self.provider = provider

    def read(self, turns: Sequence[Any], tools: Sequence[Any] = ()) -> list[Message]:
        """The messages of a body that has these turns."""
        return list(self.request(turns, tools).messages)

    def request(self, turns: Sequence[Any], tools: Sequence[Any] = ()) -> LLMRequest:
        """The request of a body that has these turns and tools."""
        body: Fields = {"model": "m", self.key: list(turns)}
        return self._read(body | ({"tools": list(tools)} if tools else {}))

    def body(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Fields:
        """The body that is sent."""
        return self._write(LLMRequest(tuple(messages), tuple(tools), "m"))

    def turns(self, messages: Sequence[Message]) -> list[Fields]:
        """The turns that are sent; those instructions that a format has apart are not among them."""
        return self.body(messages)[self.key]


_CHAT = Format(openai_chat, "messages", "chat")
_RESPONSES = Format(openai_responses, "input", "openai-responses")
_FORMATS = {
    **dict.fromkeys(("openai-chat", "openai", "chat"), _CHAT),
    "anthropic": Format(anthropic, "messages", "anthropic"),
    "gemini": Format(gemini, "contents", "gemini"),
    **dict.fromkeys(("responses", "openai-responses"), _RESPONSES),
    "ollama": Format(ollama, "messages", "ollama"),
}


def format_of(case: Mapping[str, Any]) -> tuple[Format, Format, str]:
    """What a case is written in, what is sent, and whose rules hold for that.

    Raises:
        ValueError: a format that is not known.
    """
    name = case.get("format", "openai-chat")
    sent, _, origin = name.partition("-from-")
    written, rules = _named(sent)
    given = _named(origin or sent)[0] if "bedrock" not in (origin or sent) else _Converse()
    if case.get("template") or case.get("single_system"):
        rules = "strict-template"
    provider = case.get("provider")
    return given, written, provider if isinstance(provider, str) and provider in PROVIDERS else rules


def _named(name: str) -> tuple[Format, str]:
    """A format, and whose rules hold where nothing else is said; a provider's name is OpenAI's format as it takes it.

    What is sent to Bedrock's Converse is looked at as Anthropic's: its blocks differ in their names alone.
    """
    if name in _FORMATS:
        return _FORMATS[name], _FORMATS[name].provider
    if name not in PROVIDERS:
        raise ValueError(f"a format that is not known: {name!r}")
    return (_FORMATS["anthropic"] if name == "bedrock" else _CHAT), name


def model_of(case: Mapping[str, Any]) -> str | None:
    """The model that a case names; of Anthropic's one that is neither the oldest nor the newest."""
    name = str(case.get("format", ""))
    return case.get("model") or ("claude-opus-4-7" if name.startswith("anthropic") else None)


def params_of(case: Mapping[str, Any]) -> Fields:
    """The parameters of a request that decide what is valid."""
    params = {key: case[key] for key in ("previous_response_id",) if key in case}
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}} if case.get("thinking") else {}
    return params | thinking


class _Converse(Format):
    """Bedrock's Converse, read as Anthropic's: its blocks differ in their names alone."""

    def __init__(self) -> None:
        super().__init__(anthropic, "messages", "bedrock")

    def request(self, turns: Sequence[Any], tools: Sequence[Any] = ()) -> LLMRequest:
        plain = [{"role": turn["role"], "content": list(map(_block, turn["content"]))} for turn in turns]
        return super().request(plain, tools)


def _block(block: Mapping[str, Any]) -> Fields:
    match block:
        case {"text": text}:
            return {"type": "text", "text": text}
        case {"toolUse": use}:
            return {"type": "tool_use", "id": use["toolUseId"], "name": use["name"], "input": use["input"]}
        case {"toolResult": result}:
            content = list(map(_block, result["content"]))
            return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": content}
    raise ValueError(f"a block of Converse that is not read here: {sorted(block)}")
