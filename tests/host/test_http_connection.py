"""Bytes on the wire: what a server takes, in which order it answers, and what it refuses."""

import asyncio
import tomllib
from pathlib import Path

import pytest

from studio.host.http_server import Exchange, Limits
from tests.fakes.waiting import until_async
from tests.host.http_support import client, echo, quick, serving

CASES = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "http" / "refused.toml").read_text(encoding="utf-8")
)["case"]


GET = b"GET /a?b=c HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_a_malformed_request_is_refused_and_the_connection_closed(case):
    """What two parsers could read differently is how a request is smuggled past a gate."""
    handled: list[Exchange] = []

    async def handler(exchange: Exchange) -> None:
        handled.append(exchange)
        await echo(exchange)

    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with serving(handler) as server, client(server.port) as raw:
        await raw.send(case["bytes"].encode("latin-1") + smuggled)

        answer = await raw.answer()

        assert answer.status == case["status"], answer
        assert f"[{case['code']}]" in answer.body.decode()
        assert answer.headers["connection"] == "close"
        assert await raw.rest() == b""
        assert all(exchange.path != "/smuggled" for exchange in handled)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_a_malformed_request_is_refused_when_it_arrives_byte_by_byte(case):
    """A parser that only sees the fault within one read would let slow attackers through."""
    async with serving() as server, client(server.port) as raw:
        for byte in case["bytes"].encode("latin-1"):
            raw.writer.write(bytes([byte]))
            await asyncio.sleep(0)
        await raw.writer.drain()
        # What is only a beginning so far (a TLS hello) is completed by the end of the line.
        raw.writer.write(b"\r\n\r\n")

        answer = await raw.answer()

        assert answer.status in {case["status"], 400}


async def test_requests_sent_at_once_are_answered_one_after_the_other():
    """Pipelining clients match answers to requests by order alone."""
    running, most = 0, 0

    async def slow_first(exchange: Exchange) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(20 if exchange.path == "/1" else 1):
            await asyncio.sleep(0)
        running -= 1
        await echo(exchange)

    requests = b"".join(
        b"POST /%d HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n%02d" % (n, n)
        for n in range(1, 6)
    )
    async with serving(slow_first) as server, client(server.port) as raw:
        await raw.send(requests)

        bodies = [(await raw.answer()).body for _ in range(5)]

    assert bodies == [b"POST /%d  %02d" % (n, n) for n in range(1, 6)]
    assert most == 1


async def test_too_many_requests_at_once_end_the_connection():
    """A queue without an end is memory without an end."""
    async with serving(limits=quick(pipelined=4)) as server, client(server.port) as raw:
        await raw.send(GET * 50)

        text = (await raw.rest()).decode()

    assert text.count("HTTP/1.1 200 OK") == 5
    assert text.count("HTTP/1.1 400 Bad Request") == 1
    assert text.endswith("[pipelined-too-many]\n")


