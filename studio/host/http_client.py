"""Requests to the engine: warm connections, and bodies that arrive by callback.

One `Upstream` is one engine (a Unix socket or host and port). Pieces of a body reach the caller's
sink as they come off the socket, without a task switch for each; only the end wakes the caller.
"""

import asyncio
import dataclasses
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

import httptools

from studio.domain.errors import EngineFailed, EngineNotReady, StudioError
from studio.domain.units import bytes_text
from studio.host.http_exchange import Headers
from studio.host.unix_socket import connected

_CONNECT_S = 5.0
"""A loopback connect takes well under a millisecond; a full backlog may take a little."""

_FETCH_LIMIT_BYTES = 64 << 20


Pieces = Sequence[bytes | bytearray | memoryview]
"""A body in parts, so that a large one need not be copied to change its end."""


class Sink(Protocol):
    """Where the parts of an answer go; called on the event loop, and must not block."""

    def on_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Take status and headers (lower-case names)."""

    def on_data(self, data: bytes) -> None:
        """Take the next bytes of the body."""


class Call:
    """One request under way; `run` returns at the end of the answer."""

    def __init__(self, upstream: "Upstream", request: Pieces, sink: Sink) -> None:
        self.is_aborted = False
        self.has_head = False
        self._upstream = upstream
        self._request: Pieces = request
        self._sink = sink
        self._connection: _Connection | None = None
        self._is_paused = False
        self._ended: asyncio.Future[None] | None = None

    async def run(self) -> None:
        """Send the request and return when the whole answer has gone to the sink, or on abort.

        A warm connection that turns out dead before anything came back is replaced once.
        Raises: EngineNotReady (`engine-unreachable`), EngineFailed (`engine-cut-off`,
        `engine-nonsense`).
        """
        self._upstream.calls.add(self)
        try:
            warm = self._upstream.take_warm()
            if warm is not None and await self._attempt(warm):
                return
            if not await self._attempt(await self._upstream.connect()):
                raise self._upstream.cut_off()
        finally:
            self._request = ()  # call and sink know each other: its body waits for no collector
            self._upstream.calls.discard(self)
            if self._connection is not None:
                self._connection.abort()

    def pause(self) -> None:
        """Take nothing off the socket until `resume`: the engine feels the client's pace."""
        self._is_paused = True
        if self._connection is not None:
            self._connection.pause()

    def resume(self) -> None:
        """Go on."""
        self._is_paused = False
        if self._connection is not None:
            self._connection.resume()

    def abort(self) -> None:
        """Drop the answer: the engine sees the connection close at once."""
        self.is_aborted = True
        if self._connection is not None:
            self._connection.abort()
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def cut_off(self) -> None:
        """End the answer as if the engine had gone: `run` raises `engine-cut-off`."""
        if self._connection is not None:
            self._connection.abort()
        self.fail(self._upstream.cut_off())

    async def _attempt(self, connection: "_Connection") -> bool:
        """Return whether an answer came; False when the connection was dead from the start."""
        if self.is_aborted:
            connection.abort()
            return True
        self._connection = connection
        self._ended = asyncio.get_running_loop().create_future()
        connection.begin(self, self._request)
        if self._is_paused:
            connection.pause()
        try:
            await self._ended
        except _Stale:
            return False
        return True

    # Called by the connection

    def head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Pass the head on."""
        self.has_head = True
        self._sink.on_head(status, headers)

    def data(self, data: bytes) -> None:
        """Pass a piece of the body on."""
        self._sink.on_data(data)

    def end(self) -> None:
        """Take notice that the answer is whole and the connection free."""
        self._connection = None
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def fail(self, error: Exception) -> None:
        """Take notice that no more will come."""
        self._connection = None
        if self._ended is not None and not self._ended.done():
            self._ended.set_exception(error)


class _Stale(Exception):
    """The connection closed before anything came back."""


class Upstream:
    """One engine and its warm connections."""

    def __init__(
        self,
        *,
        socket_path: Path | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        tls: ssl.SSLContext | None = None,
        prefix: str = "",
        max_idle: int = 1024,
    ) -> None:
        """`prefix` is put before every path, for an engine that lies below a proxy's address."""
        if (socket_path is None) == (port is None):
            raise RuntimeError("an upstream has either a socket path or a port")
        self.socket_path = socket_path
        self.host = host
        self.port = port
        self._tls = tls
        self._prefix = prefix
        shown = f"[{host}]" if ":" in host else host
        authority = "localhost" if socket_path is not None else f"{shown}:{port}"
        self._host_line = f"host: {authority}".encode("ascii")
        self._max_idle = max_idle
        self._idle: list[_Connection] = []
        self._is_closed = False
        self.calls: set[Call] = set()
        """Requests under way."""

    @property
    def name(self) -> str:
        """Return the address for messages."""
        return str(self.socket_path) if self.socket_path else f"{self.host}:{self.port}"

    @property
    def idle(self) -> int:
        """Return how many warm connections wait."""
        return len(self._idle)

    def call(
        self, method: str, target: str, headers: Headers, body: bytes | Pieces | None, sink: Sink
    ) -> Call:
        """Return a request that is not sent yet; Host and Content-Length are added here."""
        lines = [f"{method} {self._prefix}{target} HTTP/1.1".encode("ascii"), self._host_line]
        lines += [name + b": " + value for name, value in headers]
        pieces = (body,) if isinstance(body, bytes) else body or ()
        if body is not None:
            lines.append(b"content-length: %d" % sum(len(piece) for piece in pieces))
        head = b"\r\n".join(lines)
        if head.count(b"\n") != len(lines) - 1:
            raise RuntimeError("a header value holds a line break")
        return Call(self, [head + b"\r\n\r\n", *(piece for piece in pieces if piece)], sink)

    async def fetch(
        self,
        method: str,
        target: str,
        headers: Headers = (),
        body: bytes | None = None,
        *,
        timeout_s: float,
        limit_bytes: int = _FETCH_LIMIT_BYTES,
    ) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Return status, headers and body of a short request.

        Raises: what `Call.run` raises, and EngineNotReady (`engine-late`).
        """
        answer = _Collected(limit_bytes=limit_bytes)
        call = self.call(method, target, headers, body, answer)
        answer.call = call
        try:
            async with asyncio.timeout(timeout_s):
                await call.run()
        except TimeoutError as error:
            raise EngineNotReady(
                "engine-late",
                f"The engine did not answer {method} {target} within {timeout_s:g} s.",
                hint="Wait a little and try again; if it repeats, restart the engine.",
            ) from error
        if call.is_aborted:
            raise self.nonsense(f"the answer is larger than {bytes_text(limit_bytes)}")
        return answer.status, answer.headers, b"".join(answer.pieces)

    async def warm(self, count: int) -> None:
        """Open connections up to `count` waiting ones, so that no request waits for a connect."""
        while len(self._idle) < min(count, self._max_idle) and not self._is_closed:
            self.give_back(await self.connect())

    def cut_off_all(self) -> None:
        """End every request under way; their callers see `engine-cut-off`."""
        for call in list(self.calls):
            call.cut_off()

    def close(self) -> None:
        """Close the waiting connections; running calls go on to their end."""
        self._is_closed = True
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.abort()

    # For calls and connections

    def take_warm(self) -> "_Connection | None":
        """Return the connection that waited for the shortest time, if any waits."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_usable:
                return connection
        return None

    async def connect(self) -> "_Connection":
        """Return a fresh connection. Raises: EngineNotReady (`engine-unreachable`)."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_CONNECT_S):
                if self.socket_path is not None:
                    connection = await self._connect_unix(str(self.socket_path))
                else:
                    assert self.port is not None
                    _, connection = await loop.create_connection(
                        lambda: _Connection(self), self.host, self.port, ssl=self._tls
                    )
        except OSError as error:
            reason = error.strerror or "it does not answer"
            raise EngineNotReady(
                "engine-unreachable",
                f"The engine at {self.name} cannot be reached: {reason}.",
                hint="Start it with `weir up`; `weir status` shows how far it is.",
            ) from error
        return connection

    async def _connect_unix(self, path: str) -> "_Connection":
        pipe = await connected(path)
        try:
            _, connection = await asyncio.get_running_loop().create_unix_connection(
                lambda: _Connection(self), sock=pipe
            )
        except BaseException:
            pipe.close()
            raise
        return connection

    def give_back(self, connection: "_Connection") -> None:
        """Keep a connection for the next request."""
        if self._is_closed or len(self._idle) >= self._max_idle:
            connection.abort()
        else:
            self._idle.append(connection)

    def forget(self, connection: "_Connection") -> None:
        """Drop a waiting connection that the engine closed."""
        if connection in self._idle:
            self._idle.remove(connection)

    def cut_off(self) -> StudioError:
        """Return the error of an answer that broke off."""
        return EngineFailed(
            "engine-cut-off",
            "The engine closed the connection before its answer was complete.",
            hint="It may have died; `weir status` and `weir logs` tell.",
        )

    def nonsense(self, reason: str) -> StudioError:
        """Return the error of an answer that is not HTTP."""
        return EngineFailed(
            "engine-nonsense",
            f"The engine's answer cannot be understood: {reason}.",
            hint="Restart the engine; if it repeats, its runtime is damaged.",
        )


class _Connection(asyncio.Protocol):
    """One connection to the engine, with at most one request at a time."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._call: Call | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        self._has_bytes = False
        self._has_framing = False
        self._is_interim = False
        self._is_done = False
        self._keeps_alive = False

    @property
    def is_usable(self) -> bool:
        """Return whether a request may be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def begin(self, call: Call, request: Pieces) -> None:
        """Send a request."""
        if self._transport is None:
            call.fail(_Stale())
            return
        self._call = call
        self._headers = []
        self._has_bytes = self._has_framing = self._is_interim = self._is_done = False
        self._transport.writelines(request)

    def pause(self) -> None:
        """Stop reading."""
        if self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        if self._transport is not None and not self._transport.is_reading():
            self._transport.resume_reading()

    def abort(self) -> None:
        """Close at once."""
        self._call = None
        if self._transport is not None:
            self._transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be ready for requests."""
        transport = cast("asyncio.Transport", transport)  # uvloop's is one by its methods only
        self._transport = transport
        self._parser = httptools.HttpResponseParser(self)

    def data_received(self, data: bytes) -> None:
        """Pass on what came in, all of one read as one piece."""
        if self._call is None or self._parser is None:
            self.abort()  # bytes that nobody asked for
            return
        self._has_bytes = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            own = error.__context__  # the sink's own failure is the caller's to see
            self._end(own if isinstance(own, Exception) else error)
            return
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._flush()
            self._end(self._upstream.nonsense(str(error) or "it is not HTTP"))
            return
        self._flush()
        if self._is_done:
            self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the caller."""
        del exc  # a reset and a clean end are the same to us
        self._transport = None
        self._upstream.forget(self)
        call = self._call
        if call is None:
            pass
        elif not self._has_bytes:
            self._end(_Stale())
        elif call.has_head and not self._has_framing and not self._is_interim:
            self._end(None)  # an answer whose end is the end of the connection
        else:
            self._end(self._upstream.cut_off())
        self._parser = None

    # httptools

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        lowered = name.lower()
        if lowered in {b"content-length", b"transfer-encoding"}:
            self._has_framing = True
        self._headers.append((lowered, value))

    def on_headers_complete(self) -> None:
        """Pass the head on; interim answers (1xx) are dropped."""
        assert self._parser is not None
        status = self._parser.get_status_code()
        self._is_interim = 100 <= status < 200
        headers, self._headers = self._headers, []
        if self._call is not None and not self._is_interim:
            self._has_framing = self._has_framing or status in {204, 304}
            self._call.head(status, headers)

    def on_body(self, body: bytes) -> None:
        """Collect the pieces of one read."""
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        """Take notice of the end."""
        assert self._parser is not None
        self._is_done = not self._is_interim
        self._keeps_alive = self._parser.should_keep_alive()  # forgotten once this returns

    # Own

    def _flush(self) -> None:
        if self._pieces:
            pieces, self._pieces = self._pieces, []
            if self._call is not None:
                self._call.data(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def _end(self, error: Exception | None) -> None:
        call, self._call = self._call, None
        transport = self._transport
        if error is None and transport is not None:
            if self._is_done and self._keeps_alive and not transport.get_write_buffer_size():
                self.resume()
                self._upstream.give_back(self)
            else:
                transport.abort()
        elif transport is not None:
            transport.abort()
        if call is None:
            return
        if error is None:
            call.end()
        else:
            call.fail(error)


@dataclasses.dataclass(slots=True, kw_only=True)
class _Collected:
    """A sink that keeps everything up to a limit."""

    limit_bytes: int
    call: Call | None = None
    status: int = 0
    headers: list[tuple[bytes, bytes]] = dataclasses.field(default_factory=list)
    pieces: list[bytes] = dataclasses.field(default_factory=list)
    size_bytes: int = 0

    def on_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Keep the head."""
        self.status, self.headers = status, headers

    def on_data(self, data: bytes) -> None:
        """Keep a piece."""
        self.size_bytes += len(data)
        if self.size_bytes > self.limit_bytes and self.call is not None:
            self.call.abort()
        self.pieces.append(data)
