"""A file server on loopback that misbehaves in every way that servers, proxies and lines do.

It serves files as a good server does (ranges, ETags, kept connections) until told otherwise: a
`Trick` takes the place of one answer, or of all. It counts what it sends, so that a test can say
what was fetched twice. TLS comes with a certificate that nobody trusts.
"""

import contextlib
import dataclasses
import gzip
import re
import socket
import ssl
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

CERTIFICATE = Path(__file__).resolve().parents[1] / "data" / "tls" / "self-signed.pem"
"""Certificate and key in one file, for `localhost`, 127.0.0.1 and `files.test`."""
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_PIECE = 16 << 10
_DEADLINE_S = 60.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked."""

    method: str
    target: str
    headers: Mapping[str, str]
    """Names in lower case."""

    @property
    def span(self) -> tuple[int, int | None] | None:
        """Return first and last byte that are asked for; None for all."""
        found = _RANGE.fullmatch(self.headers.get("range", ""))
        return (int(found[1]), int(found[2]) if found[2] else None) if found else None


class Exchange:
    """One request and the way back to whoever sent it."""

    def __init__(self, server: "Hostile", connection: socket.socket, request: Request) -> None:
        self.server = server
        self.connection = connection
        self.request = request
        self._due = 0.0

    @property
    def body(self) -> bytes:
        """Return the file that was asked for."""
        return self.server.files.get(self.request.target.split("?")[0], b"")

    def head(self, status: str, headers: Mapping[str, object] | None = None) -> None:
        """Send status and headers."""
        lines = [f"HTTP/1.1 {status}", *(f"{n}: {v}" for n, v in (headers or {}).items())]
        self.connection.sendall(("\r\n".join([*lines, "", ""])).encode())

    def send(self, data: bytes) -> None:
        """Send a piece of a body, as fast as the server may."""
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            self.server.wait_turn(len(piece))
            self.wait_own_turn(len(piece))
            self.connection.sendall(piece)
            self.server.count(len(piece))

    def wait_own_turn(self, size: int) -> None:
        """Wait until this connection may send so many bytes."""
        if self.server.each_bytes_per_s is not None:
            now = time.monotonic()
            self._due = max(self._due, now) + size / self.server.each_bytes_per_s
            self.server.closing.wait(self._due - now)

    def reset(self) -> None:
        """Break the connection off as a crashed machine does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


Trick = Callable[[Exchange], bool]
"""Answers in place of the server; returns whether the connection may be used again."""


class Hostile:
    """The server; `with Hostile(files) as server`."""

    def __init__(self, files: Mapping[str, bytes], *, is_tls: bool = False) -> None:
        self.files = dict(files)
        self.etag: str | None = '"1"'
        self.knows_ranges = True
        self.says_length = True
        self.headers: dict[str, object] = {}
        """Added to each good answer."""
        self.next: deque[Trick | None] = deque()
        """For the next requests, one each; None: a good answer."""
        self.always: Trick | None = None
        self.bytes_per_s: float | None = None
        """All connections together."""
        self.each_bytes_per_s: float | None = None
        """Each connection by itself."""
        self.send_buffer: int | None = None
        """Of each connection; what the system keeps back in it counts as sent."""
        self.requests: list[Request] = []
        self.sent = 0
        self.connections = 0
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._due = 0.0
        self._tls: ssl.SSLContext | None = None
        if is_tls:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(CERTIFICATE)
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._socket.getsockname()[1])
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Hostile":
        self._begin(self._accept)
        return self

    def __exit__(self, *_what: object) -> None:
        self.closing.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._lock:
            still_open = list(self._open)
        for connection in still_open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(_DEADLINE_S)

    def url(self, target: str, *, host: str = "127.0.0.1") -> str:
        """Return the address of a file."""
        return f"http{'s' if self._tls else ''}://{host}:{self.port}{target}"

    @property
    def spans(self) -> list[tuple[int, int | None] | None]:
        """Return what was asked for so far."""
        return [request.span for request in self.requests]

    @property
    def open_connections(self) -> int:
        """Return how many connections are open now."""
        with self._lock:
            return len(self._open)

    def count(self, sent: int) -> None:
        """Count bytes of bodies."""
        with self._lock:
            self.sent += sent

    def wait_turn(self, size: int) -> None:
        """Wait until so many bytes may be sent."""
        if self.bytes_per_s is None:
            return
        with self._lock:
            now = time.monotonic()
            self._due = max(self._due, now) + size / self.bytes_per_s
            pause = self._due - now
        self.closing.wait(pause)

    def _begin(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.closing.is_set():
            try:
                connection, _peer = self._socket.accept()
            except OSError:
                return
            connection.settimeout(_DEADLINE_S)
            if self.send_buffer is not None:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.send_buffer)
            self.connections += 1
            self._begin(self._serve, connection)

    def _serve(self, raw: socket.socket) -> None:
        connection = raw
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(raw, server_side=True)
            with self._lock:
                self._open.add(connection)
            pending = b""
            while not self.closing.is_set():
                request, pending = _read_request(connection, pending)
                if request is None or not self._answer(Exchange(self, connection, request)):
                    return
        except (OSError, ValueError):
            return
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _answer(self, exchange: Exchange) -> bool:
        with self._lock:
            self.requests.append(exchange.request)
            trick = self.next.popleft() if self.next else None
        trick = trick or self.always
        return trick(exchange) if trick is not None else good(exchange)


