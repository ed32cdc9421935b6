"""What is started with the service: chosen once, tried at its start, with words for a failure.

A failure that time can heal is tried again, ever more rarely. One that it cannot heal (the plan
does not fit, a value is refused, a download wants a yes) ends the tries, and so does anybody who
starts or stops something meanwhile.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from studio.domain.control import UpRequest, UpResult
from studio.domain.errors import (
    BadInput,
    Damaged,
    EngineFailed,
    HostLacks,
    NeedsConsent,
    NotFound,
    StudioError,
)
from studio.domain.hardware import HostSnapshot
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.service import AutostartInfo, AutostartRequest
from studio.domain.service import AutostartState as State
from studio.host.documents import read_json, write_json

logger = logging.getLogger(__name__)

DELAYS_S = (60.0, 120.0, 300.0, 900.0)
"""Between two tries; the last one holds from then on."""
LOOK_S = 5.0
"""Between two looks for cards or a network."""
PATIENCE_S = 300.0
"""How long cards and network are waited for before it is tried all the same."""
SAME_FAILURES = 3
"""An engine that dies of the same cause so often in a row is not started again."""
_IDLE = (EngineState.STOPPED, EngineState.FAILED)
_HEALING = ("disk-full", "disk-space")
"""What this machine may lack now and have later, without anybody's word to us."""


class _Choice(msgspec.Struct, frozen=True, kw_only=True):
    """`autostart.json`."""

    preset: str
    overrides: dict[str, str] = {}
    cards: int = 0
    """How many cards the machine had when it was chosen; the driver may be late at boot."""


