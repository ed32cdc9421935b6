"""The control API on a loopback port: token, Host and Origin rules, events, and who holds it."""

import asyncio
import contextlib
import hmac
from collections.abc import Awaitable, Callable

import msgspec

from studio.app.scrape import PATH as METRICS_PATH
from studio.app.studio import Studio
from studio.control.calls import http_status
from studio.control.router import BODY_LIMIT_BYTES, Router
from studio.control.transport import PREFIX
from studio.domain.errors import BadInput, Damaged, HostLacks, StudioError
from studio.domain.events import Event
from studio.host.http_server import Exchange, Server, serve
from studio.monitor.exposition import MEDIA_TYPE

_JSON = (b"content-type", b"application/json")
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
KEEP_ALIVE_S = 15.0


class ControlServer:
    """Serves one `Studio` to the clients that know the token."""

    def __init__(
        self,
        studio: Studio,
        token: str,
        *,
        down: Callable[[], Awaitable[None]],
        on_holders: Callable[[int], None],
        on_keep: Callable[[], None],
    ) -> None:
        self._studio = studio
        self._token = token.encode()
        self._router = Router(studio, down=down)
        self._on_holders = on_holders
        self._on_keep = on_keep
        self._holders = 0
        self._callers: set[Exchange] = set()
        self._server: Server | None = None

    @property
    def port(self) -> int:
        """The loopback port, once open."""
        assert self._server is not None
        return self._server.port

    @property
    def has_callers(self) -> bool:
        """Whether somebody waits for the answer to a call."""
        return any(not exchange.is_gone for exchange in self._callers)

    async def open(self) -> None:
        """Listen on a free loopback port; where metrics are scraped, on the one of last time."""
        wanted = None
        with contextlib.suppress(Damaged, HostLacks):
            wanted = self._studio.insight.scrape.wanted_port
        if wanted is not None:
            with contextlib.suppress(StudioError):  # taken: metrics are worth less than a service
                self._server = await serve(self._handle, address="127.0.0.1", port=wanted)
        if self._server is None:
            self._server = await serve(self._handle, address="127.0.0.1", port=0)
        self._studio.selftest.control_port = self.port
        self._studio.insight.scrape.open_port = self.port

    async def close(self) -> None:
        """Stop listening; answers under way are finished first."""
        if self._server is not None:
            await self._server.close(grace_s=2.0)

    async def _handle(self, exchange: Exchange) -> None:
        if exchange.path == METRICS_PATH:
            self._metrics(exchange)
            return
        refusal = self._foreign(exchange) or self._refusal(exchange)
        if refusal is not None:
            status, error = refusal
            exchange.respond(status, [_JSON], msgspec.json.encode(error.info))
            return
        if exchange.method == "GET" and exchange.path == f"{PREFIX}/events":
            await self._events(exchange)
            return
        if exchange.method == "POST" and exchange.path == f"{PREFIX}/keep":
            self._on_keep()
            exchange.respond(200, [_JSON], b'{"kept":true}')
            return
        try:
            body = await exchange.body(BODY_LIMIT_BYTES)
        except StudioError as error:
            exchange.respond(http_status(error), [_JSON], msgspec.json.encode(error.info))
            return
        self._callers.add(exchange)
        try:
            status, answer = await self._router.answer(
                exchange.method, exchange.path, exchange.query, body
            )
        finally:
            self._callers.discard(exchange)
        exchange.respond(status, [_JSON], answer)

    def _metrics(self, exchange: Exchange) -> None:
        """Answer a scraper: the same rules for Host and Origin, a token of its own."""
        refusal = self._foreign(exchange)
        if refusal is None and exchange.method != "GET":
            error = BadInput(
                "method-not-allowed", f"{METRICS_PATH} takes GET, not {exchange.method}."
            )
            refusal = http_status(error), error
        text = b""
        if refusal is None:
            try:
                text = self._studio.insight.scrape.answer(exchange.header(b"authorization") or b"")
            except StudioError as error:
                status = 401 if error.code == "token-wrong" else http_status(error)
                refusal = status, error
        if refusal is not None:
            exchange.respond(refusal[0], [_JSON], msgspec.json.encode(refusal[1].info))
            return
        exchange.respond(200, [(b"content-type", MEDIA_TYPE)], text)

    def _foreign(self, exchange: Exchange) -> tuple[int, StudioError] | None:
        """Return why this caller is not served: it is another site's page."""
        if exchange.host_name not in _LOOPBACK or exchange.header(b"origin") is not None:
            return 403, BadInput(
                "origin-refused", "The control API takes local programs only, no web pages."
            )
        return None

    def _refusal(self, exchange: Exchange) -> tuple[int, StudioError] | None:
        """Return why this caller is not served: it does not know the token."""
        given = exchange.header(b"authorization") or b""
        if not hmac.compare_digest(given, b"Bearer " + self._token):
            return 401, BadInput(
                "token-wrong",
                "The control API's token is missing or wrong.",
                hint="It lies in `service/token` of the Studio's folder, readable by its owner.",
            )
        return None

    async def _events(self, exchange: Exchange) -> None:
        is_holding = exchange.query == "hold=1"
        subscription = self._studio.bus.subscribe()
        exchange.on_gone(subscription.close)
        exchange.start(
            200, [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
        )
        self._hold(is_holding, 1)
        try:
            async with asyncio.TaskGroup() as tasks:
                keep_alive = tasks.create_task(_keep_alive(exchange))
                for event in self._studio.present():
                    exchange.write(_frame(event))
                async for event in subscription:
                    exchange.write(_frame(event))
                    await exchange.drain()
                keep_alive.cancel()
        finally:
            self._studio.bus.unsubscribe(subscription)
            self._hold(is_holding, -1)
        with contextlib.suppress(RuntimeError):
            exchange.end()

    def _hold(self, is_holding: bool, change: int) -> None:
        if is_holding:
            self._holders += change
            self._on_holders(self._holders)


async def _keep_alive(exchange: Exchange) -> None:
    """Send a comment now and then, so that a dead client is noticed."""
    while True:
        await asyncio.sleep(KEEP_ALIVE_S)
        exchange.write(b": still here\n\n")


def _frame(event: Event) -> bytes:
    return b"data: " + msgspec.json.encode(event) + b"\n\n"
