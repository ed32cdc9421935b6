"""The server's side of one connection: bytes to exchanges and back.

llhttp parses strictly (no leniency is switched on); what it lets through and a gate must not is
refused here: a target that is no path, a second Host, a transfer coding besides `chunked`.
"""

import asyncio
import collections
from collections.abc import Callable
from typing import Protocol, cast

import httptools

from studio.domain.selftest import Defence
from studio.host.http_exchange import Exchange, Headers, Limits, refusal_head

Refusal = Callable[[int, str, str], tuple[Headers, bytes]]
"""Status, stable code and sentence to headers and body of the answer to what is not HTTP."""

_WRITE_HIGH_BYTES = 64 << 10
_UPGRADE_HEADERS = frozenset({b"connection", b"upgrade", b"http2-settings"})


class Keeper(Protocol):
    """What a connection needs of its server."""

    limits: Limits
    refusal: Refusal
    is_closing: bool

    def joined(self, connection: "ServerConnection") -> bool:
        """Count a connection; False when there is no room for it."""

    def left(self, connection: "ServerConnection") -> None:
        """Forget a connection."""

    def handle(self, exchange: Exchange) -> None:
        """Start the handler."""


class _Refused(Exception):
    """What the client sent cannot be taken."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class ServerConnection(asyncio.Protocol):
    """One client; its requests are handled one at a time, in order."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._limits = keeper.limits
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpRequestParser | None = None
        self._peer: str | None = None
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_bytes = 0
        self._head_raw_bytes = 0
        self._in_head = True
        self._has_begun = False
        self._marks = 0
        self._overhead_bytes = 0
        self._parsing: Exchange | None = None
        self._current: Exchange | None = None
        self._queue: collections.deque[Exchange] = collections.deque()
        self._refused: _Refused | None = None
        self._takes_no_more = False
        self._is_lingering = False
        self._deadline_s: float | None = None
        self._stalled_at_s: float | None = None

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a request."""
        transport = cast("asyncio.Transport", transport)  # uvloop's is one by its methods only
        self._transport = transport
        if not self._keeper.joined(self):
            transport.abort()
            return
        transport.set_write_buffer_limits(high=_WRITE_HIGH_BYTES)
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if isinstance(peer, tuple) and peer else None
        self._parser = self._new_parser()
        self._wait(self._limits.header_timeout_s)

    def data_received(self, data: bytes) -> None:
        """Parse what came in."""
        if self._parser is None or self._takes_no_more:
            return
        try:
            self._feed(self._parser, data)
        except _Refused as refused:
            self._refuse(refused)

    def eof_received(self) -> bool:
        """Treat the end of the client's side as its leaving; a ready answer still goes out.

        A client that closes cannot be told from one that closes half until something is written,
        and a long prefill writes nothing: waiting would keep the engine busy for nobody.
        """
        self._takes_no_more = True
        for exchange in self._exchanges():
            exchange.leave()
        return self._current is not None

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever still works for this client."""
        del exc  # a reset and a clean end are the same to us
        self._keeper.left(self)
        self._transport = None
        self._parser = None
        for exchange in self._exchanges():
            exchange.detach()
        self._queue.clear()
        self._current = self._parsing = None

    def pause_writing(self) -> None:
        """Pass back-pressure on."""
        self._stalled_at_s = self._loop.time()
        if self._current is not None:
            self._current.pressure(is_paused=True)

    def resume_writing(self) -> None:
        """Pass the end of back-pressure on."""
        self._stalled_at_s = None
        if self._current is not None:
            self._current.pressure(is_paused=False)

    # httptools

    def on_message_begin(self) -> None:
        """Begin a request."""
        if len(self._queue) >= self._limits.pipelined:
            raise _Refused(400, "pipelined-too-many", "Too many requests were sent at once.")
        self._target = b""
        self._headers = []
        self._head_bytes = 0
        self._head_raw_bytes = 0
        self._in_head = True
        self._has_begun = True
        self._marks += 1
        if self._current is None:
            self._wait(self._limits.header_timeout_s)

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self._target += url
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; trailers count too, and are dropped."""
        self._count_head(len(name) + len(value) + 4)
        if self._in_head:
            self._headers.append((name.lower(), value))
            if len(self._headers) > self._limits.header_count:
                limit = self._limits.header_count
                raise _Refused(431, "headers-too-many", f"A request may have {limit} headers.")

    def on_headers_complete(self) -> None:
        """Hand the request on; its body may still be under way."""
        parser = self._parser
        assert parser is not None
        self._in_head = False
        version = parser.get_http_version()
        self._check_head(version)
        if parser.should_upgrade():
            return  # parsed again by _decline_upgrade
        exchange = Exchange(
            self,
            method=parser.get_method().decode("ascii"),
            target=self._target,
            headers=self._headers,
            version=version,
            peer=self._peer,
        )
        exchange.keeps_alive = parser.should_keep_alive()
        self._parsing = exchange
        self._overhead_bytes = 0
        if self._current is None:
            self._dispatch(exchange)
        else:
            self._queue.append(exchange)

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        if self._parsing is not None:
            self._overhead_bytes -= len(body)
            self._parsing.take_body(body)

    def on_message_complete(self) -> None:
        """Take notice that the request is whole."""
        exchange, self._parsing = self._parsing, None
        self._in_head = True
        self._has_begun = False
        self._head_raw_bytes = 0
        self._marks += 1
        if exchange is None:
            return
        self._takes_no_more = not exchange.keeps_alive
        exchange.complete_body()
        if exchange is not self._current:
            self._pause_reading()  # a client that pipelines waits for its turn
        elif exchange.is_ended:
            self._turn()
        else:
            self._deadline_s = None

    # Wire

    def send(self, data: bytes) -> None:
        """Queue bytes; dropped when the client is gone."""
        if self._transport is not None:
            self._transport.write(data)

    def body_wanted(self) -> None:
        """Let the rest of the body come in, after 100 Continue where that is waited for."""
        current = self._current
        if current is not None and current.expects_continue:
            current.expects_continue = False
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._wait(self._limits.body_timeout_s)
        self._resume_reading()

    def hold_body(self) -> None:
        """Stop reading; the client is not late while it is we who do not read."""
        self._deadline_s = None
        self._pause_reading()

    def persists(self) -> bool:
        """Return whether the connection may carry another request."""
        return not self._keeper.is_closing

    def finished(self) -> None:
        """Turn to the next request, or close."""
        current = self._current
        if current is None:
            return
        if current.is_complete or not current.keeps_alive:
            self._turn()
        else:
            self._wait(self._limits.body_timeout_s)  # a short rest of the body is still to come
            self._resume_reading()

    def abort(self) -> None:
        """Cut the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    # Server

    @property
    def is_idle(self) -> bool:
        """Return whether no request is being handled."""
        return self._current is None

    def close(self) -> None:
        """Close after what was already written."""
        self._takes_no_more = True
        if self._transport is not None:
            self._transport.close()

    def check(self, now_s: float) -> None:
        """End a connection whose client is late; called about once a second."""
        if self._stalled_at_s is not None:
            if now_s - self._stalled_at_s > self._limits.stall_timeout_s:
                self.abort()
            return
        if self._deadline_s is None or now_s < self._deadline_s:
            return
        self._deadline_s = None
        if self._is_lingering or (self._current is None and not self._has_begun):
            self.close()
        elif self._refused is None:
            self._refuse(_Refused(408, "request-late", "The request did not arrive in time."))

    # Own

    def _feed(self, parser: httptools.HttpRequestParser, data: bytes) -> None:
        marks = self._marks
        if self._parsing is not None:
            self._overhead_bytes += len(data)
            if self._parsing is self._current and self._deadline_s is not None:
                self._wait(self._limits.body_timeout_s)
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._decline_upgrade(data[upgrade.args[0] :])
            return
        except httptools.HttpParserError as error:
            if self._takes_no_more:  # bytes after `Connection: close` are not for us
                return
            if isinstance(error.__context__, _Refused):
                raise error.__context__ from None
            raise _Refused(400, "not-http", f"The request is not valid HTTP: {error}.") from None
        passed = self._marks - marks
        if self._in_head and (passed == 0 or (passed == 1 and self._has_begun)):
            # Nothing but an unfinished head came in.
            self._head_raw_bytes += len(data)
            self._count_head(0)
        elif self._parsing is not None:
            self._check_overhead(self._parsing)

    def _decline_upgrade(self, rest: bytes) -> None:
        """Go on in HTTP/1.1 with a client that offered another protocol (Java's client does).

        llhttp takes the rest for the other protocol, so the same head, less the offer, is parsed
        once more in front of what follows.
        """
        assert self._parser is not None
        lines = [b"%b %b HTTP/1.1" % (self._parser.get_method(), self._target)]
        lines += [b"%b: %b" % pair for pair in self._headers if pair[0] not in _UPGRADE_HEADERS]
        self._parser = self._new_parser()
        self._feed(self._parser, b"\r\n".join(lines) + b"\r\n\r\n" + rest)

    def _new_parser(self) -> httptools.HttpRequestParser:
        parser = httptools.HttpRequestParser(self)
        without = self._limits.without
        if without:
            is_open = Defence.LINES in without
            parser.set_dangerous_leniencies(
                lenient_headers=is_open,
                lenient_optional_lf_after_cr=is_open,
                lenient_optional_cr_before_lf=is_open,
                lenient_chunked_length=Defence.FRAMING in without,
                lenient_transfer_encoding=Defence.FRAMING in without,
            )
        return parser

    def _check_head(self, version: str) -> None:
        if version not in {"1.0", "1.1"}:
            raise _Refused(505, "http-version", "The server speaks HTTP/1.1 and HTTP/1.0.")
        without = self._limits.without
        is_path = self._target.startswith(b"/") or self._target == b"*"
        if not is_path and Defence.TARGET not in without:
            raise _Refused(400, "target-not-a-path", "The request's target must be a path.")
        hosts = sum(name == b"host" for name, _ in self._headers)
        is_odd = hosts > 1 or (hosts == 0 and version == "1.1")
        if is_odd and Defence.TARGET not in without:
            raise _Refused(400, "host-header", "A request needs exactly one Host header.")
        if Defence.FRAMING in without:
            return
        for name, value in self._headers:
            if name == b"transfer-encoding" and (version == "1.0" or value.lower() != b"chunked"):
                message = "The only transfer encoding taken is `chunked`."
                raise _Refused(400, "transfer-encoding", message)

    def _count_head(self, count: int) -> None:
        """Count what was parsed, and what came in without ending a head."""
        self._head_bytes += count
        if max(self._head_bytes, self._head_raw_bytes) > self._limits.header_bytes:
            limit = self._limits.header_bytes
            raise _Refused(431, "headers-too-large", f"Headers may hold {limit} bytes.")

    def _check_overhead(self, exchange: Exchange) -> None:
        """Refuse a body that is mostly framing: one-byte chunks pass, endless extensions do not."""
        if self._overhead_bytes > self._limits.header_bytes + 8 * exchange.received_bytes:
            raise _Refused(400, "chunks-wasteful", "The body's chunks hold next to no data.")

    def _exchanges(self) -> list[Exchange]:
        current = [self._current] if self._current is not None else []
        return [*current, *self._queue]

    def _dispatch(self, exchange: Exchange) -> None:
        self._current = exchange
        if exchange.is_complete:
            self._deadline_s = None
        else:
            self._wait(self._limits.body_timeout_s)
        self._keeper.handle(exchange)

    def _turn(self) -> None:
        """Go from an answered request to the next one, to idleness or to the end."""
        current, self._current = self._current, None
        assert current is not None
        if not current.keeps_alive or self._keeper.is_closing or current.is_gone:
            self._part(is_read=current.is_complete)
        elif self._queue:
            self._dispatch(self._queue.popleft())
            if not self._queue:
                self._resume_reading()
        elif self._refused is not None:
            self._send_refusal(self._refused)
        else:
            limits = self._limits
            self._wait(limits.header_timeout_s if self._has_begun else limits.idle_timeout_s)
            self._resume_reading()

    def _refuse(self, refused: _Refused) -> None:
        """Refuse what came in; requests before it are answered first."""
        self._takes_no_more = True
        self._refused = refused
        parsing, self._parsing = self._parsing, None
        if parsing is not None and parsing is self._current:
            self._current = None
            parsing.detach()
            if parsing.is_started:
                self.abort()
                return
        elif parsing is not None:
            self._queue.remove(parsing)
        if self._current is None:
            self._send_refusal(refused)

    def _send_refusal(self, refused: _Refused) -> None:
        headers, body = self._keeper.refusal(refused.status, refused.code, refused.message)
        self.send(refusal_head(refused.status, headers, len(body)) + body)
        self._part(is_read=False)

    def _part(self, *, is_read: bool) -> None:
        """Close; where unread bytes may wait, drop them first, or a reset could eat the answer."""
        self._takes_no_more = True
        if is_read or self._transport is None or self._transport.is_closing():
            self.close()
            return
        self._is_lingering = True
        self._wait(self._limits.linger_s)
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._resume_reading()

    def _wait(self, seconds: float) -> None:
        self._deadline_s = self._loop.time() + seconds

    def _pause_reading(self) -> None:
        if self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._transport is not None and not self._transport.is_reading():
            self._transport.resume_reading()
