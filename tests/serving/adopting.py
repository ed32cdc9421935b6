"""A door of one's own before a fake engine: TCP or TLS, that can be shut, hang, or lie."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

CERTIFICATE = Path(__file__).resolve().parents[1] / "data" / "tls" / "self-signed.pem"


class Door:
    """Passes bytes between clients and a Unix socket."""

    def __init__(self, path: str, *, tls: bool) -> None:
        self._flows = asyncio.Event()
        self._flows.set()
        self.answer: bytes | None = None
        """What to say instead of asking the engine."""
        self.port = 0
        self._path = path
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def hang(self) -> None:
        """Keep the port open and pass nothing on, as a stopped process does."""
        self._flows.clear()

    def go_on(self) -> None:
        """Pass on what waited, as a process does that was only busy."""
        self._flows.set()

    async def open(self) -> None:
        """Let clients in, on the same port as before."""
        context = None
        if self._tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self.port, ssl=context, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        """Be gone, as a killed engine is."""
        assert self._server is not None
        self._server.close()
        for writer in list(self._open):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        # Cancelled is what it is when the test is over, and its loop with it.
        with contextlib.suppress(
            ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError
        ):
            if self.answer is not None:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(self.answer)
                await writer.drain()
            else:
                await self._pass(reader, writer)
        self._open.discard(writer)
        writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_unix_connection(self._path)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._copy(reader, inner_writer))
                tasks.create_task(self._copy(inner_reader, writer))
        except* (ConnectionError, ssl.SSLError):
            pass
        finally:
            inner_writer.transport.abort()

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            await self._flows.wait()
            sink.write(data)
            await sink.drain()
        sink.transport.abort()


@contextlib.asynccontextmanager
async def door(path: str, *, tls: bool = False) -> AsyncIterator[Door]:
    """Yield an open door."""
    made = Door(path, tls=tls)
    await made.open()
    try:
        yield made
    finally:
        await made.shut()
