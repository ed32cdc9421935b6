"""One HTTP request and its answer, as a handler sees them.

Knows nothing of sockets: it talks to a `Wire` (http_connection.py). Everything here runs on the
event loop; nothing blocks, and nothing costs a task switch unless it says `async`.
"""

import asyncio
import dataclasses
import http
import re
import time
from collections.abc import Callable, Sequence
from email.utils import formatdate
from typing import Protocol

from studio.domain.errors import BadInput
from studio.domain.selftest import Defence
from studio.domain.units import bytes_text
from studio.host.body_room import BodyRoom

Headers = Sequence[tuple[bytes, bytes]]

READ_AHEAD_BYTES = 64 << 10
"""Body bytes taken off the socket before a handler has asked for the body."""

_LARGE_BYTES = 1 << 20

DISCARD_BYTES = 256 << 10
"""An unread body of at most this size is read and dropped to keep the connection."""

_HOST = re.compile(rb"(?P<name>\[[^\[\]]*\]|[^:@/\[\]]*)(?::\d{1,5})?")
_BODILESS = frozenset({204, 304})
_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}".encode() for status in http.HTTPStatus
}


class ClientLeft(Exception):
    """The client closed the connection before its request was whole."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a client may ask of the server; sizes in bytes, times in seconds."""

    header_bytes: int = 32 << 10
    header_count: int = 100
    connections: int = 4096
    pipelined: int = 32
    header_timeout_s: float = 15.0
    """From the first byte of a request (or the connection) to the end of its headers."""
    body_timeout_s: float = 60.0
    """Longest pause within a request's body."""
    idle_timeout_s: float = 75.0
    """Between two requests."""
    stall_timeout_s: float = 300.0
    """A client that takes no byte of its answer for so long is cut off."""
    linger_s: float = 2.0
    """How long unread bytes are dropped after a refusal, so that the client can read it."""
    without: frozenset[Defence] = frozenset()
    """Defences that are left out, so that tests see the self-test notice. Empty everywhere else."""


class Wire(Protocol):
    """What an exchange needs of its connection."""

    def send(self, data: bytes) -> None:
        """Queue bytes; dropped when the client is gone."""

    def body_wanted(self) -> None:
        """Let the rest of the body come in."""

    def hold_body(self) -> None:
        """Stop reading until the body is wanted."""

    def finished(self) -> None:
        """Take notice that the answer is complete."""

    def abort(self) -> None:
        """Cut the connection so that the client can tell the answer is not whole."""

    def persists(self) -> bool:
        """Return whether the connection may carry another request."""


class _Nowhere:
    """The wire of an exchange whose connection is gone."""

    def send(self, data: bytes) -> None:
        """Drop the bytes."""

    def body_wanted(self) -> None:
        """Do nothing: no body will come."""

    def hold_body(self) -> None:
        """Do nothing: no body will come."""

    def finished(self) -> None:
        """Do nothing: no next request will come."""

    def abort(self) -> None:
        """Do nothing: there is nothing left to cut."""

    def persists(self) -> bool:
        """Return False: there is no next request."""
        return False


_NOWHERE = _Nowhere()


