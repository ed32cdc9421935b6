"""A stand-in engine: answers with recordings of the real one, or misbehaves as told."""

import asyncio
import dataclasses
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

from studio.gateway.engine import EngineTarget
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from studio.gateway.usage import RequestRecord
from studio.host.http_server import Exchange, Server, serve
from tests.gateway.recordings import recorded

ENGINE_KEY = "boot-key-of-this-engine"

_RECORDINGS = {
    "/v1/models": ("models", "models"),
    "/v1/chat/completions": ("chat", "chat-stream"),
    "/v1/completions": ("completions", "completions-stream"),
    "/v1/responses": ("responses", "responses-stream"),
    "/v1/messages": ("messages", "messages-stream"),
    "/v1/messages/count_tokens": ("messages-count-tokens", "messages-count-tokens"),
}


@dataclasses.dataclass
class Received:
    """One request as the engine saw it."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, object]:
        """Return the body."""
        document = json.loads(self.body)
        assert isinstance(document, dict)
        return document


class Engine:
    """The engine behind a gateway under test."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.received: list[Received] = []
        self.act: Callable[[Exchange], Awaitable[None]] | None = None
        """What to do instead of answering with a recording."""
        self.name: str | None = None
        """The recording to answer with, whatever was asked."""
        self._server: Server | None = None
        self._unix: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen on the socket."""
        self._server = await serve(self._handle)
        self._unix = await asyncio.get_running_loop().create_unix_server(
            self._server.connection, str(self.socket)
        )

    async def close(self) -> None:
        """Stop, as if it had died."""
        assert self._server is not None
        assert self._unix is not None
        self._unix.close()
        await self._server.close()

    async def _handle(self, exchange: Exchange) -> None:
        body = await exchange.body(1 << 30)
        headers = {name.decode(): value.decode("latin-1") for name, value in exchange.headers}
        self.received.append(
            Received(exchange.method, exchange.path, exchange.query, headers, body)
        )
        if self.act is not None:
            await self.act(exchange)
            return
        if headers.get("authorization") != f"Bearer {ENGINE_KEY}":
            self._replay(exchange, "err-401-chat")
            return
        names = _RECORDINGS.get(exchange.path, ("not-found", "not-found"))
        is_stream = bool(body) and b'"stream":true' in body.replace(b": ", b":")
        name = self.name or headers.get("x-recording") or names[is_stream]
        self._replay(exchange, name, has_usage=b"include_usage" in body)

    def _replay(self, exchange: Exchange, name: str, *, has_usage: bool = True) -> None:
        answer = recorded(name)
        if not answer.is_stream:
            exchange.respond(answer.status, answer.headers, answer.body)
            return
        exchange.start(answer.status, answer.headers)
        for event in answer.events:
            is_extra = b'"choices":[]' in event and not has_usage
            if not is_extra:
                exchange.write(event)
        exchange.end()


@dataclasses.dataclass
class Setup:
    """All that a gateway's test touches."""

    keys: KeyStore
    engine: Engine
    target: EngineTarget | None
    key: str
    records: list[RequestRecord] = dataclasses.field(default_factory=list)
    gateway: Gateway = dataclasses.field(init=False)

    @property
    def port(self) -> int:
        """Return the gateway's port."""
        port = self.gateway.info().port
        assert port is not None
        return port

    def client(self, **headers: str) -> httpx.AsyncClient:
        """Return a client with the key, unless other headers are given."""
        return httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}",
            headers=headers or {"Authorization": f"Bearer {self.key}"},
            trust_env=False,
            verify=False,  # plain HTTP; loading certificates would take most of a test's time
            timeout=10,
        )

    async def post(self, path: str, body: object = None, **headers: str) -> httpx.Response:
        """Send one request with the key."""
        async with self.client() as client:
            return await client.post(path, json=body or {"messages": []}, headers=headers)
