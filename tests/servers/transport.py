"""HTTP on a free local port: one thread a connection, chunked streams, and a stop that waits for nobody for long."""

import contextlib
import json
import secrets
import socket
import socketserver
import threading
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = ["WAIT_SECONDS", "Exchange", "Listener", "dumped", "new_id"]

WAIT_SECONDS = 10  # far more than anything here takes
_POLL_SECONDS = 0.02


def dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def new_id(prefix: str, length: int = 24) -> str:
    """An id that no other server gives either: conversations move between servers."""
    return prefix + secrets.token_hex(length)[:length]


class Exchange:
    """One request, and the way to answer it."""

    def __init__(self, handler: "_Handler") -> None:
        self._handler = handler
        parts = urlsplit(handler.path)
        self.method = handler.command
        self.path = unquote(parts.path)
        self.query = dict(parse_qsl(parts.query))
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        length = int(self.headers.get("content-length", 0))
        self.raw = handler.rfile.read(length)
        if len(self.raw) < length:  # given up while it was sent: no request to refuse
            raise ConnectionResetError(f"{len(self.raw)} of {length} bytes came")

    def answer(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer; `body` is bytes as they are, or a value for JSON."""
        data = body if isinstance(body, bytes) else dumped(body)
        self._begin(status, {"content-type": "application/json", **(headers or {}), "content-length": str(len(data))})
        self._handler.wfile.write(data)

    def half(self, body: Any) -> None:
        """The first half of an answer whose length was promised."""
        data = dumped(body)
        self._begin(200, {"content-type": "application/json", "content-length": str(len(data))})
        self._handler.wfile.write(data[: len(data) // 2])
        self.drop()

    def stream(self, frames: Iterable[bytes], content_type: str) -> None:
        """A chunked answer, one chunk a frame; `end` ends it."""
        self._begin(200, {"content-type": content_type, "transfer-encoding": "chunked"})
        for frame in frames:
            self._handler.wfile.write(b"%x\r\n%b\r\n" % (len(frame), frame))

    def end(self) -> None:
        self._handler.wfile.write(b"0\r\n\r\n")

    def drop(self) -> None:
        """Close the connection, whatever was promised."""
        self._handler.close_connection = True
        self._handler.wfile.flush()

    def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60  # seconds that an idle connection is kept

    def do_POST(self) -> None:
        assert isinstance(self.server, Listener)
        with contextlib.suppress(ConnectionError):  # the client is gone
            self.server.serve(Exchange(self))

    do_GET = do_DELETE = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed; servers keep what they received."""


class Listener(ThreadingHTTPServer):
    """Calls `serve` for each request, in the thread of its connection."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, serve: Callable[[Exchange], None]) -> None:
        self.serve = serve
        self._connections: set[Any] = set()
        self._changed = threading.Condition()
        super().__init__(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(target=self.serve_forever, args=(_POLL_SECONDS,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def server_bind(self) -> None:
        """Without the look-up of a host name, which may go to the network."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._connections.discard(request)
            self._changed.notify_all()

    def stop(self) -> None:
        """Close the port and every connection, kept alive or busy, and wait for their threads."""
        self.shutdown()
        with self._changed:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            has_ended = self._changed.wait_for(lambda: not self._connections, WAIT_SECONDS)
        self.server_close()
        self._thread.join(WAIT_SECONDS)
        assert has_ended, "a connection of the test server did not end"
        assert not self._thread.is_alive(), "the test server did not end"
