"""How large a model's window is: the server's own word, else the published figure, else an error.

    ContextPolicy(max_input_tokens=window_of(client))

Asked once for each model, when a policy first needs it, by a plain blocking request. Source of the fields: the API
references and sources of the servers, 2026-11; a server that runs with less than the model's maximum is asked for
what is in force.
"""

import re
from collections.abc import Callable
from typing import Any, Protocol, cast

from aaa.errors import ClientSetupError
from aaa.llm.fetch import Endpoint, endpoint_of

__all__ = ["WindowOf", "window_of"]

_LISTED = ("max_model_len", "context_length", "context_window", "max_context_length")  # vLLM, OpenRouter, Groq, Mistral


class _Client(Protocol):
    """A client of `aaa.llm` or `aimu`."""

    provider: Any
    sdk: Any
    model: Any


def window_of(client: _Client) -> "WindowOf":
    """The window of a client's model, to be passed as `max_input_tokens`."""
    return WindowOf(client)


class WindowOf:
    """A function of a model's name (None: the client's) that gives its window in tokens; remembers what it was told.

    Raises (when called):
        ClientSetupError: neither the server nor genai-prices knows; give a number.
    """

    def __init__(self, client: _Client) -> None:
        self._client = client
        self._known: dict[str, int] = {}

    def __call__(self, model: str | None) -> int:
        name = model or self._client.model or ""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, model: str) -> int:
        provider = self._client.provider
        find = _SOURCES.get(provider.name)
        found = find(self._client, model) if find else None
        if found is None and provider.name != "ollama":  # its server decides how much of a model's window it uses
            found = _published(model)
        if found is None:
            raise ClientSetupError(
                f"the window of {provider.name}:{model} is not known here; give max_input_tokens as a number"
            )
        return found


def _of_openai(client: _Client, model: str) -> int | None:
    server = endpoint_of(client)
    return _first(_listed, _llama_server, _lm_studio)(server, model)


def _listed(server: Endpoint, model: str) -> int | None:
    """vLLM, SGLang, OpenRouter, Groq, Mistral, Together: a field of the model's entry in the list."""
    for entry in _entries(server.get("models")):
        if entry.get("id") == model:
            return _number(_path(entry, "top_provider", "context_length")) or next(
                (found for key in _LISTED if (found := _number(entry.get(key)))), None
            )
    return None


def _llama_server(server: Endpoint, model: str) -> int | None:
    """What one request may use: a slot's share of the context, not what the model was trained with."""
    return _number(_path(server.get("/props"), "default_generation_settings", "n_ctx"))


def _lm_studio(server: Endpoint, model: str) -> int | None:
    for entry in _entries(server.get("/api/v0/models")):
        if entry.get("id") == model:
            return _number(entry.get("loaded_context_length"))
    return None


def _of_anthropic(client: _Client, model: str) -> int | None:
    return _number(_path(endpoint_of(client).get(f"v1/models/{model}"), "max_input_tokens"))


def _of_gemini(client: _Client, model: str) -> int | None:
    return _number(_path(endpoint_of(client).get(f"models/{model.removeprefix('models/')}"), "inputTokenLimit"))


def _of_ollama(client: _Client, model: str) -> int | None:
    """`num_ctx` of the requests; else of the loaded model; else of its Modelfile. Its maximum says nothing."""
    given: Any = getattr(client, "params", None) or getattr(client, "generate_kwargs", {})
    options: dict[str, Any] = {**given, **(given.get("options") or {})}
    asked = _number(options.get("num_ctx")) or _number(options.get("context_length"))
    return asked or _first(_loaded_in_ollama, _modelfile_of_ollama)(endpoint_of(client), model)


def _loaded_in_ollama(server: Endpoint, model: str) -> int | None:
    for entry in _entries(server.get("/api/ps"), "models"):
        if model in (entry.get("name"), entry.get("model")) or entry.get("name") == f"{model}:latest":
            return _number(entry.get("context_length"))
    return None


def _modelfile_of_ollama(server: Endpoint, model: str) -> int | None:
    parameters = _path(server.post("/api/show", {"model": model}), "parameters")
    found = re.search(r"^num_ctx\s+(\d+)", parameters, re.MULTILINE) if isinstance(parameters, str) else None
    return int(found[1]) if found else None


def _of_hf(client: _Client, model: str) -> int | None:
    return client.sdk.window


def _of_llamacpp(client: _Client, model: str) -> int | None:
    return int(client.sdk.n_ctx())


def _published(model: str) -> int | None:
    """The figure in genai-prices' data, where that package is installed."""
    try:
        from genai_prices.data import providers
    except ImportError:
        return None
    for provider in providers:
        for known in provider.models:
            if known.id == model or known.match.is_match(model):
                return _number(known.context_window)
    return None


_SOURCES: dict[str, Callable[[_Client, str], int | None]] = {
    "openai": _of_openai,
    "openai-responses": _of_openai,
    "anthropic": _of_anthropic,
    "gemini": _of_gemini,
    "ollama": _of_ollama,
    "hf": _of_hf,
    "llamacpp": _of_llamacpp,
}


def _first(*sources: Callable[[Endpoint, str], int | None]) -> Callable[[Endpoint, str], int | None]:
    """The first of several that knows."""

    def find(server: Endpoint, model: str) -> int | None:
        return next((found for source in sources if (found := source(server, model)) is not None), None)

    return find


def _entries(body: Any, key: str = "data") -> list[dict[str, Any]]:
    entries: Any = _path(body, key) if isinstance(body, dict) else body
    if not isinstance(entries, list):
        return []
    return [cast("dict[str, Any]", entry) for entry in cast("list[Any]", entries) if isinstance(entry, dict)]


def _path(body: Any, *keys: str) -> Any:
    for key in keys:
        body = cast("dict[str, Any]", body).get(key) if isinstance(body, dict) else None
    return body


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