def _read_request(connection: socket.socket, pending: bytes) -> tuple[Request | None, bytes]:
    while b"\r\n\r\n" not in pending:
        data = connection.recv(65536)
        if not data:
            return None, b""
        pending += data
    head, _, rest = pending.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _version = first.split(" ")
    pairs = (line.split(": ", 1) for line in lines)
    headers = {name.lower(): value for name, value in pairs}
    return Request(method=method, target=target, headers=headers), rest


# -- answers ---------------------------------------------------------------------------------


def good(exchange: Exchange) -> bool:
    """Answer as a good server does, within what this one knows."""
    server, body = exchange.server, exchange.body
    target = exchange.request.target.split("?")[0]
    if target not in server.files:
        return status("404 Not Found")(exchange)
    headers: dict[str, object] = {**server.headers}
    if server.etag is not None:
        headers["ETag"] = server.etag
    span = exchange.request.span if server.knows_ranges else None
    condition = exchange.request.headers.get("if-range")
    if span is None or (condition is not None and condition != server.etag):
        return _whole(exchange, body, headers)
    first, last = span
    if first >= len(body):
        headers["Content-Range"] = f"bytes */{len(body)}"
        exchange.head("416 Range Not Satisfiable", {**headers, "Content-Length": 0})
        return True
    last = len(body) - 1 if last is None else min(last, len(body) - 1)
    headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
    exchange.head("206 Partial Content", {**headers, "Content-Length": last + 1 - first})
    exchange.send(body[first : last + 1])
    return True


def _whole(exchange: Exchange, body: bytes, headers: dict[str, object]) -> bool:
    if exchange.server.says_length:
        headers["Content-Length"] = len(body)
    else:
        headers["Connection"] = "close"
    exchange.head("200 OK", headers)
    exchange.send(body)
    return exchange.server.says_length


def status(line: str, headers: Mapping[str, object] | None = None, body: bytes = b"") -> Trick:
    """Answer with a status."""

    def answer(exchange: Exchange) -> bool:
        exchange.head(line, {**(headers or {}), "Content-Length": len(body)})
        exchange.send(body)
        return True

    return answer


def redirect(to: str) -> Trick:
    """Send the asker elsewhere."""
    return status("302 Found", {"Location": to})


def login_page(exchange: Exchange) -> bool:
    """Answer as the network of a hotel."""
    page = b"<html><form action=login></form></html>"
    return status("200 OK", {"Content-Type": "text/html; charset=utf-8"}, page)(exchange)


def broken_off(after: int, *, abruptly: bool = False) -> Trick:
    """Send the head of a good answer and `after` bytes, then end the connection."""

    def answer(exchange: Exchange) -> bool:
        _begin_good(exchange, after)
        if abruptly:
            exchange.reset()
        return False

    return answer


