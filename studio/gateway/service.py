"""The gateway: one address for all clients, whatever runs behind it.

Who may ask (Host, Origin, key), what may be asked (routes.py), and to whom it goes: the app hands
in a function that returns the engine of the moment. Not for starting engines, and no stranger gets
past the allow-list.
"""

import asyncio
import contextlib
import dataclasses
import hmac
import logging
import secrets
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import assert_never

from studio.domain.control import GatewayInfo
from studio.domain.errors import StudioError
from studio.domain.pool import Resident
from studio.domain.selftest import Defence
from studio.gateway import admission, model_list
from studio.gateway.adjust import Adjuster, change_for
from studio.gateway.arrivals import Arrivals, Demand
from studio.gateway.attacks import MARK
from studio.gateway.bodies import Asked, prepare, read
from studio.gateway.cache_doctor import CacheDoctor
from studio.gateway.dialects import Dialect, Refusal, error_body, refusal_of
from studio.gateway.draft import Body
from studio.gateway.engine import EngineTarget
from studio.gateway.estimate import PromptRatio, text_bytes
from studio.gateway.key import Key
from studio.gateway.keys import KeyStore
from studio.gateway.prompt_log import PromptLog
from studio.gateway.proxy import Relay, engine_headers
from studio.gateway.request import Request
from studio.gateway.routes import Action, Route, find, model_id
from studio.gateway.usage import RequestRecord
from studio.gateway.waiting import DEATHS, Coming, WaitingRoom
from studio.host.addresses import in_url, reached_here
from studio.host.body_room import BodyRoom
from studio.host.http_client import Pieces
from studio.host.http_server import ClientLeft, Exchange, Headers, Limits, Server, serve

BODY_LIMIT_BYTES = 100 << 20
"""Of one request: pictures come inside of it, a third larger than they are."""
BODIES_LIMIT_BYTES = 512 << 20
"""Of all requests together."""
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})

_GREETING = (
    b"This is the gateway of Weir Studio. It speaks the OpenAI and the Anthropic dialect under\n"
    b"/v1 and needs a key: `weir keys create NAME` makes one.\n"
)

_TEXT = (b"content-type", b"text/plain; charset=utf-8")
_JSON = (b"content-type", b"application/json")
_PREFLIGHT_HEADERS = [
    (b"access-control-allow-methods", b"GET, POST"),
    (
        b"access-control-allow-headers",
        b"authorization, content-type, x-api-key, x-request-id, anthropic-version, anthropic-beta",
    ),
    (b"access-control-max-age", b"600"),
]

logger = logging.getLogger(__name__)


@dataclasses.dataclass(slots=True, kw_only=True)
class Counters:
    """What the gateway counted since it was made; for the monitor to read, not to write."""

    in_flight: int = 0
    requests: int = 0
    """Requests that a key was found for and that went to the engine."""
    errors: int = 0
    refused: int = 0
    """Requests that did not get that far."""
    ttft_sum_s: float = 0.0
    ttft_count: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0


