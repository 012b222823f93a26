"""How the tests of the servers ask: bodies over plain HTTP, and each way an official SDK has to make one request."""

import asyncio
import http.client
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.servers.base import LocalServer

__all__ = ["BASE_TIMEOUT", "Answer", "bounded", "post"]

BASE_TIMEOUT = 30  # seconds; it only keeps a failing test from hanging


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)


def post(server: LocalServer, path: str, body: Any, *, method: str = "POST", **headers: str | None) -> Answer:
    """One request without an SDK; underscores in the names of headers stand for hyphens, None leaves one out."""
    sent = {"authorization": f"Bearer {server.key}", "anthropic-version": "2023-06-01"}
    sent |= {"x-goog-api-key": str(server.key)}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=BASE_TIMEOUT)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, {name: value for name, value in sent.items() if value is not None})
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read().decode())
    finally:
        connection.close()


def bounded(scenario: Callable[[], Awaitable[Any]]) -> Any:
    """Run a scenario in an event loop of its own, for a bounded time."""

    async def in_time() -> Any:
        async with asyncio.timeout(BASE_TIMEOUT):
            return await scenario()

    return asyncio.run(in_time())
