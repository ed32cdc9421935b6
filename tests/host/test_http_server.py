"""The server as its owner sees it: failing handlers, closing with and without grace."""

import asyncio
import select
import socket

import pytest

from studio.host.http_server import Exchange, serve
from tests.host.http_support import client, echo, serving

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


async def test_a_handler_that_raises_is_answered_with_an_id_and_others_go_on(caplog):
    """One bad request must not end the answers of everyone else."""
    release = asyncio.Event()

    async def handler(exchange: Exchange) -> None:
        if exchange.path == "/bad":
            raise ValueError("secret detail")
        await release.wait()
        await echo(exchange)

    async with serving(handler) as server, client(server.port) as good, client(server.port) as bad:
        await good.send(GET)
        await bad.send(GET.replace(b"/ ", b"/bad ", 1))
        answer = await bad.answer()
        release.set()
        assert (await good.answer()).status == 200

    incident = answer.body.decode().rpartition("[")[2].rstrip("].\n")
    assert answer.status == 500
    assert b"secret" not in answer.body
    assert incident in caplog.text
    assert "secret detail" in caplog.text


async def test_a_handler_that_fails_after_its_start_cuts_the_connection(caplog):
    """A chunked answer without its end is how a client can tell."""

    async def handler(exchange: Exchange) -> None:
        exchange.start(200, [])
        exchange.write(b"half")
        raise ValueError

    async with serving(handler) as server, client(server.port) as raw:
        await raw.send(GET)
        text = await raw.rest()

    assert not text.endswith(b"0\r\n\r\n")


async def test_a_handler_that_forgets_to_answer_is_a_mistake_not_a_hanging_client(caplog):
    """The client would wait for ever."""

    async def handler(exchange: Exchange) -> None:
        del exchange

    async with serving(handler) as server, client(server.port) as raw:
        await raw.send(GET)

        assert (await raw.answer()).status == 500
    assert "without ending its answer" in caplog.text


async def test_an_owner_may_take_failures_itself():
    """The gateway words them in its clients' dialect."""
    taken: list[BaseException] = []

    def on_error(exchange: Exchange, error: BaseException) -> None:
        taken.append(error)
        exchange.respond(500, [], b"mine")

    async def handler(exchange: Exchange) -> None:
        raise KeyError(exchange.path)

    async with serving(handler, on_error=on_error) as server, client(server.port) as raw:
        await raw.send(GET)
        assert (await raw.answer()).body == b"mine"

    assert isinstance(taken[0], KeyError)


async def test_closing_with_grace_lets_a_running_answer_end_and_takes_no_more():
    """`weir down` while somebody's answer is streaming."""
    running, release = asyncio.Event(), asyncio.Event()

    async def handler(exchange: Exchange) -> None:
        exchange.start(200, [])
        running.set()
        await release.wait()
        exchange.write(b"the end")
        exchange.end()

    server = await serve(handler)
    async with client(server.port) as raw, client(server.port) as idle:
        await raw.send(GET)
        await running.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(server.close(grace_s=10))
            assert await idle.rest() == b""
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", server.port)
            release.set()
            assert (await raw.answer()).body == b"the end"
            assert await raw.rest() == b""


async def test_closing_without_grace_cancels_handlers_and_leaves_nothing():
    """No task and no socket may outlive the server."""
    cancelled = asyncio.Event()
    running = asyncio.Event()

    async def handler(exchange: Exchange) -> None:
        exchange.start(200, [])
        running.set()
        try:
            await exchange.gone()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    server = await serve(handler)
    async with client(server.port) as raw:
        await raw.send(GET)
        await running.wait()
        await server.close()

        assert cancelled.is_set()
        assert not (await raw.rest()).endswith(b"0\r\n\r\n")
        assert server.connections == 0


async def test_no_timer_runs_while_nobody_is_connected():
    """An idle service must not wake a laptop's processor."""
    async with serving() as server:
        async with client(server.port) as raw:
            await raw.send(GET)
            await raw.answer()
            assert server._sweeper is not None
        async with asyncio.timeout(30):
            while server._sweeper is not None:
                await asyncio.sleep(0)


async def test_hundreds_of_clients_that_come_at_once_are_all_let_in():
    """One that finds no room knocks again after a second: the worst first token of them all."""
    async with serving() as server:
        clients = [socket.socket() for _ in range(300)]
        for one in clients:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", server.port))
        # No turn of the loop in between: nothing was accepted yet.
        _, connected, _ = select.select([], clients, [], 0)
        for one in clients:
            one.close()

    assert len(connected) == len(clients)
