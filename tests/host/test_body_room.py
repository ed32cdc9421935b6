"""Memory that the bodies of all requests share."""

import asyncio

import pytest

from studio.domain.errors import HostLacks
from studio.host.body_room import BodyRoom
from studio.host.http_exchange import READ_AHEAD_BYTES
from studio.host.http_server import Exchange
from tests.fakes.waiting import until_async
from tests.host.http_support import client, serving

LIMIT = 64 << 20


def post(size: int | None) -> bytes:
    """Return the head of a request; None: in chunks."""
    framing = b"transfer-encoding: chunked" if size is None else b"content-length: %d" % size
    return b"POST / HTTP/1.1\r\nhost: x\r\n" + framing + b"\r\n\r\n"


def test_what_does_not_fit_is_not_counted():
    """A refusal must not fill the room a little more each time."""
    room = BodyRoom(100)

    assert room.take(60)
    assert not room.take(41)
    assert room.held_bytes == 60
    room.give_back(60)
    assert room.take(100)


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_bodies_that_fit_one_by_one_but_not_together_are_refused(is_chunked):
    """A limit for one body does not bound a hundred at once."""
    room, refused, go_on = BodyRoom(1 << 20), [], asyncio.Event()

    async def keep(exchange: Exchange) -> None:
        try:
            size = len(await exchange.large_body(LIMIT, room))
        except HostLacks as error:
            refused.append(error)
            exchange.respond(503, [], error.code.encode())
            return
        await go_on.wait()
        exchange.respond(200, [], b"%d" % size)

    size = 800_000
    body = b"x" * size
    framed = b"%x\r\n%b\r\n0\r\n\r\n" % (size, body) if is_chunked else body
    head = post(None if is_chunked else size)
    async with serving(keep) as server, client(server.port) as one, client(server.port) as other:
        await one.send(head + framed)
        await until_async(lambda: room.held_bytes == size - READ_AHEAD_BYTES, "the first body")
        await other.send(head + framed)
        answer = await other.answer()
        assert (answer.status, answer.body) == (503, b"bodies-too-many")
        async with client(server.port) as small:
            await small.send(post(1000) + b"y" * 1000)
            go_on.set()
            assert (await small.answer()).body == b"1000", "small ones always pass"
        assert (await one.answer()).body == b"%d" % size

        await until_async(lambda: room.held_bytes == 0, "the room to be free again")
        async with client(server.port) as again:
            await again.send(head + framed)
            assert (await again.answer()).body == b"%d" % size
    assert "512" not in refused[0].message
    assert refused[0].data["limit_bytes"] == 1 << 20


async def test_of_many_that_come_at_once_as_many_as_fit_are_taken():
    """Eight pictures of 100 MB: five are answered, three are told to come again."""
    room, go_on = BodyRoom(3 << 20), asyncio.Event()

    async def keep(exchange: Exchange) -> None:
        try:
            await exchange.large_body(LIMIT, room)
        except HostLacks:
            exchange.respond(503, [])
            return
        await go_on.wait()
        exchange.respond(200, [])

    size = 900_000

    async def one(port: int) -> int:
        async with client(port) as raw:
            await raw.send(post(size))
            for _ in range(9):
                await raw.send(b"x" * (size // 9))
                await asyncio.sleep(0)
            return (await raw.answer()).status

    async with serving(keep) as server, asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(one(server.port)) for _ in range(8)]
        await until_async(lambda: sum(each.done() for each in asked) == 5, "the refusals")
        go_on.set()

    assert sorted(each.result() for each in asked) == [200] * 3 + [503] * 5


async def test_a_client_that_leaves_within_its_body_gives_its_room_back():
    """Otherwise a broken network fills it up for good."""
    room = BodyRoom(1 << 20)

    async def read(exchange: Exchange) -> None:
        await exchange.large_body(LIMIT, room)

    async with serving(read) as server, client(server.port) as one:
        await one.send(post(900_000) + b"x" * 500_000)
        await until_async(lambda: room.held_bytes > 0, "some of the body")
        one.writer.transport.abort()
        await until_async(lambda: room.held_bytes == 0, "the room to be free again")


@pytest.mark.parametrize("size", [0, 1, READ_AHEAD_BYTES, (1 << 20) + 1, 5 << 20])
async def test_a_body_is_whole_however_it_was_put_together(size):
    """In pieces, or where it will lie; with some of it read before it was wanted."""
    room, got = BodyRoom(64 << 20), []

    async def read(exchange: Exchange) -> None:
        await asyncio.sleep(0)
        got.append(await exchange.large_body(LIMIT, room))
        exchange.respond(200, [])

    sent = bytes(range(256)) * (size // 256 + 1)
    sent = sent[:size]
    async with serving(read) as server, client(server.port) as raw:
        await raw.send(post(size) + sent)
        assert (await raw.answer()).status == 200
        await raw.send(post(3) + b"abc")
        assert (await raw.answer()).status == 200
        await until_async(lambda: room.held_bytes == 0, "the room to be free again")

    assert got == [sent, b"abc"]
    assert isinstance(got[0], bytearray) == (size > 1 << 20)