class Autostart:
    """The start at login of one home."""

    def __init__(
        self,
        path: Path,
        *,
        up: Callable[[UpRequest], Awaitable[UpResult]],
        check: Callable[[UpRequest], None],
        engine: Callable[[], EngineSnapshot],
        host: Callable[[], Awaitable[HostSnapshot]],
        fetch_bytes: Callable[[str], int],
        has_network: Callable[[], bool],
    ) -> None:
        """`check` refuses an unknown preset or value; `fetch_bytes` says what is still to load."""
        self._path = path
        self._up = up
        self._check = check
        self._engine = engine
        self._host = host
        self._fetch_bytes = fetch_bytes
        self._has_network = has_network
        self._info = AutostartInfo()
        self._taken_over = asyncio.Event()
        self._is_replaced = False
        """Whether something else was chosen since: then what runs here is no more news."""

    def info(self) -> AutostartInfo:
        """Return what is chosen and how it went."""
        if self._info.state is not State.OFF:
            return self._info
        try:
            chosen = self._read()
        except StudioError as error:
            return AutostartInfo(state=State.GAVE_UP, error=error.info)
        return _next(chosen) if chosen is not None else AutostartInfo()

    async def choose(self, request: AutostartRequest) -> AutostartInfo:
        """Start something else with the service from its next start on, or nothing.

        Raises: NotFound (`preset-unknown`), BadInput (`knob-unknown`, `knob-value`), HostLacks.
        """
        if request.preset is None:
            self._path.unlink(missing_ok=True)
            return self._replace(AutostartInfo())
        self._check(UpRequest(preset=request.preset, overrides=request.overrides))
        host = await self._host()
        chosen = _Choice(
            preset=request.preset, overrides=request.overrides, cards=len(host.gpus or ())
        )
        write_json(self._path, chosen, mode=0o600)
        return self._replace(_next(chosen))

    def _replace(self, info: AutostartInfo) -> AutostartInfo:
        self.stand_down()
        self._is_replaced = True
        self._info = info
        return info

    def stand_down(self) -> None:
        """Leave it to the person, who has just started or stopped something."""
        self._taken_over.set()

    async def run(self) -> None:
        """Try what is chosen until it serves, cannot be served, or a person takes over."""
        try:
            chosen = self._read()
        except StudioError as error:
            logger.warning("nothing is started with the service: %s", error)
            return
        if chosen is None or self._taken_over.is_set():
            return
        self._info = _next(chosen)
        await self._wait_for(State.CARDS, lambda: self._sees(chosen.cards))
        if self._must_fetch(chosen):
            await self._wait_for(State.NETWORK, self._is_connected)
        failures: list[str] = []
        while not self._is_anothers():
            failed = await self._attempt(chosen)
            if failed is None or self._info.state is not State.TRYING:
                return
            failures.append(failed.code)
            if not heals(failed) or _repeats(failed, failures):
                self._tell(State.GAVE_UP, error=failed.info)
                logger.error("`%s` is not started with the service: %s", chosen.preset, failed)
                return
            wait_s = DELAYS_S[min(len(failures), len(DELAYS_S)) - 1]
            logger.warning("`%s` did not start, again in %.0f s: %s", chosen.preset, wait_s, failed)
            self._tell(State.BACKING_OFF, error=failed.info, next_at=time.time() + wait_s)
            await self._pause(wait_s)
        self._tell(State.STOOD_DOWN, error=self._info.error)

    async def _attempt(self, chosen: _Choice) -> StudioError | None:
        """Try once; return why it failed. Whoever stops it meanwhile has taken over."""
        self._tell(State.TRYING, attempts=self._info.attempts + 1)
        try:
            await self._up(UpRequest(preset=chosen.preset, overrides=chosen.overrides))
        except StudioError as error:
            if self._taken_over.is_set():
                self._tell(State.STOOD_DOWN, error=error.info)
            return error
        self._tell(State.SERVED)
        return None

    async def _wait_for(self, state: State, holds: Callable[[], Awaitable[bool]]) -> None:
        """Wait for something that may be late at the machine's start; not for ever."""
        deadline = time.monotonic() + PATIENCE_S
        while not self._is_anothers() and time.monotonic() < deadline and not await holds():
            self._tell(state)
            await self._pause(LOOK_S)

    async def _pause(self, seconds: float) -> None:
        """Sleep, unless a person takes over."""
        try:
            async with asyncio.timeout(seconds):
                await self._taken_over.wait()
        except TimeoutError:
            return

    async def _sees(self, cards: int) -> bool:
        return cards == 0 or len((await self._host()).gpus or ()) >= cards

    async def _is_connected(self) -> bool:
        return await asyncio.to_thread(self._has_network)

    def _must_fetch(self, chosen: _Choice) -> bool:
        try:
            return self._fetch_bytes(chosen.preset) > 0
        except StudioError:
            return False  # the start itself says what is wrong

    def _is_anothers(self) -> bool:
        return self._taken_over.is_set() or self._engine().state not in _IDLE

    def _tell(self, state: State, **more: object) -> None:
        fresh = {"error": None, "next_at": None, **more}
        if not self._is_replaced:
            self._info = msgspec.structs.replace(self._info, state=state, **fresh)

    def _read(self) -> _Choice | None:
        try:
            return read_json(self._path, _Choice)
        except Damaged as error:
            raise Damaged(
                "autostart-damaged",
                error.message,
                hint="Choose it again: `weir service autostart PRESET`, or `off`.",
            ) from error


def heals(error: StudioError) -> bool:
    """Tell whether the same start may succeed later without anybody's doing."""
    if isinstance(error, HostLacks):
        return error.code in _HEALING
    return not isinstance(error, BadInput | NotFound | NeedsConsent | Damaged)


def _repeats(error: StudioError, failures: list[str]) -> bool:
    last = failures[-SAME_FAILURES:]
    same = len(last) == SAME_FAILURES and set(last) == {error.code}
    return same and isinstance(error, EngineFailed)


def _next(chosen: _Choice) -> AutostartInfo:
    return AutostartInfo(state=State.NEXT, preset=chosen.preset, overrides=chosen.overrides)
