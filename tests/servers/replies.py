"""What a server is told to answer: replies of a model, and faults.

A script is a function from the decoded request body to a spec, or the specs in the order in which they are used up.
A spec is a `Reply`, a `Fault`, or a string, which is a reply of that text.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = [
    "Call",
    "Fault",
    "Reply",
    "Script",
    "Spec",
    "auth_error",
    "calls",
    "cut",
    "empty",
    "half_stream",
    "hang",
    "image",
    "not_json",
    "overflow",
    "overloaded",
    "rate_limit",
    "raw",
    "refusal",
    "server_error",
    "stream_error",
    "text",
]


@dataclass(frozen=True)
class Call:
    """A tool call; without an `id` the server makes one of its provider's shape."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True)
class Reply:
    """One reply of a model; what a provider has no place for is left out of its body, but still costs output."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str | None = None
    is_redacted: bool = False  # Anthropic: the thinking comes as a redacted_thinking block
    refusal: str | None = None
    image: bytes | None = None  # Gemini and Responses
    is_cut: bool = False  # ended by the limit on output; the last call, if any, is cut in the middle


FaultKind = Literal[
    "rate_limit", "server_error", "overloaded", "auth_error", "overflow", "raw", "half", "stream_error", "hang"
]


@dataclass(frozen=True)
class Fault:
    """An answer that is no reply. `reply` is what a stream begins with before it breaks; None: nothing is sent."""

    kind: FaultKind
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    reply: Reply | None = None
    retry_after: float | None = None


Spec = Reply | Fault | str
Script = Callable[[Any], Spec] | Iterable[Spec]


def text(words: str, *, thinking: str | None = None) -> Reply:
    return Reply(words, thinking=thinking)


def calls(*called: Call | tuple[str, Mapping[str, Any]], text: str = "", thinking: str | None = None) -> Reply:
    """A turn that calls tools, in parallel if there are several."""
    return Reply(text, tuple(call if isinstance(call, Call) else Call(*call) for call in called), thinking)


def refusal(words: str) -> Reply:
    return Reply(refusal=words)


def image(png: bytes, words: str = "") -> Reply:
    return Reply(words, image=png)


def cut(reply: Reply | str) -> Reply:
    """The same reply, ended by the limit on output."""
    return replace(reply if isinstance(reply, Reply) else Reply(reply), is_cut=True)


def empty() -> Reply:
    return Reply()


def rate_limit(retry_after: float = 1.0) -> Fault:
    """429 with the provider's own headers or details; `retry_after` in seconds."""
    return Fault("rate_limit", retry_after=retry_after)


def server_error(status: int | None = None) -> Fault:
    """500, or another status of the provider's choice."""
    return Fault("server_error", status)


def overloaded() -> Fault:
    """The provider's way to say so: 529 for Anthropic, 503 for the others."""
    return Fault("overloaded")


def auth_error() -> Fault:
    return Fault("auth_error")


def overflow() -> Fault:
    """The provider's overflow error, whatever the size of the request."""
    return Fault("overflow")


def raw(status: int, body: bytes | str, *, content_type: str = "application/json", **headers: str) -> Fault:
    """Exactly this; underscores in the names of headers stand for hyphens."""
    named = {"content-type": content_type, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Fault("raw", status, named, body.encode() if isinstance(body, str) else body)


def not_json(status: int = 200) -> Fault:
    """A page of a gateway in between."""
    return raw(status, "<html><body>Bad gateway</body></html>", content_type="text/html")


def half_stream(reply: Reply | str = "the first half of a reply that never ends") -> Fault:
    """The first half of the frames (of the body, where nothing is streamed), and the connection is closed."""
    return Fault("half", reply=reply if isinstance(reply, Reply) else Reply(reply))


def stream_error(reply: Reply | str = "the first half of a reply", *, status: int | None = None) -> Fault:
    """The first half of the frames and the provider's error event; without streaming the plain error."""
    return Fault("stream_error", status, reply=reply if isinstance(reply, Reply) else Reply(reply))


def hang(reply: Reply | str | None = None) -> Fault:
    """No answer, or half a stream of `reply` and then nothing, until the server is released or stopped."""
    return Fault("hang", reply=Reply(reply) if isinstance(reply, str) else reply)
