"""Joins engines on demand with the rest of the service: what is started in whose place."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from studio.app.on_demand import Around
from studio.app.wiring import Parts
from studio.domain.control import UpRequest, UpResult
from studio.domain.errors import Busy
from studio.domain.events import Event
from studio.domain.server import EngineSnapshot, EngineState

_IDLE = (EngineState.STOPPED, EngineState.FAILED)


class Serve(Protocol):
    """Serves a preset; `is_asked` by a person."""

    async def __call__(self, request: UpRequest, *, is_asked: bool = True) -> UpResult:
        """Return when its first token was generated."""


class Replacement:
    """Serves one preset in the place of whatever serves, for requests that wait for it."""

    def __init__(
        self,
        parts: Parts,
        *,
        is_starting: Callable[[], bool],
        check: Callable[[UpRequest], Awaitable[object]],
        serve: Serve,
        halt: Callable[[], Awaitable[object]],
    ) -> None:
        """`is_starting`: a start is under way; `check` refuses what cannot be started."""
        self._parts = parts
        self._is_starting = is_starting
        self._check = check
        self._serve = serve
        self._halt = halt

    async def serve(self, request: UpRequest, is_wanted: Callable[[], bool]) -> UpResult:
        """Check, stop what serves, and start; what cannot be started pushes nobody out.

        Raises: whatever a start raises; Busy (`up-running`, `up-stopped`) when a person was
        quicker, who is never overruled.
        """
        supervisor = self._parts.supervisor
        if supervisor.state in _IDLE:
            return await self._serve(request, is_asked=False)
        await self._check(request)
        self._require(is_wanted)
        with supervisor.returning():  # meanwhile, requests wait
            await self._halt()
            self._require(is_wanted)
            return await self._serve(request, is_asked=False)

    def _require(self, is_wanted: Callable[[], bool]) -> None:
        if self._is_starting():
            raise Busy("up-running", "Another start is under way.")
        if not is_wanted():
            raise Busy("up-stopped", "Something else was started or stopped meanwhile.")


def around(
    parts: Parts,
    *,
    engine: Callable[[], EngineSnapshot],
    is_starting: Callable[[], bool],
    check: Callable[[UpRequest], None],
    check_all: Callable[[UpRequest], Awaitable[object]],
    serve: Serve,
    halt: Callable[[], Awaitable[object]],
    open_gateway: Callable[[int, bool], Awaitable[object]],
    publish: Callable[[Event], None],
    idle_since_s: Callable[[float], float | None],
    is_measured: Callable[[], bool],
) -> Around:
    """Return what on demand needs of the rest of the service.

    `check` refuses unknown words, `check_all` whatever could not be started;
    `idle_since_s` knows who uses the engine past the gateway.
    """
    gateway = parts.gateway
    replacement = Replacement(
        parts, is_starting=is_starting, check=check_all, serve=serve, halt=halt
    )
    return Around(
        engine=engine,
        is_coming=lambda: parts.supervisor.is_coming,
        is_adopted=lambda: parts.adopted() is not None,
        target=parts.target,
        idle_since_s=lambda: (
            None if gateway.counters.in_flight else idle_since_s(gateway.idle_since_s)
        ),
        is_measured=is_measured,
        is_open=lambda: gateway.info().port is not None,
        open_gateway=lambda: open_gateway(parts.settings.now.port, False),
        serve=replacement.serve,
        stop=halt,
        check=check,
        publish=publish,
    )
