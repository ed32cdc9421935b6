"""Which engine a request goes to: the one that serves, one on its way, or one that it has started.

A key's limits hold before anything is started. Nothing here starts an engine: a request takes a
place in the queue, and the app decides.
"""

import asyncio
import dataclasses
import math
from collections.abc import Awaitable, Callable

from studio.domain.demand import DemandPreset, FailedStart, QueuedRequest
from studio.domain.errors import ErrorInfo
from studio.gateway import admission
from studio.gateway.bodies import Asked, served
from studio.gateway.dialects import Refusal
from studio.gateway.early import COMMIT_S, KEEP_ALIVE_S, EarlyStream
from studio.gateway.engine import EngineTarget
from studio.gateway.request import Request
from studio.gateway.routes import Route
from studio.gateway.tickets import Ticket, Tickets
from studio.gateway.waiting import LONGEST_RETRY_S, WaitingRoom

NO_RETRY = (b"x-should-retry", b"false")
"""Both official clients heed it: asking again at once would only cost a person time."""
_SOON_S = 5
_NAME_SHOWN = 100


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a name means among the presets that requests may start."""

    preset: DemandPreset
    failed: FailedStart | None = None
    """It did not start lately, and is left alone."""
    is_here: bool = False
    """It runs, or is on its way: waiting for it starts nothing."""
    remaining_s: float | None = None
    """How long until it should serve, as far as known."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What the app knows of engines that requests may start."""

    tickets: Tickets
    is_on: Callable[[], bool]
    """Whether requests may start anything now."""
    find: Callable[[str | None], Awaitable[Found | None]]
    """By what a request names; None: it names nothing."""
    all: Callable[[], Awaitable[tuple[DemandPreset, ...]]]
    outlook: Callable[[str], tuple[str, float | None]]
    """What happens for a preset in words, and the seconds until it should serve."""
    within_s: Callable[[bool], float]
    """How long a request may wait, with and without a stream."""


