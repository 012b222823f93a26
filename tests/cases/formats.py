"""The messages of a case in their format, as ours and back, and the rules that hold for that format."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aaa.messages import LLMRequest, Message, ToolSpec
from aaa.wire import anthropic, gemini, openai_chat, openai_responses

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
_FORMATS = {
    "openai-chat": _CHAT,
    "anthropic": Format(anthropic, "messages", "anthropic"),
    "gemini": Format(gemini, "contents", "gemini"),
    "responses": Format(openai_responses, "input", "openai-responses"),
}


def format_of(case: Mapping[str, Any]) -> tuple[Format, Format, str]:
    """What a case is written in, what is sent, and whose rules hold for that."""
    name = case.get("format", "openai-chat")
    read, _, provider = name.partition("-from-")
    if provider:
        written, given = _FORMATS[read], _CHAT
    elif name == "bedrock":
        given, written = _Converse(), _FORMATS["anthropic"]
    else:
        given = written = _FORMATS[name]
    if case.get("template") or case.get("single_system"):
        return given, written, "strict-template"
    return given, written, "bedrock" if name == "bedrock" else written.provider


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