async def test_a_connection_carries_many_requests_and_closes_on_wish():
    """Keep-alive is most of the speed of a chat client, and `close` must be honoured."""
    async with serving() as server, client(server.port) as raw:
        for _ in range(3):
            await raw.send(GET)
            answer = await raw.answer()
            assert answer.body == b"GET /a b=c "
            assert "connection" not in answer.headers

        await raw.send(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        answer = await raw.answer()

        assert answer.headers["connection"] == "close"
        assert await raw.rest() == b""


async def test_http_1_0_is_answered_and_closed_unless_it_asks_to_stay():
    """Old load generators and scripts still speak 1.0."""
    async with serving() as server:
        async with client(server.port) as raw:
            await raw.send(b"GET /a HTTP/1.0\r\n\r\n")
            answer = await raw.answer()
            assert (answer.status, answer.headers["connection"]) == (200, "close")
            assert await raw.rest() == b""
        async with client(server.port) as raw:
            await raw.send(b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            assert (await raw.answer()).headers["connection"] == "keep-alive"
            await raw.send(b"GET /b HTTP/1.0\r\n\r\n")
            assert (await raw.answer()).body == b"GET /b  "


async def test_a_chunked_body_is_read_with_extensions_and_trailers_dropped():
    """Clients that stream their prompts send chunks; trailers must never become headers."""
    seen: list[tuple[bytes, bytes]] = []

    async def handler(exchange: Exchange) -> None:
        await echo(exchange)
        seen.extend(exchange.headers)

    async with serving(handler) as server, client(server.port) as raw:
        await raw.send(
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3;x=y\r\nabc\r\n4\r\ndefg\r\n0\r\nAuthorization: Bearer stolen\r\n\r\n"
        )

        assert (await raw.answer()).body == b"POST /  abcdefg"
        assert all(name != b"authorization" for name, _ in seen)


async def test_an_offer_to_upgrade_is_declined_and_the_request_answered():
    """Java's HTTP client offers HTTP/2 on every first request, with a body behind it."""
    async with serving() as server, client(server.port) as raw:
        await raw.send(
            b"POST /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
            b"Upgrade: h2c\r\nHTTP2-Settings: AAMA\r\nContent-Length: 5\r\n\r\nhello" + GET
        )

        assert (await raw.answer()).body == b"POST /up  hello"
        assert (await raw.answer()).body == b"GET /a b=c "


@pytest.mark.parametrize("piece", [1, 7, 4096])
async def test_a_head_that_never_ends_is_refused_at_the_limit(piece):
    """Unbounded headers are the cheapest way to fill a server's memory."""
    async with serving(limits=quick(header_bytes=4096)) as server, client(server.port) as raw:
        raw.writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: ")
        for _ in range(8192 // piece):
            raw.writer.write(b"y" * piece)
            if piece == 1:
                await asyncio.sleep(0)
        answer = await raw.answer()

    assert answer.status == 431
    assert b"[headers-too-large]" in answer.body


async def test_a_large_body_before_a_head_does_not_count_as_a_head():
    """Two requests in one read must not be taken for one enormous head."""
    body = b"x" * 60_000
    async with serving(limits=quick(header_bytes=4096)) as server, client(server.port) as raw:
        await raw.send(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" + body + GET[:20]
        )
        assert (await raw.answer()).status == 200
        await raw.send(GET[20:])

        assert (await raw.answer()).body == b"GET /a b=c "


async def test_too_many_headers_are_refused():
    """Each header costs a search; the number needs a bound besides the bytes."""
    many = b"".join(b"X-%d: y\r\n" % n for n in range(101))
    async with serving() as server, client(server.port) as raw:
        await raw.send(b"GET / HTTP/1.1\r\nHost: a\r\n" + many + b"\r\n")

        assert (await raw.answer()).status == 431


async def test_chunks_that_are_mostly_framing_are_refused():
    """Endless chunk extensions would keep a connection busy without ever reaching a body limit."""
    async with serving() as server, client(server.port) as raw:
        await raw.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        raw.writer.write(b"1;" + b"e" * 300_000)

        assert (await raw.answer()).status == 400


async def test_one_byte_chunks_are_fair():
    """Wasteful, but some clients flush each character."""
    async with serving() as server, client(server.port) as raw:
        await raw.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        await raw.send(b"1\r\nz\r\n" * 50_000 + b"0\r\n\r\n")

        assert len((await raw.answer()).body) == 50_000 + len(b"POST /  ")


async def test_a_head_that_is_late_gets_408():
    """Slow-loris clients hold connections open by never finishing a request."""
    async with serving() as server, client(server.port) as raw:
        await raw.send(GET[:-2])
        await until_async(lambda: any(one._has_begun for one in server._connections), "its bytes")
        (connection,) = server._connections

        connection.check(asyncio.get_running_loop().time() + Limits().header_timeout_s + 1)

        assert (await raw.answer()).status == 408
        assert await raw.rest() == b""


async def test_a_body_that_stops_coming_gets_408():
    """The same attack, later in the request."""
    async with serving(limits=quick(body_timeout_s=0.05)) as server, client(server.port) as raw:
        await raw.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")

        assert (await raw.answer()).status == 408
        assert await raw.rest() == b""


async def test_a_silent_connection_is_closed_without_a_word():
    """Idle connections of clients that went to sleep must not pile up."""
    async with serving(limits=quick(header_timeout_s=0.05)) as server, client(server.port) as raw:
        assert await raw.rest() == b""
    async with serving(limits=quick(idle_timeout_s=0.05)) as server, client(server.port) as raw:
        await raw.send(GET)
        assert (await raw.answer()).status == 200
        assert await raw.rest() == b""


async def test_a_client_that_takes_nothing_is_cut_off():
    """Otherwise its answer would lie in memory for as long as it likes."""
    gone = asyncio.Event()

    async def flood(exchange: Exchange) -> None:
        exchange.on_gone(gone.set)
        exchange.start(200, [])
        while not exchange.is_gone:
            exchange.write(b"x" * 65536)
            await exchange.drain()

    limits = quick(stall_timeout_s=0.1)
    async with serving(flood, limits=limits) as server, client(server.port) as raw:
        raw.writer.transport.pause_reading()
        await raw.send(GET)

        async with asyncio.timeout(30):
            await gone.wait()


async def test_connections_beyond_the_limit_are_closed_at_once():
    """The limit protects those who are connected already."""
    async with serving(limits=quick(connections=1)) as server, client(server.port) as first:
        await first.send(GET)
        await first.answer()

        async with client(server.port) as second:
            assert await second.rest() == b""

        await first.send(GET)
        assert (await first.answer()).status == 200