class Arrivals:
    """Finds each request its engine."""

    def __init__(self, room: WaitingRoom, demand: Demand | None) -> None:
        self._room = room
        self._demand = demand

    def check(self, route: Route) -> None:
        """Say no before a large body is read, where it cannot help. Raises: Refusal."""
        if self._room.ready is not None:
            return
        demand = self._of(route)
        if demand is None:
            self._room.now()
        elif not demand.tickets.has_room():
            raise self._full(demand, None)

    async def engine(
        self, request: Request, route: Route, asked: Asked | None, aliases: dict[str, str]
    ) -> EngineTarget:
        """Return the engine as soon as there is the one that is meant.

        Raises: Refusal, ClientLeft.
        """
        ready = self._room.ready
        is_plain = asked is not None and (asked.model is not None or asked.names_none)
        if asked is None or not is_plain:  # nonsense starts nothing
            return ready or await self._room.enter(request.exchange)
        if ready is not None and _is_meant(asked.model, ready, aliases):
            return ready
        demand = self._of(route)
        if demand is None:
            return ready or await self._room.enter(request.exchange)
        name = aliases.get(asked.model, asked.model) if asked.model is not None else None
        found = await demand.find(name or None)
        if found is None:
            return await self._unknown(request, name)
        ready = self._room.ready  # it may have come meanwhile
        if ready is not None and ready.preset == found.preset.preset:
            return ready
        return await self._queue(request, route, asked, demand, found)

    def _of(self, route: Route) -> Demand | None:
        demand = self._demand
        is_asked = route.names_model and demand is not None and demand.is_on()
        return demand if is_asked else None

    async def _unknown(self, request: Request, name: str | None) -> EngineTarget:
        """Leave a model that is not on the list to the engine that serves, or comes anyway."""
        ready = self._room.ready
        if ready is not None:
            return ready
        if not self._room.is_coming and name:
            raise Refusal(
                404,
                "model-unknown",
                f"There is no model {name[:_NAME_SHOWN]!r}; `GET /v1/models` lists those that can"
                " be asked for.",
                param="model",
            )
        return await self._room.enter(request.exchange)

    async def _queue(
        self, request: Request, route: Route, asked: Asked, demand: Demand, found: Found
    ) -> EngineTarget:
        preset, key = found.preset, request.key
        assert key is not None
        request.model, request.is_stream = asked.model, asked.is_stream
        request.body_bytes = len(asked.body)
        admission.check_model(key, asked.model, preset.served_name or preset.preset)
        if not found.is_here:
            admission.check_start(key, preset.preset)
        if preset.problem is not None:
            raise _cannot(preset.preset, preset.problem)
        if found.failed is not None and not found.is_here:
            raise failed(found.failed)
        if not demand.tickets.has_room(len(asked.body)):
            raise self._full(demand, found.remaining_s)
        queued = QueuedRequest(
            since=request.at, key=key.name, route=route.name, is_stream=asked.is_stream
        )
        ticket = request.ticket = Ticket(preset, queued, body_bytes=len(asked.body))
        if route.streams and asked.is_stream:
            request.early = EarlyStream(request.exchange, route.dialect, request.extra_headers)
        request.exchange.on_gone(lambda: _gone(demand.tickets, ticket))
        demand.tickets.join(ticket)
        try:
            return await self._wait(ticket, request.early, demand)
        finally:
            demand.tickets.leave(ticket)
            if ticket.outcome.done():
                ticket.outcome.exception()  # it is known, also where nobody waits any more
            else:
                ticket.outcome.cancel()
            request.waited(ticket.since_s)

    async def _wait(
        self, ticket: Ticket, early: EarlyStream | None, demand: Demand
    ) -> EngineTarget:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        end_s = began_s + demand.within_s(early is not None)
        next_s = began_s + COMMIT_S
        while not ticket.outcome.done():
            now_s = loop.time()
            words, remaining_s = demand.outlook(ticket.preset.preset)
            if now_s >= end_s:
                raise _late(ticket.preset.preset, words, remaining_s)
            if early is not None and now_s >= next_s:
                early.say(words)
                next_s = now_s + KEEP_ALIVE_S
            due_s = end_s if early is None else min(end_s, next_s)
            await asyncio.wait((ticket.outcome,), timeout=max(0.0, due_s - now_s))
        return ticket.outcome.result()

    def _full(self, demand: Demand, remaining_s: float | None) -> Refusal:
        most = demand.tickets.most
        text = f"{most} requests wait for a model already, and no more may."
        if len(demand.tickets) < most:
            text = "The requests that wait for a model hold as many bytes as they may."
        return Refusal(503, "queue-full", text, headers=(_retry(remaining_s),))


def _gone(tickets: Tickets, ticket: Ticket) -> None:
    ticket.leave()
    tickets.leave(ticket)


def _is_meant(name: str | None, engine: EngineTarget, aliases: dict[str, str]) -> bool:
    return name is None or (
        served(name, engine.served_name, aliases, engine.preset) == engine.served_name
    )


def failed(start: FailedStart) -> Refusal:
    """Return the answer for a preset that did not start: the cause, and nothing to retry."""
    return _cannot(start.preset, start.error)


def _cannot(preset: str, error: ErrorInfo) -> Refusal:
    hint = f" {error.hint}" if error.hint else ""
    text = f"The model {preset!r} could not be started. {error.message}{hint}"
    return Refusal(503, "start-failed", text, param="model", headers=(NO_RETRY,))


def stopped(why: str) -> Refusal:
    """Return the answer for those who waited when a person said stop, or something was in the way.

    Clients that ask again by themselves must not undo a stop.
    """
    return Refusal(503, "engine-not-ready", why, headers=(NO_RETRY,))


def _late(preset: str, words: str, remaining_s: float | None) -> Refusal:
    text = f"The model {preset!r} is not ready yet: {words}."
    return Refusal(503, "engine-not-ready", text, headers=(_retry(remaining_s),))


def _retry(remaining_s: float | None) -> tuple[bytes, bytes]:
    seconds = _SOON_S if remaining_s is None else math.ceil(remaining_s)
    return (b"retry-after", b"%d" % max(1, min(LONGEST_RETRY_S, seconds)))
