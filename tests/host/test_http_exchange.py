"""A handler's view: bodies and their limit, framing of answers, back-pressure, leaving clients."""

import asyncio

import pytest

from studio.domain.errors import BadInput
from studio.host.http_server import ClientLeft, Exchange
from tests.host.http_support import client, serving

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def post(length: int, *, extra: bytes = b"") -> bytes:
    """Return the head of a request with a body."""
    return b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n%b\r\n" % (length, extra)


async def refusing(exchange: Exchange) -> None:
    """Take ten bytes, or say 413."""
    try:
        await exchange.body(10)
    except BadInput as error:
        exchange.respond(413, [], error.code.encode())
    else:
        exchange.respond(200, [], b"fits")


async def test_a_declared_body_over_the_limit_is_refused_before_it_is_sent():
    """A client that asks first (Expect) never sends 100 MB in vain."""
    async with serving(refusing) as server, client(server.port) as raw:
        await raw.send(post(100_000_000, extra=b"Expect: 100-continue\r\n"))

        answer = await raw.answer()

        assert (answer.status, answer.body) == (413, b"body-too-large")
        assert await raw.rest() == b""


async def test_a_chunked_body_over_the_limit_is_refused_while_it_comes():
    """A body of unknown length is bounded too, and the client can read why."""
    async with serving(refusing) as server, client(server.port) as raw:
        await raw.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        await raw.send(b"100000\r\n" + b"x" * 0x100000)

        answer = await raw.answer()

    assert (answer.status, answer.body) == (413, b"body-too-large")


async def test_a_client_that_sends_its_large_body_regardless_still_reads_the_refusal():
    """Closing with unread bytes resets the connection, and the reset can overtake the answer."""
    size = 8 << 20
    async with serving(refusing) as server, client(server.port) as raw:

        async def send() -> None:
            try:
                await raw.send(post(size) + b"x" * size)
            except ConnectionError:
                return

        async with asyncio.TaskGroup() as group:
            group.create_task(send())
            answer = await raw.answer()

    assert answer.status == 413


async def test_a_small_unread_body_does_not_cost_the_connection():
    """A refused chat request (401) is followed by the next on the same connection."""

    async def blunt(exchange: Exchange) -> None:
        exchange.respond(401, [], b"no")

    async with serving(blunt) as server, client(server.port) as raw:
        for _ in range(3):
            await raw.send(post(1000))
            assert (await raw.answer()).status == 401
            await raw.send(b"x" * 1000)


async def test_a_body_is_not_taken_into_memory_before_it_is_wanted():
    """A stranger without a key must not be able to make the gateway hold megabytes."""
    wanted, held = asyncio.Event(), asyncio.Event()

    async def patient(exchange: Exchange) -> None:
        await wanted.wait()
        held.set()
        assert exchange.received_bytes < 1 << 20
        exchange.respond(200, [], b"%d" % len(await exchange.body(64 << 20)))

    size = 32 << 20
    async with serving(patient) as server, client(server.port) as raw:

        async def send() -> None:
            await raw.send(post(size))
            for _ in range(32):
                await raw.send(b"x" * (1 << 20))

        async with asyncio.TaskGroup() as group:
            sending = group.create_task(send())
            # until nothing moves for many turns: how much a system takes is its own affair
            still, before = 0, 0
            while still < 100 and not sending.done():
                await asyncio.sleep(0)
                waits = raw.writer.transport.get_write_buffer_size()
                still = still + 1 if waits and waits == before else 0
                before = waits
            wanted.set()
            assert (await raw.answer()).body == b"%d" % size
    assert held.is_set()


async def test_100_continue_is_sent_only_when_the_body_is_wanted():
    """curl waits a second for it with bodies over 1 MB."""
    async with serving(refusing) as server, client(server.port) as raw:
        await raw.send(post(4, extra=b"Expect: 100-continue\r\n"))
        status, _ = await raw.head()
        assert status == 100
        await raw.send(b"abcd")

        assert (await raw.answer()).body == b"fits"


async def test_an_answer_without_a_length_is_chunked_in_1_1_and_closed_in_1_0():
    """The client must be able to tell the end from a cut."""

    async def two(exchange: Exchange) -> None:
        exchange.start(200, [(b"content-type", b"text/event-stream")])
        exchange.write(b"data: a\n\n")
        exchange.write(b"")
        exchange.write(b"data: b\n\n")
        exchange.end()

    async with serving(two) as server:
        async with client(server.port) as raw:
            await raw.send(GET)
            answer = await raw.answer()
            assert answer.headers["transfer-encoding"] == "chunked"
            assert answer.body == b"data: a\n\ndata: b\n\n"
        async with client(server.port) as raw:
            await raw.send(GET.replace(b"1.1", b"1.0"))
            answer = await raw.answer()
            assert "transfer-encoding" not in answer.headers
            assert answer.body == b"data: a\n\ndata: b\n\n"


async def test_head_gets_the_headers_of_get_and_no_body():
    """A body after HEAD would be read as the next answer."""

    async def whole(exchange: Exchange) -> None:
        exchange.respond(200, [(b"content-type", b"text/plain")], b"four")

    async with serving(whole) as server, client(server.port) as raw:
        await raw.send(GET.replace(b"GET", b"HEAD"))
        answer = await raw.answer(is_head=True)
        assert answer.headers["content-length"] == "4"
        await raw.send(GET)

        assert (await raw.answer()).body == b"four"