class Gateway:
    """The clients' side of the Studio."""

    def __init__(
        self,
        keys: KeyStore,
        *,
        upstream: Callable[[], EngineTarget | None],
        coming: Coming | None = None,
        demand: Demand | None = None,
        body_limit_bytes: int = BODY_LIMIT_BYTES,
        bodies_limit_bytes: int = BODIES_LIMIT_BYTES,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        limits: Limits | None = None,
        on_record: Callable[[RequestRecord], None] | None = None,
        key_for_all: str | None = None,
        adjuster: Adjuster | None = None,
        doctor: CacheDoctor | None = None,
        prompts: PromptLog | None = None,
    ) -> None:
        """`hosts` and `origins` are allowed besides loopback hosts and no origin at all.

        `key_for_all` stands for a missing key, so that tests see the self-test notice it.
        `coming`: an engine on its way, for which requests wait; without it they never do.
        `demand`: engines that requests may start; without it they start none.
        """
        self.counters = Counters()
        self.idle_since_s = time.monotonic()
        """Since when no request is with the engine, unless one is; of `time.monotonic`."""
        self._keys = keys
        self._room = WaitingRoom(upstream, coming or Coming())
        self._demand = demand
        self._arrivals = Arrivals(self._room, demand)
        self._running: set[Request] = set()
        self._body_limit_bytes = body_limit_bytes
        self._body_room = BodyRoom(bodies_limit_bytes)
        self._hosts: frozenset[str] = LOOPBACK_HOSTS
        self._origins: frozenset[bytes] = frozenset()
        self._aliases: dict[str, str] = {}
        self._limits = limits
        self._without = limits.without if limits is not None else frozenset[Defence]()
        self._key_for_all = key_for_all
        self._on_record = on_record
        self._adjuster = adjuster
        self._doctor = doctor
        self._prompts = prompts
        self._server: Server | None = None
        self._scheme = "http"
        self._idle: asyncio.Future[None] | None = None
        self._ratio = PromptRatio()
        self._marks: set[bytes] = set()
        self.allow(hosts=hosts, origins=origins)

    def allow(
        self,
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        """Replace what is allowed besides loopback hosts, and the names that mean others."""
        self._hosts = LOOPBACK_HOSTS | {host.lower() for host in hosts}
        self._origins = frozenset(origin.encode() for origin in origins)
        self._aliases = dict(aliases or {})

    async def open(
        self, address: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        """Begin to answer. Raises: what `studio.host.http_server.serve` raises."""
        self._scheme = "http" if tls is None else "https"
        self._server = await serve(
            self._handle,
            address=address,
            port=port,
            limits=self._limits,
            refusal=_refusal,
            tls=tls,
        )

    async def wait_idle(self) -> None:
        """Return as soon as no request is with the engine."""
        while self.counters.in_flight:
            if self._idle is None:
                self._idle = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._idle)

    async def close(self, grace_s: float = 0.0) -> None:
        """Stop answering; running requests have `grace_s` to end."""
        server, self._server = self._server, None
        if server is not None:
            await server.close(grace_s)

    @contextlib.contextmanager
    def attacked(self) -> Iterator[str]:
        """Yield a mark for the self-test's own requests: until the end none is kept in the list."""
        mark = secrets.token_hex(16)
        self._marks.add(mark.encode())
        try:
            yield mark
        finally:
            self._marks.discard(mark.encode())

    def info(self) -> GatewayInfo:
        """Return where clients connect and how busy it is."""
        server = self._server
        counters = self.counters
        waiting = self._room.waiting + (len(self._demand.tickets) if self._demand else 0)
        if server is None:
            return GatewayInfo(
                in_flight=counters.in_flight, waiting=waiting, requests=counters.requests
            )
        host = reached_here(server.address)
        return GatewayInfo(
            base_url=f"{self._scheme}://{in_url(host)}:{server.port}/v1",
            address=server.address,
            port=server.port,
            in_flight=counters.in_flight,
            waiting=waiting,
            requests=counters.requests,
        )

    def residents(self, tokens_a_piece: float = 1.0) -> tuple[Resident, ...]:
        """Return the requests that the engine works on, and what each should hold in its pool."""
        guess = self._ratio.guess
        return tuple(one.resident(guess, tokens_a_piece) for one in self._running)

    async def _handle(self, exchange: Exchange) -> None:
        """Answer one request, whatever happens: this is the gateway's one broad handler."""
        request = Request(exchange)
        try:
            await self._answer(request)
        except ClientLeft:
            pass
        except Refusal as refusal:
            request.refuse(refusal)
        except StudioError as error:
            request.refuse(refusal_of(error))
        except Exception:
            incident = secrets.token_hex(4)
            logger.exception("%s %s failed [%s]", exchange.method, exchange.path, incident)
            text = f"The request failed inside the Studio; its log tells more under [{incident}]."
            request.refuse(Refusal(500, "internal-error", text))
        self._finish(request)

    async def _answer(self, request: Request) -> None:
        exchange = request.exchange
        self._check_host(exchange)
        if self._check_origin(request):
            exchange.respond(204, request.extra_headers)
            return
        request.route = route = _route(exchange, self._without)
        if route.action is Action.GREET:
            exchange.respond(200, [_TEXT, *request.extra_headers], _GREETING)
            return
        request.key = key = self._check_key(exchange)
        admission.check(key, route, exchange.peer)
        match route.action:
            case Action.LIST_MODELS:
                models = await self._models(key, exchange)
                exchange.respond(200, [_JSON, *request.extra_headers], models)
            case Action.SHOW_MODEL:
                models = await self._models(key, exchange)
                model = model_list.one(models, model_id(exchange.path))
                exchange.respond(200, [_JSON, *request.extra_headers], model)
            case Action.PASS:
                admission.admit(key, request, self._keys.usage)
                key.in_flight += 1
                key.running.add(request)
                try:
                    await self._pass(request, route)
                finally:
                    key.in_flight -= 1
                    key.running.discard(request)
            case _:
                assert_never(route.action)

    async def _pass(self, request: Request, route: Route) -> None:
        """Carry a request to the engine and its answer back."""
        exchange = request.exchange
        self._arrivals.check(route)  # says no before a large body is read
        body: Body | Asked | None = None
        if route.method == "POST":
            body = await exchange.large_body(self._body_limit_bytes, self._body_room)
            if self._prompts is not None and request.key is not None:
                self._prompts.keep(request.key.id, request.id, route.name, request.at, body)
            if route.names_model:
                body = read(body)
        asked = body if isinstance(body, Asked) else None
        engine = await self._arrivals.engine(request, route, asked, self._aliases)
        death = await self._try(request, route, engine, body)
        if death is None:
            return
        # Once only: it may be this request that the engine died of.
        after = await self._room.after(exchange, engine)
        if exchange.is_ended:
            return
        if after is not None:
            death = await self._try(request, route, after, body)
        if death is not None and request.relay is not None:
            request.code = death.code
            request.relay.fail(death)

    async def _try(
        self, request: Request, route: Route, engine: EngineTarget, body: Body | Asked | None
    ) -> Refusal | None:
        """Send a request to the engine; return its death if that came before any answer."""
        self.counters.in_flight += 1
        self._running.add(request)
        try:
            return await self._forward(request, route, engine, body)
        finally:
            self._running.discard(request)
            self.counters.in_flight -= 1
            self._tell_idle()

    async def _forward(
        self, request: Request, route: Route, engine: EngineTarget, body: Body | Asked | None
    ) -> Refusal | None:
        exchange = request.exchange
        hides_usage = False
        sent: Pieces | None = None
        if isinstance(body, bytes | bytearray):
            sent = (body,)
        elif body is not None:
            prepared = prepare(
                body,
                served_name=engine.served_name,
                takes_stream_options=route.takes_stream_options,
                aliases=self._aliases,
                preset=engine.preset,
                adjust=change_for(self._adjuster, route.name, engine, request.key),
            )
            request.adjusted = prepared.notes
            request.model, request.is_stream = prepared.model, prepared.is_stream
            request.body_bytes = text_bytes(body.body)
            hides_usage = prepared.hides_usage
            sent = await admission.bounded(request, prepared, engine)
            request.sent, request.target = sent, engine
        relay = request.relay = Relay(
            exchange,
            dialect=route.dialect,
            hides_usage=hides_usage,
            extra_headers=request.extra_headers,
        )
        path = f"{exchange.path}?{exchange.query}" if exchange.query else exchange.path
        headers = engine_headers(
            exchange.headers, key=engine.key, request_id=request.id, without=self._without
        )
        call = engine.upstream.call(route.method, path, headers, sent, relay)
        relay.follow(call)
        try:
            await call.run()
        except StudioError as error:
            refusal = refusal_of(error)
            if error.code in DEATHS and relay.is_silent:
                return refusal
            request.code = refusal.code
            relay.fail(refusal)
            return None
        if call.is_aborted:
            relay.leave()
            return None
        if relay.is_of_dead_engine:
            return refusal_of(engine.upstream.cut_off())
        relay.finish()
        request.code = request.code or relay.code
        return None

    def cut(self, refusal: Refusal) -> None:
        """End all that the engine works on, with an error to each client."""
        for request in list(self._running):
            request.cut(refusal)

    def _tell_idle(self) -> None:
        if not self.counters.in_flight:
            self.idle_since_s = time.monotonic()
        if self._idle is not None and not self.counters.in_flight:
            self._idle.set_result(None)
            self._idle = None

    async def _models(self, key: Key, exchange: Exchange) -> bytes:
        """Return the models that `key` may use: the engine's, and those that it may start."""
        demand = self._demand
        more: model_list.Entries = []
        if demand is not None and demand.is_on():
            more = model_list.startable(await demand.all())
        engine = self._room.ready
        if engine is None and not more:
            engine = await self._room.enter(exchange)
        running = await model_list.served(engine) if engine is not None else []
        if key.limits.only_running:
            more = []
        return model_list.listed(key, running, engine, more, self._aliases)

    def _check_host(self, exchange: Exchange) -> None:
        """Refuse names that are not ours: a page elsewhere may point its own name at loopback."""
        value = (exchange.header(b"host") or b"").decode("latin-1").lower()
        if exchange.host_name not in self._hosts and Defence.HOST not in self._without:
            raise Refusal(
                403,
                "host-refused",
                f"The gateway does not answer to the host {value!r}; use 127.0.0.1 or localhost,"
                " or allow the name in the settings.",
            )

    def _check_origin(self, request: Request) -> bool:
        """Refuse pages that are not allowed; return whether an allowed page asks what it may."""
        origin = request.exchange.header(b"origin")
        if origin is None:
            return False
        if origin not in self._origins and Defence.ORIGIN not in self._without:
            raise Refusal(
                403,
                "origin-refused",
                f"Pages of {origin.decode('latin-1')!r} may not use the gateway;"
                " allow the origin in the settings if they should.",
            )
        request.extra_headers += [(b"access-control-allow-origin", origin), (b"vary", b"Origin")]
        if request.exchange.method != "OPTIONS":
            return False
        request.extra_headers += _PREFLIGHT_HEADERS
        return True

    def _check_key(self, exchange: Exchange) -> Key:
        offered = []
        scheme, _, value = (exchange.header(b"authorization") or b"").partition(b" ")
        if scheme.lower() == b"bearer" and value.strip():
            offered.append(value.strip())
        if other := exchange.header(b"x-api-key"):
            offered.append(other)
        if self._key_for_all is not None:
            offered.append(self._key_for_all.encode())
        for secret in offered:
            key = self._keys.verify(secret)
            if key is not None:
                return key
        challenge = ((b"www-authenticate", b"Bearer"),)
        if offered:
            text = "The key is unknown or was revoked. `weir keys create NAME` makes a new one."
            raise Refusal(401, "key-refused", text, headers=challenge)
        text = "A key is needed: `Authorization: Bearer KEY`, or `x-api-key: KEY`."
        raise Refusal(401, "key-missing", text, headers=challenge)

    def _finish(self, request: Request) -> None:
        """Count a request that is over."""
        record = request.record(self._ratio)
        counters = self.counters
        is_error = request.has_failed
        if request.relay is None:
            counters.refused += is_error
        else:
            counters.requests += 1
            counters.errors += is_error
            counters.prompt_tokens += record.tokens.prompt or 0
            counters.cached_tokens += record.tokens.cached or 0
            counters.generated_tokens += record.tokens.generated or 0
            if record.ttft_s is not None:
                counters.ttft_sum_s += record.ttft_s
                counters.ttft_count += 1
        is_counted = request.route is not None and request.route.action is Action.PASS
        if request.key is not None and is_counted:
            self._keys.record(request.key, record, is_error=is_error)
        elif is_error and not self._is_own_attack(request):
            self._keys.record_refused(record)
        case = request.case(record) if self._doctor is not None else None
        if self._doctor is not None and case is not None:
            self._doctor.hear(case)
        if self._on_record is not None:
            self._on_record(record)

    def _is_own_attack(self, request: Request) -> bool:
        """Return whether the self-test sent a request; the mark is new and secret each time."""
        shown = request.exchange.header(MARK.encode()) or b""
        return any(hmac.compare_digest(shown[: len(mark)], mark) for mark in self._marks)


def _route(exchange: Exchange, without: frozenset[Defence]) -> Route:
    if Defence.ROUTES in without:
        return Route(name=exchange.path, method=exchange.method, action=Action.PASS)
    route = find(exchange.path)
    if route is None:
        raise Refusal(404, "route-unknown", f"There is nothing at {exchange.path}.")
    if exchange.method != route.method and not (
        exchange.method == "HEAD" and route.method == "GET"
    ):
        raise Refusal(
            405,
            "method-refused",
            f"{route.name} takes {route.method}, not {exchange.method}.",
            headers=((b"allow", route.allow.encode()),),
        )
    return route


def _refusal(status: int, code: str, message: str) -> tuple[Headers, bytes]:
    body = error_body(Dialect.OPENAI, Refusal(status, code, message))
    return [_JSON, (b"x-weir-error", code.encode())], body