class Exchange:
    """A request (method, path, query, headers, peer) and the means to answer it."""

    __slots__ = (
        "_body",
        "_body_bytes",
        "_chunked",
        "_drained",
        "_lacks_room",
        "_left_bytes",
        "_on_gone",
        "_on_pressure",
        "_room",
        "_room_bytes",
        "_waiter",
        "_wanted_bytes",
        "_whole",
        "_wire",
        "declared_bytes",
        "expects_continue",
        "headers",
        "is_complete",
        "is_ended",
        "is_gone",
        "is_paused",
        "is_started",
        "keeps_alive",
        "method",
        "path",
        "peer",
        "query",
        "status",
        "version",
    )

    def __init__(
        self,
        wire: Wire,
        *,
        method: str,
        target: bytes,
        headers: list[tuple[bytes, bytes]],
        version: str,
        peer: str | None,
    ) -> None:
        path, _, query = target.decode("ascii").partition("?")
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.version = version
        self.peer = peer
        self.keeps_alive = True
        self.is_complete = False
        self.is_started = False
        self.is_ended = False
        self.is_gone = False
        self.is_paused = False
        self.status: int | None = None
        length = self.header(b"content-length")
        self.declared_bytes = int(length) if length is not None else None
        self.expects_continue = version == "1.1" and (
            (self.header(b"expect") or b"").lower() == b"100-continue"
        )
        self._wire = wire
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._wanted_bytes: int | None = None
        self._room: BodyRoom | None = None
        self._room_bytes = 0
        self._lacks_room = False
        self._whole: bytearray | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._chunked = False
        self._left_bytes: int | None = None
        self._on_gone: list[Callable[[], object]] = []
        self._on_pressure: Callable[[bool], None] | None = None

    # The request

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of the header `name` (lower case)."""
        for key, value in self.headers:
            if key == name:
                return value
        return None

    @property
    def host_name(self) -> str | None:
        """Return the name in the Host header, in lower case and without its port.

        None for what is no host at all (`127.0.0.1:80@evil.example`): a gate that cuts off what
        stands behind the last colon takes that for 127.0.0.1.
        """
        match = _HOST.fullmatch((self.header(b"host") or b"").lower())
        return match["name"].decode("latin-1") if match is not None else None

    async def body(self, limit_bytes: int) -> bytes:
        """Return the whole body; ask for it once only.

        Raises: BadInput (`body-too-large`), ClientLeft.
        """
        await self._collect(limit_bytes, None)
        return self._joined()

    async def large_body(self, limit_bytes: int, room: BodyRoom) -> bytes | bytearray:
        """Return the whole body; ask for it once only.

        What it holds beyond what is read ahead anyway counts in `room` until the handler is done.
        A large one whose length was told is put together where it will lie: joining its pieces
        would need it twice, and what thousands of pieces leave free the system does not get back.
        Raises: BadInput (`body-too-large`), HostLacks (`bodies-too-many`), ClientLeft.
        """
        await self._collect(limit_bytes, room)
        return self._joined() if self._whole is None else self._whole

    async def _collect(self, limit_bytes: int, room: BodyRoom | None) -> None:
        if self.declared_bytes is not None and self.declared_bytes > limit_bytes:
            raise _too_large(limit_bytes, self.declared_bytes)
        self._wanted_bytes = limit_bytes
        self._room = room
        if self._fits() and room is not None and (self.declared_bytes or 0) > _LARGE_BYTES:
            self._whole = bytearray(self.declared_bytes or 0)
            read_ahead = self._joined()
            self._whole[: len(read_ahead)] = read_ahead
        if not self.is_complete and not self._lacks_room:
            self._wire.body_wanted()
        while not (self.is_complete or self._lacks_room or self._body_bytes > limit_bytes):
            if self.is_gone:
                raise ClientLeft
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if self._body_bytes > limit_bytes:
            self._body.clear()
            raise _too_large(limit_bytes, None)
        if room is not None and self._lacks_room:
            self._body.clear()
            raise room.refusal()

    def _joined(self) -> bytes:
        pieces, self._body = self._body, []
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    # The answer

    def start(self, status: int, headers: Headers) -> None:
        """Send status and headers; without Content-Length the body is framed in chunks."""
        if self.is_started:
            raise RuntimeError("the answer was started twice")
        self.is_started = True
        self.status = status
        lines = [_STATUS_LINES.get(status) or b"HTTP/1.1 %d Status" % status]
        has_date = False
        for name, value in headers:
            lowered = name.lower()
            if lowered == b"content-length":
                self._left_bytes = int(value)
            has_date = has_date or lowered == b"date"
            lines.append(name + b": " + value)
        if not has_date:
            lines.append(b"date: " + _date())
        self._frame(status, lines)
        head = b"\r\n".join(lines)
        if head.count(b"\n") != len(lines) - 1 or head.count(b"\r") != len(lines) - 1:
            raise RuntimeError("a header value holds a line break")
        self._wire.send(head + b"\r\n\r\n")

    def write(self, data: bytes) -> None:
        """Send a piece of the body now."""
        if not self.is_started or self.is_ended:
            raise RuntimeError("a body is written between start and end")
        if not data:
            return
        if self._left_bytes is not None:
            self._left_bytes -= len(data)
            if self._left_bytes < 0:
                raise RuntimeError("the body is longer than its Content-Length")
        if self.method == "HEAD":
            return
        self._wire.send(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    async def drain(self) -> None:
        """Wait until the client has taken most of what was written, or is gone."""
        while self.is_paused and not self.is_gone:
            if self._drained is None:
                self._drained = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._drained)

    def end(self) -> None:
        """Complete the answer; the connection turns to its next request."""
        if not self.is_started or self.is_ended:
            raise RuntimeError("an answer is ended once, after its start")
        self.is_ended = True
        self._on_gone.clear()
        self._on_pressure = None
        if self._chunked and self.method != "HEAD":
            self._wire.send(b"0\r\n\r\n")
        if self._left_bytes and self.method != "HEAD":
            self._wire.abort()  # fewer bytes than promised: a next answer would be taken for them
        self._wire.finished()

    def respond(self, status: int, headers: Headers, body: bytes = b"") -> None:
        """Send a whole answer."""
        fields = list(headers)
        if status not in _BODILESS:
            fields.append((b"content-length", b"%d" % len(body)))
        self.start(status, fields)
        if status not in _BODILESS:
            self.write(body)
        self.end()

    def abort(self) -> None:
        """Cut the connection: the answer cannot be completed, and the client must see that."""
        self._wire.abort()

    # The client

    def on_gone(self, callback: Callable[[], object]) -> None:
        """Call `callback` as soon as the client leaves before the end (now, if it has)."""
        if self.is_gone:
            callback()
        else:
            self._on_gone.append(callback)

    async def gone(self) -> None:
        """Return when the client has left; to be cancelled when that no longer matters."""
        left = asyncio.Event()
        self.on_gone(left.set)
        await left.wait()

    def on_pressure(self, callback: Callable[[bool], None]) -> None:
        """Call `callback` with True when the client lags behind, with False when it caught up."""
        self._on_pressure = callback
        if self.is_paused:
            callback(True)

    # Called by the connection

    def take_body(self, piece: bytes) -> None:
        """Add a piece of the request's body."""
        self._body_bytes += len(piece)
        if self.is_ended:
            return
        if self._whole is None:
            self._body.append(piece)
        else:  # llhttp gives no more than was declared
            self._whole[self._body_bytes - len(piece) : self._body_bytes] = piece
        if self._wanted_bytes is None:
            if self._body_bytes > READ_AHEAD_BYTES:
                self._wire.hold_body()
        elif self._body_bytes > self._wanted_bytes or not self._fits():
            self._wire.hold_body()
            self._wake()

    def release(self) -> None:
        """Let go of the body: its handler is done, whoever still knows the exchange."""
        self._body, self._whole = [], None
        if self._room is not None:
            self._room.give_back(self._room_bytes)
            self._room, self._room_bytes = None, 0

    def complete_body(self) -> None:
        """Take notice that the request is whole."""
        self.is_complete = True
        self._wake()

    def pressure(self, *, is_paused: bool) -> None:
        """Take notice that the socket is full, or no longer."""
        self.is_paused = is_paused
        if not is_paused and self._drained is not None:
            self._drained.set_result(None)
            self._drained = None
        if self._on_pressure is not None:
            self._on_pressure(is_paused)

    def detach(self) -> None:
        """Take notice that the connection is gone: whatever is still written is dropped."""
        self._wire = _NOWHERE
        self.leave()

    def leave(self) -> None:
        """Take notice that the client is gone, or is not listening for long."""
        if self.is_gone:
            return
        self.is_gone = True
        self._wake()
        if self._drained is not None:
            self._drained.set_result(None)
            self._drained = None
        callbacks, self._on_gone = self._on_gone, []
        for callback in callbacks:
            callback()

    @property
    def received_bytes(self) -> int:
        """Return how many bytes of the body came in so far."""
        return self._body_bytes

    def unread_bytes(self) -> int | None:
        """Return how many bytes of the request are still to come; None when not known."""
        if self.is_complete:
            return 0
        if self.declared_bytes is None:
            return None
        return self.declared_bytes - self._body_bytes

    def _fits(self) -> bool:
        """Count the body in its room; False when it has none.

        A length that was told is counted at once: else many that come together would all begin,
        and none of them fit in the end.
        """
        whole = max(self._body_bytes, self.declared_bytes or 0)
        more = max(0, whole - READ_AHEAD_BYTES) - self._room_bytes
        if self._room is None or self._lacks_room or more <= 0:
            return not self._lacks_room
        if not self._room.take(more):
            self._lacks_room = True
            return False
        self._room_bytes += more
        return True

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _frame(self, status: int, lines: list[bytes]) -> None:
        """Decide how the end of the body is told, and whether the connection stays."""
        has_body = status not in _BODILESS and status >= http.HTTPStatus.OK
        if not has_body:
            self._left_bytes = None
        elif self._left_bytes is None:
            if self.version == "1.1":
                self._chunked = True
                lines.append(b"transfer-encoding: chunked")
            else:
                self.keeps_alive = False
        unread = self.unread_bytes()
        if unread is None or unread > DISCARD_BYTES or (unread and self.expects_continue):
            self.keeps_alive = False
        if not self._wire.persists():
            self.keeps_alive = False
        if not self.keeps_alive:
            lines.append(b"connection: close")
        elif self.version == "1.0":
            lines.append(b"connection: keep-alive")


def refusal_head(status: int, headers: Headers, length_bytes: int) -> bytes:
    """Return the head of an answer to what could not be read as a request."""
    lines = [_STATUS_LINES[status], b"date: " + _date()]
    lines += [name + b": " + value for name, value in headers]
    lines += [b"content-length: %d" % length_bytes, b"connection: close"]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _too_large(limit_bytes: int, found_bytes: int | None) -> BadInput:
    found = "more" if found_bytes is None else bytes_text(found_bytes)
    return BadInput(
        "body-too-large",
        f"The request's body may hold {bytes_text(limit_bytes)}; it holds {found}.",
        hint="Send less, or raise the limit in the settings.",
        data={"limit_bytes": limit_bytes},
    )


_date_cache: tuple[int, bytes] = (0, b"")


def _date() -> bytes:
    global _date_cache
    now = int(time.time())
    if _date_cache[0] != now:
        _date_cache = (now, formatdate(now, usegmt=True).encode())
    return _date_cache[1]
