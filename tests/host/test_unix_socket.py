"""Connecting to Unix sockets."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.host.unix_socket import connected


@pytest.fixture
def full(tmp_path: Path) -> Iterator[socket.socket]:
    """Return a socket whose backlog is full."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(tmp_path / "e.sock"))
        listener.listen(1)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = stack.enter_context(socket.socket(socket.AF_UNIX))
                waiting.setblocking(False)
                waiting.connect(listener.getsockname())
        yield listener


async def test_a_full_backlog_is_waited_for(full: socket.socket) -> None:
    """Two hundred streams that begin at once are no reason to call the engine unreachable."""
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        made = tasks.create_task(connected(full.getsockname()))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not made.done()
        for _ in range(2):
            full.accept()[0].close()
        (await made).close()


async def test_who_stops_waiting_leaves_nothing_open(full: socket.socket) -> None:
    """The deadline of a connect is its caller's; a socket that stays open warns, and fails."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await connected(full.getsockname())


async def test_a_socket_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    """An engine that is gone."""
    with pytest.raises(FileNotFoundError):
        await connected(str(tmp_path / "none.sock"))