def stalled(after: int) -> Trick:
    """Send `after` bytes, then nothing any more, with the connection open."""

    def answer(exchange: Exchange) -> bool:
        _begin_good(exchange, after)
        exchange.server.closing.wait(_DEADLINE_S)
        return False

    return answer


def dripping(every_s: float) -> Trick:
    """Send a byte now and then: never silent, never done."""

    def answer(exchange: Exchange) -> bool:
        _begin_good(exchange, 0)
        while not exchange.server.closing.wait(every_s):
            exchange.send(b"x")
        return False

    return answer


def _begin_good(exchange: Exchange, size: int) -> None:
    body, span = exchange.body, exchange.request.span
    if span is None or not exchange.server.knows_ranges:
        length = {"Content-Length": len(body)} if exchange.server.says_length else {}
        exchange.head("200 OK", length)
        exchange.send(body[:size])
        return
    first = span[0]
    last = min(len(body) - 1 if span[1] is None else span[1], len(body) - 1)
    said = {
        "Content-Range": f"bytes {first}-{last}/{len(body)}",
        "Content-Length": last + 1 - first,
    }
    exchange.head("206 Partial Content", said)
    exchange.send(body[first : last + 1][:size])


def wrong_range(by: int) -> Trick:
    """Answer with another range than was asked for; without a range as a good server."""

    def answer(exchange: Exchange) -> bool:
        span, body = exchange.request.span, exchange.body
        if span is None:
            return good(exchange)
        first = span[0] + by
        part = body[first : first + 1000]
        said = f"bytes {first}-{first + len(part) - 1}/{len(body)}"
        exchange.head("206 Partial", {"Content-Range": said, "Content-Length": len(part)})
        exchange.send(part)
        return True

    return answer


def crumbs(size: int) -> Trick:
    """Answer each range with its first bytes only, which is allowed."""

    def answer(exchange: Exchange) -> bool:
        span, body = exchange.request.span, exchange.body
        if span is None or span[1] is None:
            return good(exchange)
        part = body[span[0] : min(span[1] + 1, span[0] + size)]
        said = f"bytes {span[0]}-{span[0] + len(part) - 1}/{len(body)}"
        exchange.head("206 Partial", {"Content-Range": said, "Content-Length": len(part)})
        exchange.send(part)
        return True

    return answer


def endless_head(every_s: float) -> Trick:
    """Send a head a byte at a time, which never ends."""

    def answer(exchange: Exchange) -> bool:
        exchange.connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not exchange.server.closing.wait(every_s):
            exchange.connection.sendall(b"x")
        return False

    return answer


def packed_for_the_way(exchange: Exchange) -> bool:
    """Compress the body although nobody asked for it, as some proxies do; ignore ranges."""
    data = gzip.compress(exchange.body, compresslevel=1)
    return status("200 OK", {"Content-Encoding": "gzip"}, data)(exchange)


def mislabelled(exchange: Exchange) -> bool:
    """Call a packed file's own bytes a compression of the way, as some servers do."""
    return status("200 OK", {"Content-Encoding": "gzip"}, exchange.body)(exchange)


def proxy_to(server: Hostile) -> Trick:
    """Be a proxy that brings everything to `server`, whatever host was asked for."""

    def answer(exchange: Exchange) -> bool:
        if exchange.request.method == "CONNECT":
            exchange.head("200 Connection established")
            _tunnel(exchange, server.port)
            return False
        target = "/" + exchange.request.target.split("://", 1)[1].partition("/")[2]
        request = dataclasses.replace(exchange.request, target=target)
        return good(Exchange(server, exchange.connection, request))

    return answer


def _tunnel(exchange: Exchange, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as far:
        there = threading.Thread(target=_pour, args=(exchange.connection, far), daemon=True)
        there.start()
        _pour(far, exchange.connection)
        there.join(_DEADLINE_S)


def _pour(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def serving(files: Mapping[str, bytes], *, is_tls: bool = False) -> Iterator[Hostile]:
    """Yield a server that has these files."""
    with Hostile(files, is_tls=is_tls) as server:
        yield server