async def test_an_answer_shorter_than_its_length_is_cut_not_ended():
    """A next answer on the same connection would be taken for the missing bytes."""

    async def short(exchange: Exchange) -> None:
        exchange.start(200, [(b"content-length", b"10")])
        exchange.write(b"abc")
        exchange.end()

    async with serving(short) as server, client(server.port) as raw:
        await raw.send(GET + GET)

        assert (await raw.rest()).count(b"HTTP/1.1") <= 1


async def test_a_line_break_in_a_header_value_is_a_mistake_of_ours_and_answered_with_500(caplog):
    """A value that came from outside must not be able to add headers or a second answer."""

    async def split(exchange: Exchange) -> None:
        exchange.respond(200, [(b"x-name", b"a\r\nset-cookie: b")], b"")

    async with serving(split) as server, client(server.port) as raw:
        await raw.send(GET)
        text = await raw.rest()

    assert b"set-cookie" not in text
    assert "line break" in caplog.text


async def test_drain_waits_for_a_slow_client_and_pressure_is_told():
    """The engine must feel the pace of the slowest reader, or its words fill our memory."""
    pressures: list[bool] = []
    written = 0
    stopped = asyncio.Event()

    async def flood(exchange: Exchange) -> None:
        nonlocal written
        exchange.on_pressure(pressures.append)
        exchange.start(200, [])
        for _ in range(160):
            exchange.write(b"x" * 65536)
            written += 65536
            if exchange.is_paused:
                stopped.set()
            await exchange.drain()
        exchange.end()

    async with serving(flood) as server, client(server.port) as raw:
        raw.writer.transport.pause_reading()
        await raw.send(GET)
        await stopped.wait()
        assert written < 160 * 65536

        raw.writer.transport.resume_reading()
        answer = await raw.answer()

    assert len(answer.body) == 160 * 65536
    assert pressures[:2] == [True, False]


@pytest.mark.parametrize("way", ["close", "reset", "half"])
async def test_a_client_that_leaves_is_noticed_while_nothing_is_written(way):
    """A long prefill writes nothing for minutes; the engine must not work on for nobody."""
    told = asyncio.Event()
    returned = asyncio.Event()

    async def prefill(exchange: Exchange) -> None:
        exchange.on_gone(told.set)
        await exchange.gone()
        assert exchange.is_gone
        returned.set()

    async with serving(prefill) as server, client(server.port) as raw:
        await raw.send(GET)
        match way:
            case "close":
                raw.writer.close()
            case "reset":
                raw.writer.transport.abort()
            case "half":
                raw.writer.write_eof()
        async with asyncio.timeout(30):
            await told.wait()
            await returned.wait()


async def test_a_client_that_closes_only_its_half_still_gets_a_ready_answer():
    """`nc -N` and shell scripts send, close their side, and read."""

    async def quick(exchange: Exchange) -> None:
        exchange.respond(200, [], b"still here")

    async with serving(quick) as server, client(server.port) as raw:
        raw.writer.write(GET)
        raw.writer.write_eof()

        assert (await raw.answer()).body == b"still here"
        assert await raw.rest() == b""


async def test_a_client_that_leaves_within_its_body_ends_the_handler_quietly(caplog):
    """Not an incident: no 500, no traceback in the log."""
    ended: list[type[BaseException]] = []

    async def reading(exchange: Exchange) -> None:
        try:
            await exchange.body(1000)
        except ClientLeft as error:
            ended.append(type(error))
            done.set()
            raise

    done = asyncio.Event()
    async with serving(reading) as server, client(server.port) as raw:
        await raw.send(post(100) + b"half")
        raw.writer.transport.abort()
        async with asyncio.timeout(30):
            await done.wait()

    assert ended == [ClientLeft]
    assert caplog.text == ""


async def test_an_answer_is_started_and_ended_once():
    """Two answers to one request shift all that follow; the mistake must surface at once."""
    mistakes: list[str] = []

    async def twice(exchange: Exchange) -> None:
        exchange.respond(200, [], b"one")
        for act in (
            lambda: exchange.start(200, []),
            lambda: exchange.write(b"x"),
            exchange.end,
        ):
            with pytest.raises(RuntimeError) as caught:
                act()
            mistakes.append(str(caught.value))

    async with serving(twice) as server, client(server.port) as raw:
        await raw.send(GET + GET)
        assert [(await raw.answer()).body for _ in range(2)] == [b"one", b"one"]

    assert len(mistakes) == 6


@pytest.mark.parametrize(
    ("host", "name"),
    [
        (b"127.0.0.1", "127.0.0.1"),
        (b"LocalHost:18020", "localhost"),
        (b"[::1]:18020", "[::1]"),
        (b"[::1]", "[::1]"),
        (b"127.0.0.1:80@evil.example", None),
        (b"127.0.0.1:port", None),
        (b"127.0.0.1:123456", None),
        (b"::1", None),
        (b"[::1]evil", None),
        (b"a/b", None),
        (b"", ""),
        (b"m\xfcnchen", "m\xfcnchen"),
    ],
)
async def test_the_name_of_the_host_is_all_of_it_or_nothing(host: bytes, name: str | None):
    """Who cuts at the last colon takes `127.0.0.1:80@evil.example` for this machine."""
    seen: list[str | None] = []

    async def look(exchange: Exchange) -> None:
        seen.append(exchange.host_name)
        exchange.respond(204)

    async with serving(look) as server, client(server.port) as raw:
        await raw.send(b"GET / HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n")
        await raw.answer()

    assert seen == [name]
