"""The HTTP side of the fake service: one thread a connection, events as a stream."""

import contextlib
import http.server
import socket
from collections.abc import Iterator
from typing import Protocol

import msgspec

from studio.control.transport import PREFIX
from studio.domain.errors import ErrorInfo
from studio.domain.events import Event

TOKEN = "token-of-the-fake"


class Service(Protocol):
    """What is served."""

    def answer(self, method: str, path: str, body: bytes) -> object:
        """Return the record for a request, or an `ErrorInfo`."""

    def subscribe(self) -> Iterator[Event]:
        """Yield the present state, then everything that happens."""


class Server(http.server.ThreadingHTTPServer):
    """Listens on a free loopback port, and knows its connections so that it can cut them."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, service: Service) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service = service
        self._connections: set[socket.socket] = set()

    def process_request(self, request: socket.socket, client_address: object) -> None:
        """Remember the connection, then serve it."""
        self._connections.add(request)
        super().process_request(request, client_address)

    def close_all(self) -> None:
        """Cut every connection, then wait for its thread."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        if not self._is_allowed():
            return
        if self.path.startswith(f"{PREFIX}/events"):
            self._stream()
        else:
            self._send(self.server.service.answer("GET", self.path, b""))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self._is_allowed():
            self._send(self.server.service.answer("POST", self.path, body))

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""

    def _is_allowed(self) -> bool:
        allowed = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        if not allowed:
            self._send(ErrorInfo(code="token-wrong", message="The token is wrong."), status=401)
        return allowed

    def _send(self, record: object, status: int | None = None) -> None:
        data = msgspec.json.encode(record)
        failed = isinstance(record, ErrorInfo)
        with contextlib.suppress(OSError):
            self.send_response(status or (409 if failed else 200))
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def _stream(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for event in self.server.service.subscribe():
                self.wfile.write(b"data: " + msgspec.json.encode(event) + b"\n\n")
                self.wfile.flush()
