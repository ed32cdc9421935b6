"""One request under way: what is known of it, and what is kept when it is over."""

import dataclasses
import re
import secrets
import time
from collections.abc import Callable

from studio.domain.pool import Resident, ResidentState
from studio.gateway.bodies import in_one
from studio.gateway.cache_doctor import Case, agent_of
from studio.gateway.dialects import Refusal
from studio.gateway.early import EarlyStream
from studio.gateway.engine import EngineTarget
from studio.gateway.estimate import PromptRatio
from studio.gateway.key import Key
from studio.gateway.prompt_shape import MOST_BODY_BYTES
from studio.gateway.proxy import Relay, send_refusal
from studio.gateway.routes import Route, dialect_of
from studio.gateway.tickets import Ticket
from studio.gateway.usage import RequestRecord, Tokens
from studio.host.http_client import Pieces
from studio.host.http_server import Exchange

CLIENT_LEFT = 499
"""The status in the record of a request whose client left before there was an answer."""

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class Request:
    """What is known of one request while it is under way."""

    __slots__ = (
        "adjusted",
        "at",
        "began_s",
        "body_bytes",
        "code",
        "early",
        "exchange",
        "extra_headers",
        "id",
        "is_stream",
        "key",
        "model",
        "relay",
        "route",
        "sent",
        "target",
        "ticket",
    )

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.at = time.time()
        self.began_s = time.perf_counter()
        self.id = _request_id(exchange)
        self.extra_headers: list[tuple[bytes, bytes]] = [(b"x-request-id", self.id.encode())]
        self.route: Route | None = None
        self.key: Key | None = None
        self.relay: Relay | None = None
        self.code: str | None = None
        self.is_stream = False
        self.model: str | None = None
        self.body_bytes = 0
        self.adjusted: tuple[str, ...] = ()
        self.sent: Pieces | None = None
        """The body as the engine got it, until the request is over."""
        self.target: EngineTarget | None = None
        """The engine that got it."""
        self.early: EarlyStream | None = None
        """Begun, perhaps, while it waited for its engine."""
        self.ticket: Ticket | None = None
        """Its place in the queue, if it had to wait for an engine."""

    @property
    def has_failed(self) -> bool:
        """Return whether the client did not get what it asked for, by our or the engine's fault."""
        if self.code is not None:
            return True
        return self.relay is not None and self.relay.has_failed

    def refuse(self, refusal: Refusal) -> None:
        """Answer with an error, or cut the connection when an answer has begun."""
        self.code = refusal.code
        exchange = self.exchange
        is_empty = self.relay is None or self.relay.is_silent
        if self.early is not None and self.early.has_begun and is_empty:
            self.early.fail(refusal)
        elif exchange.is_started:
            exchange.abort()
        else:
            send_refusal(exchange, dialect_of(exchange.path), refusal, self.extra_headers)

    def cut(self, refusal: Refusal) -> None:
        """End it while it waits for an engine, or while one works on it."""
        self.code = refusal.code
        if self.ticket is not None:
            self.ticket.refuse(refusal)
        if self.relay is not None:
            self.relay.cut(refusal)

    def waited(self, since_s: float) -> None:
        """Tell the client in a header how long it waited, where the head is still to be sent."""
        seconds = f"{time.monotonic() - since_s:.1f}"
        self.extra_headers.append((b"x-weir-waited-s", seconds.encode()))

    def resident(self, guess: Callable[[int], int], tokens_a_piece: float) -> Resident:
        """Return what it should hold in the pool.

        `guess` turns the bytes of a body into tokens. Every event but the first holds what one
        step of the engine made, `tokens_a_piece` on average.
        """
        known, events = self.relay.progress if self.relay is not None else (Tokens(), 0)
        has_begun = self.relay is not None and self.relay.first_token_s is not None
        generated = known.generated
        if generated is None and self.is_stream:
            generated = round(max(0, events - 1) * tokens_a_piece)
        prompt = known.prompt if known.prompt is not None else guess(self.body_bytes)
        return Resident(
            request_id=self.id,
            key=self.key.name if self.key is not None else None,
            model=self.model,
            state=ResidentState.WRITING if has_begun else ResidentState.READING,
            age_s=time.perf_counter() - self.began_s,
            prompt_tokens=prompt,
            generated_tokens=generated,
            is_estimated=known.prompt is None or known.generated is None,
        )

    def record(self, ratio: PromptRatio) -> RequestRecord:
        """Return what is kept of the request; `ratio` learns from it, or fills what it lacks."""
        relay = self.relay
        tokens = relay.tokens if relay is not None else Tokens()
        is_cut = relay is not None and relay.is_cut
        if is_cut and tokens.prompt is None:
            tokens = dataclasses.replace(tokens, prompt=ratio.guess(self.body_bytes))
        elif not is_cut:
            ratio.learn(self.body_bytes, tokens.prompt)
        first_s = relay.first_token_s if relay is not None else None
        return RequestRecord(
            at=self.at,
            request_id=self.id,
            key_id=self.key.id if self.key is not None else None,
            method=self.exchange.method,
            route=self.route.name if self.route is not None else "",
            status=self.exchange.status or CLIENT_LEFT,
            code=self.code,
            is_stream=self.is_stream,
            has_client_left=self.exchange.is_gone and not self.exchange.is_ended,
            ttft_s=first_s - self.began_s if first_s is not None else None,
            duration_s=time.perf_counter() - self.began_s,
            tokens=tokens,
            model=self.model,
            address=self.exchange.peer,
            is_estimated=is_cut,
            reason=relay.reason if relay is not None else None,
            adjusted=self.adjusted,
        )

    def case(self, record: RequestRecord) -> Case | None:
        """Return what the prefix-cache doctor looks at; None: the engine gave no answer to it."""
        target, sent = self.target, self.sent
        if target is None or sent is None or self.key is None or record.status != 200:
            return None
        tokens = record.tokens
        is_large = sum(map(len, sent)) > MOST_BODY_BYTES
        return Case(
            at=self.at,
            key_id=self.key.id,
            agent=agent_of(self.exchange.header(b"user-agent")),
            route=record.route,
            model=target.served_name,
            body=b"" if is_large else in_one(sent),
            is_too_large=is_large,
            prompt_tokens=None if record.is_estimated else tokens.prompt,
            cached_tokens=tokens.cached,
            ttft_s=record.ttft_s,
            engine=target.upstream,
            merges_systems=record.route == "/v1/messages" and target.wants_system_first,
        )


def _request_id(exchange: Exchange) -> str:
    """Return the client's own request id where it is a plain word, else a new one."""
    given = exchange.header(b"x-request-id")
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given.decode("ascii")
    return secrets.token_hex(8)
