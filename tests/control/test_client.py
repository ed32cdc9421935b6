"""The client against whatever may listen on the port: the service, a newer one, a stranger."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import msgspec
import pytest

from studio.control.client import ControlClient
from studio.domain.control import UpRequest
from studio.domain.diagnosis import DiagnoseRequest, FixRequest
from studio.domain.errors import (
    BadInput,
    EngineFailed,
    ErrorInfo,
    ServiceUnreachable,
    StudioError,
)
from studio.domain.events import Event, GatewayChanged, KeysChanged
from studio.domain.network import NetworkChange
from studio.domain.settings import CareChange
from studio.host.http_server import Exchange, serve
from tests.fakes.weir import free_port

JSON = [(b"content-type", b"application/json")]
Calls = list[tuple[str, str, str, bytes]]


@contextlib.asynccontextmanager
async def answering(
    status: int, body: bytes, headers: list[tuple[bytes, bytes]] = JSON
) -> AsyncIterator[tuple[ControlClient, Calls]]:
    """Yield a client of a server that gives one answer to everything, and what it was asked."""
    calls: Calls = []

    async def handle(exchange: Exchange) -> None:
        calls.append((exchange.method, exchange.path, exchange.query, await exchange.body(1 << 20)))
        exchange.respond(status, headers, body)

    server = await serve(handle)
    client = ControlClient(f"http://127.0.0.1:{server.port}", "token")
    try:
        yield client, calls
    finally:
        await client.close()
        await server.close()


@contextlib.asynccontextmanager
async def speaking(*pieces: bytes) -> AsyncIterator[ControlClient]:
    """Yield a client of a program that says these bytes to whoever connects, and hangs up."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    client = ControlClient(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "token")
    try:
        yield client
    finally:
        await client.close()
        server.close()


async def refusal(call: Awaitable[object]) -> StudioError:
    """Return the error that a call ends with."""
    with pytest.raises(StudioError) as caught:
        await call
    return caught.value


async def listen(client: ControlClient) -> list[Event]:
    """Return the events up to the stream's end."""
    async with asyncio.timeout(30), contextlib.aclosing(client.events()) as events:
        return [event async for event in events]


Call = tuple[Callable[[ControlClient], Awaitable[object]], str, str, str]
"""A call, and the method, path and query that it should be."""


async def check(calls: Sequence[Call]) -> None:
    """Make every call of a service that refuses, and see where it went."""
    info = ErrorInfo(code="some-code", message="No.", hint="Yes.", exit_status=5)
    async with answering(422, msgspec.json.encode(info)) as (client, seen):
        for call, method, path, query in calls:
            error = await refusal(call(client))
            assert (error.info, type(error)) == (info, EngineFailed)
            assert seen[-1][:3] == (method, f"/control/v1{path}", query)


async def test_every_call_goes_where_the_document_says() -> None:
    """A path that is misspelt on one side only is a feature that does not work."""
    await check(
        [
            (lambda c: c.up(UpRequest(preset="x")), "POST", "/up", ""),
            (lambda c: c.switch(UpRequest(preset="x")), "POST", "/switch", ""),
            (lambda c: c.restart(), "POST", "/restart", ""),
            (lambda c: c.stop(), "POST", "/stop", ""),
            (lambda c: c.down(), "POST", "/down", ""),
            (lambda c: c.keep(), "POST", "/keep", ""),
            (lambda c: c.status(), "GET", "/status", ""),
            (lambda c: c.ps(), "GET", "/ps", ""),
            (lambda c: c.logs(lines=7, after=3), "GET", "/logs", "lines=7&after=3"),
            (lambda c: c.history(seconds=9), "GET", "/history", "seconds=9"),
            (lambda c: c.host(), "GET", "/host", ""),
            (lambda c: c.hosts(), "GET", "/hosts", ""),
            (lambda c: c.doctor(), "GET", "/doctor", ""),
            (lambda c: c.doctor("a&b"), "GET", "/doctor", "host=a%26b"),
            (lambda c: c.diagnose(DiagnoseRequest()), "POST", "/diagnose", ""),
            (lambda c: c.remedies(), "GET", "/remedies", ""),
            (lambda c: c.fix(FixRequest(number=1)), "POST", "/remedies", ""),
            (lambda c: c.network(), "GET", "/network", ""),
            (lambda c: c.change_network(NetworkChange()), "POST", "/network", ""),
            (lambda c: c.settings(), "GET", "/settings", ""),
            (lambda c: c.change_settings(CareChange()), "POST", "/settings", ""),
        ]
    )
    async with answering(422, b"{}") as (client, seen):
        await refusal(client.up(UpRequest(preset="x")))
    assert msgspec.json.decode(seen[0][3], type=UpRequest) == UpRequest(preset="x")


