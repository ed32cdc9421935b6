"""Just enough HTTP/1.1 to look like uvicorn: keep-alive, lengths, chunks, streams."""

import asyncio
import contextlib
import dataclasses
import http
import json
import time
from collections.abc import Awaitable, Callable, Mapping

MAX_HEAD = 64 << 10

Json = dict[str, "object"]


class BadRequest(Exception):
    """Bytes that are no request."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    client: str


class Reply:
    """The way back to one client."""

    def __init__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self._request = request
        self._writer = writer
        self.status = 0
        self.keeps_open = request.headers.get("connection", "").lower() != "close"

    @property
    def client_left(self) -> bool:
        """Return whether nobody will read what is sent."""
        return self._writer.is_closing()

    async def send(
        self,
        status: int,
        body: bytes = b"",
        *,
        kind: str | None = "application/json",
        headers: Mapping[str, str] | None = None,
        varies: bool = True,
    ) -> None:
        """Send a whole answer."""
        fields = {**(headers or {}), "content-length": str(len(body))}
        if kind is not None and body:
            fields["content-type"] = kind
        self._writer.write(self._head(status, fields, varies=varies) + body)
        await self._writer.drain()

    async def send_json(
        self, status: int, document: object, *, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a document."""
        await self.send(status, compact(document), headers=headers)

    async def begin_stream(self) -> None:
        """Begin an event stream."""
        fields = {
            "content-type": "text/event-stream; charset=utf-8",
            "transfer-encoding": "chunked",
        }
        self._writer.write(self._head(200, fields, varies=True))
        await self._writer.drain()

    async def stream(self, data: bytes) -> None:
        """Send a piece of the stream in a chunk of its own."""
        self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await self._writer.drain()

    def cut(self) -> None:
        """Break the connection off in mid stream."""
        self._writer.transport.abort()

    async def end_stream(self) -> None:
        """End the stream."""
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    def _head(self, status: int, fields: Mapping[str, str], *, varies: bool) -> bytes:
        self.status = status
        if varies:
            fields = {**fields, "vary": "Origin"}
        if not self.keeps_open:
            fields = {**fields, "connection": "close"}
        lines = [
            f"HTTP/1.1 {status} {phrase(status)}",
            time.strftime("date: %a, %d %b %Y %H:%M:%S GMT", time.gmtime()),
            "server: uvicorn",
            *(f"{name}: {value}" for name, value in fields.items()),
        ]
        return "\r\n".join(lines).encode() + b"\r\n\r\n"


Handler = Callable[[Request, Reply], Awaitable[None]]


def compact(document: object) -> bytes:
    """Return JSON as the engine writes it."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def phrase(status: int) -> str:
    """Return a status in words."""
    return http.HTTPStatus(status).phrase


async def serve_connection(
    handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer one client's requests, one after the other, until it leaves."""
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        try:
            while (request := await _read(reader, _client(writer))) is not None:
                reply = Reply(request, writer)
                await handler(request, reply)
                if not reply.keeps_open:
                    break
        except (BadRequest, asyncio.LimitOverrunError, ValueError):
            body = b"Invalid HTTP request received."
            writer.write(
                b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n"
                b"connection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
            )
            await writer.drain()
    with contextlib.suppress(ConnectionError):
        writer.close()
        await writer.wait_closed()


def _client(writer: asyncio.StreamWriter) -> str:
    name = writer.get_extra_info("peername")
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else ""


async def _read(reader: asyncio.StreamReader, client: str) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial.strip():
            raise BadRequest from error
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest
    headers = {}
    for line in filter(None, lines):
        name, colon, value = line.partition(":")
        if not colon:
            raise BadRequest
        headers[name.lower()] = value.strip()
    body = await _read_body(reader, headers)
    path = words[1].partition("?")[0]
    return Request(method=words[0], path=path, headers=headers, body=body, client=client)


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    while (await reader.readline()).strip():
        pass
    return body
