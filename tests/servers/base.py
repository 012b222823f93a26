"""What every server shares: the script, the checks in their order, faults, and the record of what came in.

    request ─▶ size, key, model ─▶ rules of the provider ─▶ window ─▶ script ─▶ reply or fault
                    └──────────── Refused: the provider's error ────────────┘

A subclass is one provider: its rules, its window, the shape of its replies, streams and errors. Nothing here or there
uses the library under test: it is the second opinion on what the library sends.
"""

import contextlib
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from types import TracebackType
from typing import Any, ClassVar, Self

from tests.servers.counting import PrefixCache
from tests.servers.replies import Fault, Reply, Script
from tests.servers.transport import WAIT_SECONDS, Exchange, Listener
from tests.servers.turn import Refused, Turn, first_half, within

__all__ = ["LocalServer"]

_HANG_SECONDS = 60  # a hang that nobody releases


class LocalServer(ABC):
    """A provider on 127.0.0.1, up between `__enter__` and `__exit__`.

    `requests` holds every body that asked for a reply, refused ones too, and `headers` what came with each; `refused`
    the errors that the request itself earned; `overflows` those for its size in tokens; `turns` the replies given.
    `window` is in tokens (None: endless), `byte_limit` in bytes; without `models` every model is known, and without a
    `key` none is asked for. An exception in the script is raised again by `__exit__`.
    """

    default_models: ClassVar[tuple[str, ...]] = ()
    byte_limit: ClassVar[int] = 32 * 1024 * 1024
    stream_type: ClassVar[str] = "text/event-stream; charset=utf-8"

    def __init__(
        self,
        script: Script = (),
        *,
        window: int | None = None,
        models: Collection[str] | None = None,
        key: str | None = "test-key",
        byte_limit: int | None = None,
        max_output: int | None = None,
        cache: PrefixCache | None = None,
    ) -> None:
        self.window = window
        self.models = models
        self.key = key
        self.max_output = max_output
        self.most_bytes = byte_limit or self.byte_limit
        self.cache = cache or PrefixCache()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.refused: list[Refused] = []
        self.overflows: list[Refused] = []
        self.turns: list[Turn] = []
        self.failures: list[Exception] = []
        self.hanging = threading.Event()  # set while a request hangs
        self._released = threading.Event()
        self._changed = threading.Condition()
        self._one_at_a_time = threading.Lock()
        self._script = script if callable(script) else iter(script)

    @property
    def url(self) -> str:
        """Scheme, host and port, without a path."""
        return self._listener.url

    def __enter__(self) -> Self:
        self._listener = Listener(self._serve)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.release()
        self._listener.stop()
        if self.failures and error is None:
            raise self.failures[0]

    def release(self) -> None:
        """End every hang, now and from now on: the connection is closed."""
        self._released.set()

    def wait_for_requests(self, count: int) -> None:
        """Until `count` requests for a reply have come in."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, WAIT_SECONDS), "too few requests came"

    # What a provider is.

    @abstractmethod
    def route(self, exchange: Exchange) -> None:
        """Answer; `generate` for the paths that give replies."""

    @abstractmethod
    def check(self, body: dict[str, Any], exchange: Exchange) -> dict[str, Any] | None:
        """Raise `Refused` if the body breaks a rule of the provider; what is noted comes with the turn."""

    @abstractmethod
    def check_key(self, exchange: Exchange) -> None:
        """Raise `Refused` if the key is missing or wrong."""

    @abstractmethod
    def pieces(self, body: dict[str, Any]) -> list[str]:
        """The prompt in the order in which it is cached."""

    @abstractmethod
    def overflow(self, turn: Turn) -> Refused | None:
        """The error for a prompt that is too large for `window`."""

    @abstractmethod
    def fault(self, fault: Fault) -> Refused:
        """The provider's error for a scripted fault."""

    @abstractmethod
    def error_body(self, refused: Refused) -> Any: ...

    @abstractmethod
    def reply_body(self, turn: Turn) -> Any: ...

    @abstractmethod
    def frames(self, turn: Turn) -> Sequence[bytes]: ...

    @abstractmethod
    def error_frames(self, refused: Refused) -> Sequence[bytes]:
        """How an error looks inside a stream that has begun."""

    @abstractmethod
    def unknown_model(self, model: str) -> Refused: ...

    def too_many_bytes(self, size: int) -> Refused:
        return Refused(413, "Request Entity Too Large")

    def is_stream(self, body: dict[str, Any], exchange: Exchange) -> bool:
        return body.get("stream") is True

    def output_limit(self, turn: Turn) -> int | None:
        """The most tokens of output that the request leaves room for."""
        return None

    def take(self, turn: Turn) -> None:
        """Fill in what the cache had, for a request that is answered."""
        turn.cached_tokens = self.cache.read("".join(turn.pieces))

    # How it is served.

    def _serve(self, exchange: Exchange) -> None:
        try:
            self.paths.append(f"{exchange.method} {exchange.path}")
            self.check_size(exchange)
            self.check_key(exchange)
            self.route(exchange)
        except Refused as refused:
            self.refused.append(refused)
            self.refuse(exchange, refused)
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the script raised is shown by __exit__
            self.failures.append(error)
            self.refuse(exchange, Refused(500, f"the test server failed: {error!r}"))

    def check_size(self, exchange: Exchange) -> None:
        if len(exchange.raw) > self.most_bytes:
            raise self.too_many_bytes(len(exchange.raw))

    def check_model(self, model: str) -> None:
        if self.models is not None and model not in self.models:
            raise self.unknown_model(model)

    def refuse(self, exchange: Exchange, refused: Refused) -> None:
        exchange.answer(refused.status, self.error_body(refused), refused.headers)

    def read_body(self, exchange: Exchange) -> dict[str, Any]:
        try:
            body = json.loads(exchange.raw)
        except ValueError as error:
            raise Refused(400, f"the body is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise Refused(400, "the body is not a JSON object")
        return body

    def generate(self, exchange: Exchange, body: dict[str, Any], model: str) -> None:
        """Check a request for a reply, and answer it as the script says."""
        with self._changed:
            self.requests.append(body)
            self.headers.append(exchange.headers)
            self._changed.notify_all()
        self.check_model(model)
        notes = self.check(body, exchange) or {}
        turn = Turn(body, model, self.pieces(body), notes=notes)
        if refused := self.overflow(turn):
            self.overflows.append(refused)
            self.answer_overflow(exchange, turn, refused)
        else:
            self._answer(exchange, turn)

    def answer_overflow(self, exchange: Exchange, turn: Turn, refused: Refused) -> None:
        self.refuse(exchange, refused)

    def _answer(self, exchange: Exchange, turn: Turn) -> None:
        spec = self._next(turn)
        is_stream = self.is_stream(turn.body, exchange)
        if isinstance(spec, Fault):
            self._play(exchange, spec, turn, is_stream)
        elif is_stream:
            exchange.stream(self.frames(turn), self.stream_type)
            exchange.end()
        else:
            exchange.answer(200, self.reply_body(turn))

    def _next(self, turn: Turn) -> Reply | Fault:
        """What the script says next; the turn gets the reply, or what a fault begins with."""
        with self._one_at_a_time:
            spec = self._script(turn.body) if callable(self._script) else next(self._script, None)
            if spec is None:
                raise AssertionError(f"the script has no answer to request {len(self.requests)}")
            spec = Reply(spec) if isinstance(spec, str) else spec
            reply = spec.reply or Reply() if isinstance(spec, Fault) else spec
            turn.reply = within(reply, self.output_limit(turn))
            if isinstance(spec, Reply):
                self.take(turn)
                self.turns.append(turn)
            return spec

    def _play(self, exchange: Exchange, fault: Fault, turn: Turn, is_stream: bool) -> None:
        match fault.kind:
            case "raw":
                exchange.answer(fault.status or 200, fault.body, fault.headers)
            case "hang":
                self._hang(exchange, fault, turn, is_stream)
            case "half" if not is_stream:
                exchange.half(self.reply_body(turn))
            case "half":
                exchange.stream(first_half(self.frames(turn)), self.stream_type)
                exchange.drop()
            case "stream_error" if is_stream:
                error = self.error_frames(self.fault(fault))
                exchange.stream([*first_half(self.frames(turn)), *error], self.stream_type)
                exchange.end()
            case "overflow":
                self.overflows.append(self.fault(fault))
                self.answer_overflow(exchange, turn, self.overflows[-1])
            case _:
                self.refuse(exchange, self.fault(fault))

    def _hang(self, exchange: Exchange, fault: Fault, turn: Turn, is_stream: bool) -> None:
        if fault.reply is not None and is_stream:
            exchange.stream(first_half(self.frames(turn)), self.stream_type)
        self.hanging.set()
        self._released.wait(_HANG_SECONDS)
        self.hanging.clear()
        with contextlib.suppress(ConnectionError):
            exchange.drop()
