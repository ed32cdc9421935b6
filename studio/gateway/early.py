"""A stream that begins before there is an engine: comments keep it alive and say how far it is.

Comments (lines that begin with a colon) are part of server-sent events and carry nothing for the
program that reads them; proxies and clients that give up on silence see bytes. In Anthropic's
dialect a `ping` goes with each, as its own service sends them.
"""

from studio.gateway.dialects import Dialect, Refusal, error_event
from studio.host.http_server import Exchange

COMMIT_S = 3.0
"""A start that fails within this time is answered with a status of its own instead of 200."""
KEEP_ALIVE_S = 5.0
"""Between two comments; proxies cut off after 15 s of silence at the earliest."""

Pairs = list[tuple[bytes, bytes]]
_HEAD: Pairs = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would keep the comments back
]
_PING = b'event: ping\ndata: {"type": "ping"}\n\n'


class EarlyStream:
    """The beginning of one answer."""

    def __init__(self, exchange: Exchange, dialect: Dialect, extra_headers: Pairs) -> None:
        """`extra_headers` are those of this request's answer."""
        self._exchange = exchange
        self._dialect = dialect
        self._extra_headers = extra_headers

    @property
    def has_begun(self) -> bool:
        """Whether the client was told 200 already."""
        return self._exchange.is_started

    def say(self, text: str) -> None:
        """Keep the client waiting with one line of text."""
        exchange = self._exchange
        if exchange.is_gone or exchange.is_ended:
            return
        if not exchange.is_started:
            exchange.start(200, [*_HEAD, *self._extra_headers])
        if exchange.is_paused:  # it has not taken the last ones yet
            return
        line = " ".join(text.split()).encode("utf-8", "replace")
        ping = _PING if self._dialect is Dialect.ANTHROPIC else b""
        exchange.write(b": " + line + b"\n\n" + ping)

    def fail(self, refusal: Refusal) -> None:
        """End with an error: the status has been sent."""
        if self._exchange.is_gone or self._exchange.is_ended:
            return
        self._exchange.write(error_event(self._dialect, refusal))
        self._exchange.end()
