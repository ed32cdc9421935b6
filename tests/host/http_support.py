"""A raw client for the server's tests: sends exactly these bytes, and sees exactly the answer."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from studio.host.http_server import Exchange, Limits, Server, serve

PATIENCE_S = 30.0
"""No answer takes so long; a test that waits for it has failed."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """One answer, its framing undone."""

    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        """Send bytes."""
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, *, is_head: bool = False) -> Answer:
        """Read one whole answer."""
        async with asyncio.timeout(PATIENCE_S):
            status, headers = await self.head()
            if is_head or status in {204, 304}:
                return Answer(status, headers, b"")
            if headers.get("transfer-encoding") == "chunked":
                return Answer(status, headers, await self._chunks())
            if "content-length" in headers:
                length = int(headers["content-length"])
                return Answer(status, headers, await self.reader.readexactly(length))
            return Answer(status, headers, await self.reader.read())

    async def head(self) -> tuple[int, dict[str, str]]:
        """Read status and headers."""
        async with asyncio.timeout(PATIENCE_S):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        pairs = (line.split(": ", 1) for line in lines)
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}

    async def rest(self) -> bytes:
        """Read until the server closes; a reset counts as a close."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read()
            except ConnectionResetError:
                return b""

    async def _chunks(self) -> bytes:
        body = bytearray()
        while True:
            size = int(await self.reader.readline(), 16)
            body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
            if not size:
                return bytes(body)


@asynccontextmanager
async def client(port: int) -> AsyncIterator[Client]:
    """Open a connection and close it at the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Client(reader, writer)
    finally:
        writer.transport.abort()


async def echo(exchange: Exchange) -> None:
    """Answer with what came in."""
    body = await exchange.body(1 << 20)
    line = f"{exchange.method} {exchange.path} {exchange.query} ".encode()
    exchange.respond(200, [(b"content-type", b"text/plain")], line + body)


@asynccontextmanager
async def serving(handler=echo, **options) -> AsyncIterator[Server]:
    """Run a server for the length of a test."""
    server = await serve(handler, **options)
    try:
        yield server
    finally:
        await server.close()


def quick(**limits: float) -> Limits:
    """Return limits with the given ones changed."""
    return dataclasses.replace(Limits(), **limits)
