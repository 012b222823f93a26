"""Questions to a provider's server beside the model calls: small JSON documents, with the client's own key."""

import json
import time
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import Any

__all__ = ["Endpoint", "endpoint_of"]

_TIMEOUT_SECONDS = 10.0
_LARGEST_ANSWER_BYTES = 64 * 2**20  # OpenRouter's list of models is some MB


class Endpoint:
    """A server by its base address and the headers that its SDK client would send, which no other server gets.
    Anything but an answer of status 200 that is JSON and comes in time is None."""

    def __init__(self, base_url: str, headers: dict[str, str]) -> None:
        self._base = base_url.rstrip("/") + "/"
        self._headers = headers

    def get(self, path: str) -> Any:
        """The document at `path`: below the base address, or from the server's root if it begins with "/"."""
        return self._ask(path, None)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """The answer to `body`."""
        return self._ask(path, json.dumps(body).encode())

    def _ask(self, path: str, data: bytes | None) -> Any:
        url = urllib.parse.urljoin(self._base, urllib.parse.quote(path))
        if not url.startswith(("http://", "https://")):
            return None
        headers = {"content-type": "application/json", **self._headers}
        request = urllib.request.Request(url, data=data, headers=headers)
        try:
            opener = urllib.request.build_opener(_SameServer)
            with opener.open(request, timeout=_TIMEOUT_SECONDS) as answer:
                return json.loads(_whole(answer))
        except (OSError, ValueError, HTTPException, RecursionError):  # urllib's errors and time-outs are OSErrors
            return None


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows no redirection to another server: the key would go along."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        here, there = urllib.parse.urlsplit(str(req.full_url)), urllib.parse.urlsplit(newurl)
        is_same = (here.scheme, here.netloc) == (there.scheme, there.netloc)
        return super().redirect_request(req, fp, code, msg, headers, newurl) if is_same else None


def _whole(answer: Any) -> bytes:
    """The body, if it is all there in time: a socket's own time-out begins anew with every byte."""
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    body = bytearray()
    while piece := answer.read1():
        body += piece
        if len(body) > _LARGEST_ANSWER_BYTES or time.monotonic() > deadline:
            raise TimeoutError
    return bytes(body)


def endpoint_of(client: Any) -> Endpoint:
    """The server of a client of `aaa.llm` or `aimu`."""
    sdk, name = client.sdk, client.provider.name
    if name == "ollama":
        key = sdk._client.headers.get("authorization")
        return Endpoint(str(sdk._client.base_url), {"authorization": key} if key else {})
    if name == "gemini":
        options: Any = sdk._api_client._http_options
        base = f"{str(options.base_url).rstrip('/')}/{options.api_version or 'v1beta'}"
        return Endpoint(base, {"x-goog-api-key": sdk._api_client.api_key or ""})
    key = getattr(sdk, "api_key", None) or ""  # the clients for other clouds have none
    if name == "anthropic":
        return Endpoint(str(sdk.base_url), {"x-api-key": key, "anthropic-version": "2023-06-01"})
    return Endpoint(str(sdk.base_url), {"authorization": f"Bearer {key}"})
