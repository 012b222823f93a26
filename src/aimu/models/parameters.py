"""`generate_kwargs`: the parameters people know, put where a provider wants them."""

from collections.abc import Mapping
from typing import Any

from aaa.llm.providers.transport import CALL_OPTIONS

__all__ = ["params_of"]

_CALL = set(CALL_OPTIONS)
_OLLAMA_TOP = _CALL | {"format", "keep_alive", "logprobs", "options", "shift", "think", "top_logprobs", "truncate"}
_OLLAMA_NAMES = {"context_length": "num_ctx", "max_tokens": "num_predict"}
_GEMINI_TOP = _CALL | {"cachedContent", "generationConfig", "labels", "model", "safetySettings", "toolConfig"}
_GEMINI_NAMES = {
    "max_tokens": "maxOutputTokens",
    "stop": "stopSequences",
    "thinking_config": "thinkingConfig",
    "top_k": "topK",
    "top_p": "topP",
}


def params_of(provider: str, generate_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a request. Ollama wants most of them in `options`, where `context_length` is its `num_ctx`;
    Gemini in `generationConfig`; the others take them as they are."""
    match provider:
        case "ollama":
            return _nested(generate_kwargs, _OLLAMA_TOP, "options", _OLLAMA_NAMES)
        case "gemini":
            return _nested(generate_kwargs, _GEMINI_TOP, "generationConfig", _GEMINI_NAMES)
        case _:
            return dict(generate_kwargs)


def _nested(given: Mapping[str, Any], top: set[str], inside: str, names: Mapping[str, str]) -> dict[str, Any]:
    params = {key: value for key, value in given.items() if key in top}
    nested = {names.get(key, key): value for key, value in given.items() if key not in top}
    return params | ({inside: {**params.get(inside, {}), **nested}} if nested else {})
