"""Between the official SDKs and the test servers: over a real socket, or in this process without one.

    SDK ── httpx / httpx2 request ──▶ InProcess ── Asked ──▶ the server's own checks ──▶ the model as its script

In this process a hang is ended by the time limit that the SDK gave its request, as a socket would.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from aaa.llm.providers import Connection, provider_named
from tests.llm.served import PROVIDERS, Served
from tests.servers.base import LocalServer
from tests.servers.replies import Fault
from tests.servers.transport import Exchange, dumped
from tests.servers.turn import Refused, Turn

__all__ = ["Hanging", "sdk_in_process", "sdk_over_http", "server_for"]

_BASE = "http://127.0.0.1:9"


class Hanging(ConnectionError):
    """In this process: no answer will come."""


class Lost(ConnectionError):
    """In this process: the connection was lost before an answer, or within it."""


class Asked(Exchange):
    """A request that never was on a socket, and what it was answered."""

    def __init__(self, method: str, url: str, headers: Mapping[str, str], raw: bytes) -> None:
        parts = urlsplit(url)
        self.method = method
        self.path = unquote(parts.path)
        self.query = dict(parse_qsl(parts.query))
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.raw = raw
        self.status = 0
        self.answered: dict[str, str] = {}
        self.body = b""

    def answer(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else dumped(body)
        self.status, self.body = status, data
        self.answered = {"content-type": "application/json", **(headers or {}), "content-length": str(len(data))}

    def half(self, body: Any) -> None:
        raise Lost("half an answer")

    def stream(self, frames: Any, content_type: str) -> None:
        self.status, self.body, self.answered = 200, b"".join(frames), {"content-type": content_type}

    def end(self) -> None:
        """The whole stream is there."""

    def drop(self) -> None:
        """What there is of a stream stays all there is."""


def server_for(provider: str, model: Any, *, is_in_process: bool) -> LocalServer:
    """The strict server of a provider; `model` decides what it answers, and how large it finds a prompt."""
    kind = PROVIDERS[provider].server
    settings: dict[str, Any] = {"trained": 2**40} if provider == "ollama" else {}
    server = type(f"Chaotic{kind.__name__}", (_Chaotic, kind), {})(model, **settings)
    server.model, server.is_in_process = model, is_in_process
    model.server = server
    return server


class _Chaotic:
    """A server whose sizes, refusals and silences are those of the model behind it."""

    model: Any
    is_in_process: bool

    def overflow(self, turn: Turn) -> Refused | None:
        turn.notes["kept"] = range(len(turn.body.get("messages") or ()))
        self.model.receive(turn)
        return None

    def take(self, turn: Turn) -> None:
        turn.prompt_tokens = self.model.reported_tokens

    def output_limit(self, turn: Turn) -> int | None:
        return None

    def _hang(self, exchange: Exchange, fault: Fault, turn: Turn, is_stream: bool) -> None:
        if self.is_in_process:
            raise Hanging("no answer")
        super()._hang(exchange, fault, turn, is_stream)


def sdk_in_process(provider: str, server: LocalServer, timeout_seconds: float) -> Any:
    """An official SDK whose requests go straight to `server`."""
    if provider == "ollama":
        import httpx
        import ollama

        return ollama.AsyncClient(host=_BASE, timeout=timeout_seconds, transport=_transport(httpx, server))
    if provider == "gemini":
        import httpx
        from google import genai

        client = httpx.AsyncClient(transport=_transport(httpx, server), timeout=timeout_seconds)
        options = genai.types.HttpOptions(
            base_url=_BASE, timeout=round(timeout_seconds * 1000), httpx_async_client=client
        )
        return genai.Client(api_key=server.key, http_options=options).aio
    import anthropic
    import httpx2
    import openai

    kind, path = (anthropic.AsyncAnthropic, "") if provider == "anthropic" else (openai.AsyncOpenAI, "/v1")
    client = httpx2.AsyncClient(transport=_transport(httpx2, server), timeout=timeout_seconds)
    return kind(api_key=server.key, base_url=_BASE + path, timeout=timeout_seconds, max_retries=0, http_client=client)


def sdk_over_http(provider: str, server: LocalServer, timeout_seconds: float) -> Any:
    """An official SDK that talks to `server`, which is up, over a socket."""
    served: Served = PROVIDERS[provider]
    options = served.connection(server) | {"timeout_seconds": timeout_seconds}
    return provider_named(provider).connect(Connection(model=served.model, max_retries=0, **options))


def _transport(httpx: ModuleType, server: Any) -> Any:
    class InProcess(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: Any) -> Any:
            asked = Asked(request.method, str(request.url), request.headers, await request.aread())
            await asyncio.sleep(0)  # as a socket would, this lets others on
            try:
                if server.model.loses_connection():
                    raise httpx.ConnectError("connection refused")
                server._serve(asked)
            except Hanging:
                await _for_ever((request.extensions.get("timeout") or {}).get("read"))
                raise httpx.ReadTimeout("no answer in time", request=request) from None
            except Lost:
                raise httpx.RemoteProtocolError("peer closed connection", request=request) from None
            return httpx.Response(asked.status, headers=asked.answered, content=asked.body, request=request)

    return InProcess()


async def _for_ever(limit_seconds: float | None) -> None:
    """Until the limit, if the client has one."""
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_seconds):
            await asyncio.Event().wait()
