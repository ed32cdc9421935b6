"""A control server on a loopback port, with a real Studio over the fake engine behind it."""

import asyncio
import contextlib
import dataclasses
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx

from studio.app.studio import Studio
from studio.app.wiring import Parts
from studio.control.client import ControlClient
from studio.control.server import ControlServer
from studio.host import files
from studio.host.paths import Paths
from tests.app.running import fake_paths

TOKEN = "the-token-of-this-run"


@dataclasses.dataclass(slots=True, kw_only=True)
class Talk:
    """One running Studio and the ways to talk to it."""

    paths: Paths
    parts: Parts
    studio: Studio
    server: ControlServer
    holders: list[int] = dataclasses.field(default_factory=list)
    kept: int = 0
    downs: int = 0

    @property
    def url(self) -> str:
        """Return the beginning of every path."""
        return f"http://127.0.0.1:{self.server.port}/control/v1"

    def client(self) -> ControlClient:
        """Return a client that knows the token."""
        return ControlClient(f"http://127.0.0.1:{self.server.port}", TOKEN)

    def http(self, **headers: str) -> httpx.AsyncClient:
        """Return a bare HTTP client with the token and these headers."""
        fields = {"Authorization": f"Bearer {TOKEN}", **headers}
        no_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the usual one reads all certificates
        return httpx.AsyncClient(headers=fields, trust_env=False, timeout=20, verify=no_tls)

    async def raw(self, data: bytes) -> bytes:
        """Send bytes and return what comes back until the server closes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        try:
            writer.write(data)
            await writer.drain()
            return await asyncio.wait_for(reader.read(), 20)
        finally:
            writer.close()


@contextlib.asynccontextmanager
async def talking(folder: Path, **options: Any) -> AsyncIterator[Talk]:
    """Yield a server with a Studio; options go to the catalogue."""
    with fake_paths(folder, **options) as paths:
        async with serving(paths) as talk:
            yield talk


@contextlib.asynccontextmanager
async def serving(paths: Paths) -> AsyncIterator[Talk]:
    """Yield a server with a Studio over these paths."""
    files.make_private(paths.service)
    parts = Parts(paths)
    studio = Studio(parts)
    talk: Talk

    async def down() -> None:
        talk.downs += 1

    def keep() -> None:
        talk.kept += 1

    def hold(count: int) -> None:
        talk.holders.append(count)

    server = ControlServer(studio, TOKEN, down=down, on_holders=hold, on_keep=keep)
    talk = Talk(paths=paths, parts=parts, studio=studio, server=server)
    await studio.open()
    await server.open()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(studio.run())
        await asyncio.sleep(0)
        try:
            yield talk
        finally:
            await studio.end("the test is over")
            await server.close()
            task.cancel()
