"""What every SDK's failures below the provider's format have in common: no connection, a time-out, half an answer."""

import importlib
import json
import os
from collections.abc import Mapping
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from aaa.errors import AaaError, BrokenReplyError, ClientSetupError, UnreachableError, WireError

__all__ = [
    "CALL_OPTIONS",
    "address",
    "as_mapping",
    "body_of",
    "call_options",
    "is_raised_in",
    "key_for",
    "package",
    "transport_error",
    "unreachable",
]

CALL_OPTIONS = ("extra_headers", "extra_query", "extra_body", "timeout")
"""Parameters that are no part of a body: how a call is made, by the names of OpenAI's and Anthropic's SDKs. `timeout`
is in seconds."""

_TRANSPORTS = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3", "aiohttp")
_BROKEN = ("RemoteProtocolError", "ReadError", "DecodingError", "ChunkedEncodingError", "ClientPayloadError")


def package(name: str, *, extra: str) -> ModuleType:
    """An SDK, imported when it is first needed.

    Raises:
        ClientSetupError: it is not installed; the extra is named.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        command = f'pip install "aaa-agents[{extra}]"'
        raise ClientSetupError(f"the package {name} is not installed: {command}") from error


def key_for(provider: str, given: str | None, variables: tuple[str, ...], *, is_needed: bool) -> str | None:
    """The key to use; a server of one's own (`is_needed` False) takes any.

    Raises:
        ClientSetupError: a key is needed and there is none.
    """
    found = given or next((os.environ[name] for name in variables if os.environ.get(name)), None)
    if found is None and is_needed:
        names = " or ".join(variables)
        raise ClientSetupError(f"{provider} needs a key: pass api_key, or set {names}")
    return found or "none"


def address(base_url: str) -> str:
    """`base_url`, if something can be reached there.

    Raises:
        ClientSetupError: it is no address of a server: trying again would not help.
    """
    try:
        parts = urlsplit(base_url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none
        is_one = False
    if not is_one:
        raise ClientSetupError("base_url must be like https://host:port/path")
    return base_url


def call_options(body: dict[str, Any]) -> dict[str, Any]:
    """Those of `CALL_OPTIONS` that stand in `body`, taken out of it."""
    return {key: body.pop(key) for key in CALL_OPTIONS if key in body}


def body_of(response: Any) -> Any:
    """The decoded body of an HTTP response object, its text if that is no JSON, None if it cannot be read."""
    try:
        text = response.text
    except Exception:  # noqa: BLE001 - a response whose stream was closed has no text, each library says so its own way
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def transport_error(provider: str, error: Exception) -> AaaError | None:
    """What a failure means that no provider made; None if it is something else."""
    module, name = type(error).__module__.split(".")[0], type(error).__name__
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | WireError):
        return BrokenReplyError(f"{provider} answered with something that is not its format")
    if module in _TRANSPORTS and name in _BROKEN:
        return BrokenReplyError(f"the reply of {provider} ended half-way")
    if isinstance(error, ConnectionError | TimeoutError) or module in _TRANSPORTS:
        return unreachable(provider, error)
    return None


def is_raised_in(name: str, error: Exception) -> bool:
    """Whether an error comes from the code of the package `name` itself, which stumbled over what it was sent."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = str(trace.tb_frame.f_globals.get("__name__", "")) if trace is not None else ""
    return module == name or module.startswith(f"{name}.")


def unreachable(provider: str, error: Exception) -> UnreachableError:
    """The error for a connection that could not be made, or an answer that did not come in time."""
    return UnreachableError(f"{provider} cannot be reached, or did not answer in time ({type(error).__name__})")


def as_mapping(provider: str, answer: Any) -> Mapping[str, Any]:
    """An answer as a plain object.

    Raises:
        BrokenReplyError: it is none: a page of text, say.
    """
    if isinstance(answer, Mapping):
        return answer  # pyright: ignore[reportUnknownVariableType]
    if hasattr(answer, "model_dump"):
        return answer.model_dump(mode="json", exclude_unset=True, by_alias=True, warnings=False)  # they quote values
    raise BrokenReplyError(f"{provider} answered with something that is not its format ({type(answer).__name__})")
