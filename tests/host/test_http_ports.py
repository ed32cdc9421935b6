"""Ports that are taken: by whom, and which one is free instead."""

import asyncio
import os
import socket

import pytest

from studio.domain.errors import BadInput, PortTaken
from studio.host.http_ports import listen
from tests.host.http_support import client, serving


async def test_a_taken_port_names_its_owner_and_the_next_free_one():
    """The person decides on this line: end that program, or take the other port."""
    with await listen("127.0.0.1", 0) as holder:
        port = holder.getsockname()[1]

        with pytest.raises(PortTaken) as caught:
            await listen("127.0.0.1", port)

        data = caught.value.data
        assert caught.value.code == "port-taken"
        assert data["port"] == port
        assert f"(process {os.getpid()})" in str(data["owner"])
        assert isinstance(data["free_port"], int)
        assert data["free_port"] > port
        assert str(data["free_port"]) in (caught.value.hint or "")
        (await listen("127.0.0.1", data["free_port"])).close()


async def test_a_port_held_on_all_addresses_is_taken_too():
    """A program on 0.0.0.0 would otherwise share the port with us, and get half the clients."""
    with socket.create_server(("", 0)) as holder, pytest.raises(PortTaken):
        await listen("127.0.0.1", holder.getsockname()[1])


async def test_a_socket_that_is_bound_but_does_not_listen_yet_does_not_end_in_two_owners():
    """Two services that start together: one gets the port, the other is told."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 0))
        with (
            await listen("127.0.0.1", other.getsockname()[1]),
            pytest.raises(OSError, match="in use"),
        ):
            other.listen()


async def test_a_port_in_time_wait_is_taken_at_once():
    """`weir restart` must not wait a minute for the kernel to forget old connections."""
    async with serving() as server:
        port = server.port
        async with client(port) as raw:
            await raw.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            await raw.answer()
            assert await raw.rest() == b""

    async with serving(port=port) as again:
        assert again.port == port


async def test_an_address_of_another_machine_is_refused_in_words():
    """192.0.2.0/24 belongs to nobody, so no machine can listen there."""
    with pytest.raises(BadInput) as caught:
        await listen("192.0.2.1", 0)

    assert caught.value.code == "address-unusable"


async def test_ipv6_loopback_works_where_the_machine_has_it():
    """`localhost` resolves to ::1 first on many machines."""
    try:
        listener = await listen("::1", 0)
    except BadInput:
        pytest.skip("no IPv6 here")
    with listener:
        _, writer = await asyncio.open_connection("::1", listener.getsockname()[1])
        writer.close()


async def test_a_short_answer_is_sent_at_once():
    """Without TCP_NODELAY each would wait 40 ms for the client's delayed acknowledgement."""
    accepted: asyncio.Queue[int] = asyncio.Queue()

    def note(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("socket")
        accepted.put_nowait(peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = await listen("127.0.0.1", 0)
    async with await asyncio.start_server(note, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        assert await asyncio.wait_for(accepted.get(), 20)
        writer.close()
