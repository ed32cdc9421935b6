"""Streams that begin before there is an engine: comments that every reader skips."""

import pytest

from studio.gateway.dialects import Dialect, Refusal
from studio.gateway.early import EarlyStream
from studio.host.http_exchange import Exchange


class Wire:
    """A connection that keeps what is sent."""

    def __init__(self) -> None:
        self.sent = b""

    def send(self, data: bytes) -> None:
        """Keep it."""
        self.sent += data

    def body_wanted(self) -> None:
        """Nothing comes."""

    def hold_body(self) -> None:
        """Nothing comes."""

    def finished(self) -> None:
        """Nothing follows."""

    def abort(self) -> None:
        """Nothing is cut."""

    def persists(self) -> bool:
        """Stay."""
        return True


def stream(dialect: Dialect) -> tuple[EarlyStream, Wire, Exchange]:
    """Return a stream, what it sends, and its exchange."""
    wire = Wire()
    exchange = Exchange(
        wire, method="POST", target=b"/v1/x", headers=[], version="1.0", peer="127.0.0.1"
    )
    return EarlyStream(exchange, dialect, [(b"x-request-id", b"7")]), wire, exchange


@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_comment_is_one_line_whatever_is_said(dialect: Dialect) -> None:
    """A line break inside would be an event of its own making."""
    early, wire, _ = stream(dialect)

    early.say("wéir\nis\r\n\r\ndata: {}  starting")
    early.say("again")

    head, _, body = wire.sent.partition(b"\r\n\r\n")
    assert b"text/event-stream" in head
    assert b"x-accel-buffering: no" in head
    assert b"x-request-id: 7" in head
    assert body.decode().startswith(": wéir is data: {} starting\n\n")
    assert (b"event: ping" in body) is (dialect is Dialect.ANTHROPIC)
    assert body.count(b": again\n\n") == 1


def test_nothing_is_said_to_a_client_that_left_or_lags() -> None:
    """Comments must not pile up in memory."""
    early, wire, exchange = stream(Dialect.OPENAI)
    early.say("one")
    exchange.is_paused = True
    early.say("two")
    exchange.is_paused = False
    exchange.leave()
    early.say("three")
    early.fail(Refusal(503, "x", "y"))

    assert b"two" not in wire.sent
    assert b"three" not in wire.sent
    assert b"error" not in wire.sent


def test_the_end_is_an_error_of_the_dialect() -> None:
    """200 was said, so the error is an event."""
    early, wire, exchange = stream(Dialect.OPENAI)
    assert not early.has_begun
    early.say("one")
    assert early.has_begun

    early.fail(Refusal(503, "start-failed", "why"))
    early.fail(Refusal(503, "start-failed", "why"))

    assert wire.sent.endswith(b"data: [DONE]\n\n")
    assert wire.sent.count(b"start-failed") == 1
    assert exchange.is_ended
