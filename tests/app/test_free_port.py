"""The port of the gateway: the one asked for, or with a yes the next."""

import socket

import pytest

from studio.app.free_port import free_port
from studio.domain.errors import PortTaken

LOOPBACK = "127.0.0.1"


async def test_a_taken_port_is_left_only_with_a_yes() -> None:
    """Clients know the port; it is not changed behind their back."""
    with socket.socket() as held:
        held.bind((LOOPBACK, 0))
        held.listen()
        port = held.getsockname()[1]

        with pytest.raises(PortTaken):
            await free_port(LOOPBACK, port, take_next=False)
        assert await free_port(LOOPBACK, port, take_next=True) != port

    assert await free_port(LOOPBACK, port, take_next=False) == port
