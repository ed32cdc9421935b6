"""Ports that are taken: by whom, and which one is free instead."""

import asyncio
import contextlib
import errno
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from studio.domain.errors import BadInput, HostLacks, PortTaken, StudioError
from studio.host import http_ports
from studio.host.http_ports import listen
from studio.host.windows_ports import WindowsPorts
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


async def windows(**known: Any) -> WindowsPorts:
    """Return what Windows says."""
    return WindowsPorts(**known)


async def free_run(length: int) -> int:
    """Return the first of several free ports in a row, below those that other tests are given."""
    for first in range(12_000, 20_000, length):
        try:
            for port in range(first, first + length):
                (await listen("127.0.0.1", port)).close()
        except StudioError:
            continue
        return first
    raise AssertionError("no free ports in a row")


async def test_a_range_that_windows_keeps_is_named_and_passed_over() -> None:
    """A program can be started there and is never reached."""
    first = await free_run(12)
    kept = (first, first + 3)

    with pytest.raises(PortTaken) as caught:
        await listen("127.0.0.1", first, ask_windows=lambda: windows(excluded=(kept,)))

    assert caught.value.code == "port-reserved"
    assert f"{kept[0]} to {kept[1]}" in caught.value.message
    assert caught.value.data["free_port"] == first + 4
    (await listen("127.0.0.1", first)).close()


async def test_a_program_of_windows_holds_the_port_behind_wsl() -> None:
    """Both could listen, and clients on Windows would reach the wrong one."""
    first = await free_run(12)
    known = {first: "jupyter-lab.exe (Windows process 4711)", first + 1: "x"}

    with pytest.raises(PortTaken) as caught:
        await listen("127.0.0.1", first, ask_windows=lambda: windows(listeners=known))

    assert caught.value.code == "port-taken"
    assert "taken by jupyter-lab.exe (Windows process 4711)" in caught.value.message
    assert caught.value.data["free_port"] == first + 2
    (await listen("127.0.0.1", first)).close()


async def test_the_port_that_is_offered_is_nobodys_usual_one() -> None:
    """A development server that starts tomorrow expects its port."""
    with contextlib.ExitStack() as holders:
        for port in (7_999, 11_433):
            try:
                holders.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                pytest.skip(f"port {port} is in use on this machine")
            with pytest.raises(PortTaken) as caught:
                await listen("127.0.0.1", port)

            assert caught.value.data["free_port"] not in (None, 8_000, 8_001, 11_434)


async def test_above_the_highest_port_there_are_others() -> None:
    """65535 is a port like any other."""
    with await listen("127.0.0.1", 65_535), pytest.raises(PortTaken) as caught:
        await listen("127.0.0.1", 65_535)

    assert isinstance(caught.value.data["free_port"], int)


async def test_a_port_that_somebody_has_on_ipv6_is_not_offered() -> None:
    """`localhost` is ::1 first for many clients."""
    first = await free_run(4)
    with (
        await listen("127.0.0.1", first),
        socket.create_server(("::1", first + 1), family=socket.AF_INET6),
        pytest.raises(PortTaken) as caught,
    ):
        await listen("127.0.0.1", first)

    assert caught.value.data["free_port"] == first + 2


async def test_ipv6_addresses_are_listened_on_and_named() -> None:
    """For machines that have nothing else."""
    with await listen("::1", 0) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(PortTaken, match=f"Port {port} on ::1 is taken by"):
            await listen("::1", port)


@pytest.mark.parametrize(
    ("port", "first", "said", "hint"),
    [
        (80, "1024", "ports below 1024 belong to the system", "from 1024 on"),
        (443, "500", "ports below 500 belong", "ip_unprivileged_port_start=443"),
        (600, "500", "a security rule", "SELinux"),
        (600, "nonsense", "ports below 1024", "from 1024 on"),
    ],
)
async def test_a_privileged_port_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int, first: str, said: str, hint: str
) -> None:
    """The tests may run as root, to whom nothing is forbidden."""
    start = tmp_path / "start"
    start.write_text(first)
    monkeypatch.setattr(http_ports, "_PRIVILEGED", start)

    def refuse(_address: str, _port: int) -> socket.socket:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(http_ports, "_bound", refuse)

    with pytest.raises(HostLacks) as caught:
        await listen("127.0.0.1", port)

    assert caught.value.code == "port-forbidden"
    assert said in caught.value.message
    assert hint in (caught.value.hint or "")


async def test_a_forbidden_port_in_a_range_of_windows_is_called_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Windows says `access denied` for its own ranges, which sends people after rights."""

    def refuse(_address: str, _port: int) -> socket.socket:
        raise PermissionError(errno.EACCES, "An attempt was made to access a socket")

    monkeypatch.setattr(http_ports, "_bound", refuse)

    with pytest.raises(PortTaken, match="a range that Windows keeps for itself: 1 to 65535"):
        await listen("127.0.0.1", 50_000, ask_windows=lambda: windows(excluded=((1, 65_535),)))


async def test_a_port_that_nobody_here_holds_is_somebody_elses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Containers that share the network do not share the list of processes."""
    monkeypatch.setattr(http_ports.port_owners, "find", lambda _port: None)

    with await listen("127.0.0.1", 0) as holder, pytest.raises(PortTaken) as caught:
        await listen("127.0.0.1", holder.getsockname()[1])

    assert "not seen from here" in caught.value.message
    assert caught.value.data["owner"] is None