@pytest.mark.parametrize("key_id", ["a b", "x/../../stop", "ü?#%2f", "..", "a\nb"])
async def test_a_hostile_key_id_stays_one_part_of_the_path(key_id: str) -> None:
    """`weir keys revoke ../../stop` must not stop the engine."""
    async with answering(404, b"{}") as (client, seen):
        await refusal(client.revoke_key(key_id))

    path = seen[0][1]
    assert path.startswith("/control/v1/keys/")
    assert path.endswith("/revoke")
    assert path.count("/") == 5


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b""),
        (200, b"<html>a printer</html>"),
        (200, b'{"service": 3}'),
        (200, b"\xff\xfe"),
        (404, b"not found"),
        (500, b'{"message": "no code"}'),
        (502, b""),
    ],
)
async def test_another_program_s_answer_is_an_error_of_ours(status: int, body: bytes) -> None:
    """The port of a service that is gone may be anybody's by now."""
    async with answering(status, body) as (client, _):
        error = await refusal(client.status())

    assert isinstance(error, ServiceUnreachable)
    assert error.code == "service-answer-unknown"
    assert error.hint


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope",
        b"HTTP/1.1 302 Found\r\nlocation: http://evil.example/\r\ncontent-length: 0\r\n\r\n",
    ],
)
async def test_what_is_no_answer_is_an_error_of_ours(said: bytes) -> None:
    """A stranger's protocol, half an answer, an answer that sends us elsewhere."""
    async with speaking(said) as client:
        error = await refusal(client.status())

    assert isinstance(error, ServiceUnreachable)


async def test_nobody_there_is_an_error_of_ours() -> None:
    """And it says what to do."""
    client = ControlClient(f"http://127.0.0.1:{free_port()}", "token")

    error = await refusal(client.status())
    heard = await refusal(listen(client))
    await client.close()

    for one in (error, heard):
        assert one.code == "service-unreachable"
        assert "weir up" in (one.hint or "")


async def test_a_token_that_no_header_can_carry_is_an_error_of_ours() -> None:
    """A damaged token file."""
    client = ControlClient(f"http://127.0.0.1:{free_port()}", "two\nlines")

    error = await refusal(client.status())
    await client.close()

    assert isinstance(error, ServiceUnreachable)


def chunked(*pieces: bytes) -> list[bytes]:
    """Return an event stream of these pieces."""
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    return [head, *(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)]


async def test_events_may_arrive_in_any_pieces() -> None:
    """The kernel cuts where it likes."""
    sent = [GatewayChanged(base_url="http://127.0.0.1:1/v1 ö\n\n"), KeysChanged()]
    stream = b": a comment\n\n".join(b"data: " + msgspec.json.encode(e) + b"\n\n" for e in sent)
    bytewise = [stream[at : at + 1] for at in range(len(stream))]

    for pieces in ([stream], bytewise):
        async with speaking(*chunked(*pieces), b"0\r\n\r\n") as client:
            assert await listen(client) == sent


async def test_a_stream_that_breaks_off_is_told_from_one_that_ends() -> None:
    """A killed service is not a service that said goodbye."""
    event = b"data: " + msgspec.json.encode(KeysChanged()) + b"\n\n"

    async with speaking(*chunked(event)) as client:
        error = await refusal(listen(client))

    assert isinstance(error, ServiceUnreachable)


async def test_an_event_that_is_unknown_is_an_error_of_ours() -> None:
    """Client and service of different versions; a traceback would not say so."""
    async with speaking(*chunked(b'data: {"event":"new-kind"}\n\n'), b"0\r\n\r\n") as client:
        error = await refusal(listen(client))

    assert error.code == "service-answer-unknown"


async def test_a_refused_stream_says_why() -> None:
    """The token may be an old one."""
    info = BadInput("token-wrong", "The token is wrong.").info

    async with answering(401, msgspec.json.encode(info)) as (client, _):
        assert (await refusal(listen(client))).code == "token-wrong"


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token would go to the company's proxy."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")

    async with answering(200, b"[]") as (client, seen):
        assert await client.keys() == []

    assert len(seen) == 1
