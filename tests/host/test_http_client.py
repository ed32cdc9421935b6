"""Requests to an engine: warm connections, engines that die, and clients that leave."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from studio.domain.errors import EngineFailed, EngineNotReady
from studio.host.http_client import Upstream
from studio.host.http_server import Exchange, Server, serve
from tests.host.http_support import echo, serving

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def engine(talk: Talk) -> AsyncIterator[Upstream]:
    """Run an engine that says exactly what a test wants."""
    writers: list[asyncio.StreamWriter] = []

    async def kept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError):
            await talk(reader, writer)

    server = await asyncio.start_server(kept, "127.0.0.1", 0)
    upstream = Upstream(port=server.sockets[0].getsockname()[1])
    try:
        yield upstream
    finally:
        upstream.close()
        server.close()
        for writer in writers:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


def saying(text: bytes, *, then_close: bool = True) -> Talk:
    """Return an engine that answers any request with these bytes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(text)
        if then_close:
            writer.close()

    return talk


class Keeping:
    """A sink that keeps what it gets, and tells of the first piece."""

    def __init__(self) -> None:
        self.status = 0
        self.pieces: list[bytes] = []
        self.has_some = asyncio.Event()

    def on_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Keep the status."""
        del headers
        self.status = status

    def on_data(self, data: bytes) -> None:
        """Keep a piece."""
        self.pieces.append(data)
        self.has_some.set()


async def test_one_connection_serves_many_requests():
    """A cold connection costs a client milliseconds before its first token."""
    connections: set[int] = set()

    async def handler(exchange: Exchange) -> None:
        connections.add(id(exchange._wire))
        await echo(exchange)

    async with serving(handler) as server:
        upstream = Upstream(port=server.port)
        for n in range(5):
            status, _, body = await upstream.fetch("POST", "/a?b", body=b"%d" % n, timeout_s=5)
            assert (status, body) == (200, b"POST /a b %d" % n)
        assert upstream.idle == 1
        upstream.close()

    assert len(connections) == 1


async def test_connections_can_be_opened_ahead():
    """The first clients after a boot find them warm."""
    async with serving() as server:
        upstream = Upstream(port=server.port)
        await upstream.warm(3)
        assert upstream.idle == 3
        upstream.close()
        assert upstream.idle == 0


async def test_a_unix_socket_in_a_spaced_non_ascii_folder_works(tmp_path):
    """Home folders have such names, and the engine listens in one."""
    folder = tmp_path / "Größe ß 模型"
    folder.mkdir()
    async with serving() as server:
        unix = await asyncio.get_running_loop().create_unix_server(
            server.connection, str(folder / "e.sock")
        )
        upstream = Upstream(socket_path=folder / "e.sock")
        status, _, _ = await upstream.fetch("GET", "/", timeout_s=5)
        assert status == 200
        upstream.close()
        unix.close()


async def test_a_full_socket_is_tried_again_until_it_has_room(tmp_path):
    """Two hundred streams that begin at once are no reason to call the engine unreachable."""
    path = tmp_path / "e.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    waiting: list[socket.socket] = []
    with contextlib.suppress(BlockingIOError):
        while True:
            waiting.append(socket.socket(socket.AF_UNIX))
            waiting[-1].setblocking(False)
            waiting[-1].connect(str(path))
    upstream = Upstream(socket_path=path)

    async with serving() as server, asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(upstream.fetch("GET", "/", timeout_s=5))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not asked.done()
        unix = await asyncio.get_running_loop().create_unix_server(server.connection, sock=listener)
        assert (await asked)[0] == 200
        upstream.close()
        unix.close()
    for one in waiting:
        one.close()


async def test_a_warm_connection_that_the_engine_closed_is_replaced_unseen():
    """uvicorn closes idle connections after 5 seconds, at times just as a request comes."""
    accepted = 0

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        if accepted == 1:
            await reader.readuntil(b"\r\n\r\n")  # takes the second request, then goes
            writer.close()

    async with engine(once) as upstream:
        for _ in range(2):
            assert (await upstream.fetch("GET", "/", timeout_s=5))[2] == b"ok"
    assert accepted == 2


async def test_a_fresh_connection_that_closes_unanswered_is_not_tried_for_ever():
    """An engine that dies on each request must give an error, not a loop."""
    accepted = 0

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with engine(never) as upstream:
        with pytest.raises(EngineFailed) as caught:
            await upstream.fetch("GET", "/", timeout_s=5)

    assert (caught.value.code, accepted) == ("engine-cut-off", 1)


@pytest.mark.parametrize("kind", ["port", "socket"])
async def test_an_engine_that_is_not_there_is_unreachable(kind, tmp_path):
    """During a boot and after a crash, this is the answer to everything."""
    async with serving() as server:
        port = server.port
    upstream = Upstream(port=port) if kind == "port" else Upstream(socket_path=tmp_path / "none")

    with pytest.raises(EngineNotReady) as caught:
        await upstream.fetch("GET", "/", timeout_s=5)

    assert caught.value.code == "engine-unreachable"
    assert upstream.name in caught.value.message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", "engine-cut-off"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n", "engine-cut-off"),
        (b"HTTP/1.1 200 OK\r\ncontent-le", "engine-cut-off"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "engine-nonsense"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "engine-nonsense"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", "engine-nonsense"),
    ],
)
async def test_an_answer_that_breaks_off_or_is_no_http_has_its_own_error(text, code):
    """A cut stream must never look like a whole one."""
    async with engine(saying(text)) as upstream:
        with pytest.raises(EngineFailed) as caught:
            await upstream.fetch("GET", "/", timeout_s=5)
        assert upstream.idle == 0

    assert caught.value.code == code


async def test_an_answer_that_ends_with_its_connection_is_whole():
    """HTTP/1.0 servers end so."""
    async with engine(saying(b"HTTP/1.0 200 OK\r\n\r\nall of it")) as upstream:
        assert (await upstream.fetch("GET", "/", timeout_s=5))[2] == b"all of it"
        assert upstream.idle == 0


async def test_interim_answers_are_dropped():
    """100 and 103 are no answers."""
    text = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    )
    async with engine(saying(text)) as upstream:
        status, headers, body = await upstream.fetch("GET", "/", timeout_s=5)

    assert (status, headers, body) == (200, [(b"content-length", b"2")], b"ok")


async def test_a_fetch_has_a_deadline_and_leaves_no_connection():
    """The monitor asks every second; an engine that hangs must not collect its questions."""
    async with engine(saying(b"", then_close=False)) as upstream:
        with pytest.raises(EngineNotReady) as caught:
            await upstream.fetch("GET", "/metrics", timeout_s=0.02)
        assert upstream.idle == 0

    assert caught.value.code == "engine-late"


async def test_a_fetch_has_a_size_limit():
    """An endless answer must not fill the memory."""
    text = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + b"x" * 1000
    async with engine(saying(text)) as upstream:
        with pytest.raises(EngineFailed) as caught:
            await upstream.fetch("GET", "/", timeout_s=5, limit_bytes=10)

    assert caught.value.code == "engine-nonsense"


async def test_pieces_arrive_as_they_are_sent_and_abort_reaches_the_engine_within_50_ms():
    """A token is worth most at once; a token for nobody costs the others."""
    left: list[float] = []
    seen = asyncio.Event()

    async def endless(exchange: Exchange) -> None:
        exchange.start(200, [])
        exchange.write(b"first")
        await exchange.gone()
        left.append(asyncio.get_running_loop().time())
        seen.set()

    async with serving(endless) as server:
        upstream, sink = Upstream(port=server.port), Keeping()
        call = upstream.call("POST", "/", (), b"", sink)
        async with asyncio.TaskGroup() as group:
            group.create_task(call.run())
            await sink.has_some.wait()
            assert (sink.status, sink.pieces) == (200, [b"first"])
            aborted = asyncio.get_running_loop().time()
            call.abort()
            await seen.wait()
        assert upstream.idle == 0

    assert left[0] - aborted < 0.05


async def test_an_abort_before_the_connection_stands_sends_nothing():
    """Clients leave at any time."""
    handled: list[Exchange] = []

    async def handler(exchange: Exchange) -> None:
        handled.append(exchange)
        await echo(exchange)

    async with serving(handler) as server:
        upstream = Upstream(port=server.port)
        call = upstream.call("POST", "/", (), b"", Keeping())
        call.abort()
        await call.run()
        await upstream.fetch("GET", "/after", timeout_s=5)
        upstream.close()

    assert [exchange.path for exchange in handled] == ["/after"]


async def test_cancelling_a_call_closes_its_connection():
    """The server cancels handlers when it closes; the engine must hear of it."""
    gone = asyncio.Event()

    async def endless(exchange: Exchange) -> None:
        exchange.start(200, [])
        exchange.write(b"x")
        await exchange.gone()
        gone.set()

    async with serving(endless) as server:
        upstream, sink = Upstream(port=server.port), Keeping()
        async with asyncio.TaskGroup() as group:
            task = group.create_task(upstream.call("GET", "/", (), None, sink).run())
            await sink.has_some.wait()
            task.cancel()
        await gone.wait()


async def test_a_paused_call_holds_the_engine_back_and_goes_on():
    """Back-pressure end to end: the engine's socket fills instead of our memory."""
    stopped = asyncio.Event()
    size = 160 * 65536

    async def flood(exchange: Exchange) -> None:
        exchange.start(200, [])
        for _ in range(160):
            exchange.write(b"x" * 65536)
            if exchange.is_paused:
                stopped.set()
            await exchange.drain()
        exchange.end()

    server: Server = await serve(flood)
    upstream, sink = Upstream(port=server.port), Keeping()
    call = upstream.call("GET", "/", (), None, sink)
    call.pause()
    async with asyncio.TaskGroup() as group:
        group.create_task(call.run())
        await stopped.wait()
        assert sum(map(len, sink.pieces)) == 0
        call.resume()
    assert sum(map(len, sink.pieces)) == size
    assert upstream.idle == 1
    upstream.close()
    await server.close()


async def test_a_sink_that_fails_is_the_callers_error_not_the_engines():
    """A programming mistake must not be shown as a dead engine."""

    class Broken(Keeping):
        def on_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
            raise LookupError(status, headers)

    async with serving() as server:
        upstream = Upstream(port=server.port)
        with pytest.raises(LookupError):
            await upstream.call("GET", "/", (), None, Broken()).run()
        assert upstream.idle == 0


async def test_a_line_break_in_a_header_is_never_sent():
    """A client's header value must not become a second request to the engine."""
    upstream = Upstream(port=1)

    with pytest.raises(RuntimeError):
        upstream.call("GET", "/", [(b"x", b"a\r\nb: c")], None, Keeping())
