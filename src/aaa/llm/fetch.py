"""Questions to a provider's server beside the model calls: small JSON documents, with the client's own key."""

import json
import urllib.parse
import urllib.request
from typing import Any

__all__ = ["Endpoint", "endpoint_of"]

_TIMEOUT_SECONDS = 10.0
_LARGEST_ANSWER_BYTES = 64 * 2**20  # OpenRouter's list of models is some MB


class Endpoint:
    """A server by its base address and the headers that its SDK client would send. Anything but an answer of status
    200 that is JSON is None."""

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
        url = urllib.parse.urljoin(self._base, path)
        if not url.startswith(("http://", "https://")):
            return None
        headers = {"content-type": "application/json", **self._headers}
        request = urllib.request.Request(url, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
                return json.loads(answer.read(_LARGEST_ANSWER_BYTES))
        except (OSError, ValueError):  # urllib's errors and time-outs are OSErrors
            return None


def endpoint_of(client: Any) -> Endpoint:
    """The server of a client of `aaa.llm` or `aimu`."""
    sdk, name = client.sdk, client.provider.name
    if name == "ollama":
        return Endpoint(str(sdk._client.base_url), {})
    if name == "gemini":
        api: Any = sdk._api_client
        return Endpoint(str(api._http_options.base_url), {"x-goog-api-key": api.api_key or ""})
    key = str(sdk.api_key or "")
    if name == "anthropic":
        return Endpoint(str(sdk.base_url), {"x-api-key": key, "anthropic-version": "2023-06-01"})
    return Endpoint(str(sdk.base_url), {"authorization": f"Bearer {key}"})
