"""A lean HTTP/1.1 server: the gateway and the control API stand on it.

A handler is `async (Exchange) -> None` and runs as a task of its own for each request. Bytes of an
answer go from `Exchange.write` to the socket without a task switch. Why not a ready-made server:
docs/decisions/0002-http-core.md.
"""

import asyncio
import logging
import secrets
import ssl
from collections.abc import Awaitable, Callable, Coroutine

from studio.host.http_connection import Refusal, ServerConnection
from studio.host.http_exchange import ClientLeft, Exchange, Headers, Limits
from studio.host.http_ports import listen

__all__ = ["ClientLeft", "Exchange", "Handler", "Headers", "Limits", "Server", "serve"]

Handler = Callable[[Exchange], Coroutine[None, None, None]]
OnError = Callable[[Exchange, BaseException], None]

_FLUSH_S = 1.0
"""How long last bytes may take to leave when the server closes."""

logger = logging.getLogger(__name__)

_HANDSHAKE_S = 10.0
_BACKLOG = 4096
"""Connections that wait to be accepted; the system cuts it to its own limit. With asyncio's 100,
some of a few hundred clients that come at once are only let in when they knock again, after 1 s."""


async def serve(
    handler: Handler,
    *,
    address: str = "127.0.0.1",
    port: int = 0,
    limits: Limits | None = None,
    on_error: OnError | None = None,
    refusal: Refusal | None = None,
    tls: ssl.SSLContext | None = None,
) -> "Server":
    """Listen and hand each request to `handler`; port 0 takes any free one.

    `on_error` is told of a handler that raised, and may still answer when nothing was sent;
    `refusal` words the answer to what is not HTTP. On a port that is taken see `listen`.
    Raises: PortTaken (`port-taken`), HostLacks (`port-forbidden`), BadInput (`address-unusable`).
    """
    listener = await listen(address, port)
    server = Server(
        handler,
        address=address,
        port=listener.getsockname()[1],
        limits=limits or Limits(),
        on_error=on_error or answer_internal_error,
        refusal=refusal or _plain_refusal,
    )
    try:
        await server.open(
            asyncio.get_running_loop().create_server(
                server.connection,
                sock=listener,
                backlog=_BACKLOG,
                ssl=tls,
                ssl_handshake_timeout=_HANDSHAKE_S if tls is not None else None,
            )
        )
    except BaseException:
        listener.close()
        raise
    return server


def answer_internal_error(exchange: Exchange, error: BaseException) -> None:
    """Log a handler's failure under an id, and answer 500 with that id when nothing was sent."""
    incident = secrets.token_hex(4)
    logger.error("%s %s failed [%s]", exchange.method, exchange.path, incident, exc_info=error)
    if not exchange.is_started:
        text = f"The request failed inside the Studio; its log tells more under [{incident}].\n"
        exchange.respond(500, [(b"content-type", b"text/plain; charset=utf-8")], text.encode())


def _plain_refusal(status: int, code: str, message: str) -> tuple[Headers, bytes]:
    del status
    return [(b"content-type", b"text/plain; charset=utf-8")], f"{message} [{code}]\n".encode()


class Server:
    """An open server."""

    def __init__(
        self,
        handler: Handler,
        *,
        address: str,
        port: int,
        limits: Limits,
        on_error: OnError,
        refusal: Refusal,
    ) -> None:
        self.address = address
        self.port = port
        self.limits = limits
        self.refusal = refusal
        self.is_closing = False
        self._handler = handler
        self._on_error = on_error
        self._loop = asyncio.get_running_loop()
        self._listener: asyncio.Server | None = None
        self._connections: set[ServerConnection] = set()
        # No TaskGroup: it ends all requests when one fails, and only the task that opened it may
        # close it. These tasks have an owner all the same: the server waits for or cancels each.
        self._tasks: dict[asyncio.Task[None], Exchange] = {}
        self._sweeper: asyncio.TimerHandle | None = None
        self._emptied: asyncio.Future[None] | None = None

    async def open(self, listening: Awaitable[asyncio.Server]) -> None:
        """Begin to accept connections."""
        self._listener = await listening

    async def close(self, grace_s: float = 0.0) -> None:
        """Stop listening, let running requests end for `grace_s`, then cut them off."""
        if self._listener is not None:
            self._listener.close()
        self.is_closing = True
        for connection in [each for each in self._connections if each.is_idle]:
            connection.close()
        if self._tasks and grace_s > 0:
            await asyncio.wait(self._tasks, timeout=grace_s)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._close_connections()
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._listener is not None:
            await self._listener.wait_closed()

    async def _close_connections(self) -> None:
        """Let last bytes leave for a moment, then cut what is left."""
        for connection in list(self._connections):
            connection.close()
        if self._connections:
            self._emptied = self._loop.create_future()
            await asyncio.wait([self._emptied], timeout=_FLUSH_S)
        for connection in list(self._connections):
            connection.abort()

    @property
    def connections(self) -> int:
        """Return how many connections are open."""
        return len(self._connections)

    # For connections

    def connection(self) -> ServerConnection:
        """Return the protocol of a new connection."""
        return ServerConnection(self)

    def joined(self, connection: ServerConnection) -> bool:
        """Count a connection; False when there is no room for it."""
        if self.is_closing or len(self._connections) >= self.limits.connections:
            return False
        self._connections.add(connection)
        if self._sweeper is None:
            self._sweeper = self._loop.call_later(self._sweep_s, self._sweep)
        return True

    def left(self, connection: ServerConnection) -> None:
        """Forget a connection."""
        self._connections.discard(connection)
        if self._emptied is not None and not self._connections and not self._emptied.done():
            self._emptied.set_result(None)

    def handle(self, exchange: Exchange) -> None:
        """Run the handler for one request."""
        task = self._loop.create_task(self._handler(exchange))
        self._tasks[task] = exchange
        task.add_done_callback(self._handled)

    def _handled(self, task: asyncio.Task[None]) -> None:
        exchange = self._tasks.pop(task)
        exchange.release()
        if not task.cancelled():
            error = task.exception()
            if error is None and not exchange.is_ended and not exchange.is_gone:
                error = RuntimeError("the handler returned without ending its answer")
            if error is not None and not isinstance(error, ClientLeft):
                self._on_error(exchange, error)
        if not exchange.is_ended:
            exchange.abort()

    @property
    def _sweep_s(self) -> float:
        limits = self.limits
        shortest = min(
            limits.header_timeout_s,
            limits.body_timeout_s,
            limits.idle_timeout_s,
            limits.stall_timeout_s,
            limits.linger_s,
        )
        return min(1.0, max(0.01, shortest / 2))

    def _sweep(self) -> None:
        """Look for late clients: one timer for all, and none while nobody is connected."""
        now_s = self._loop.time()
        for connection in list(self._connections):
            connection.check(now_s)
        self._sweeper = None
        if self._connections and not self.is_closing:
            self._sweeper = self._loop.call_later(self._sweep_s, self._sweep)
