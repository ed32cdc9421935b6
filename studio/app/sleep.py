"""The machine's sleep: the engine is kept or stopped before it, and looked at after it.

Two witnesses: logind announces sleep where there is one (host/dbus_login.py); and everywhere the
two clocks of Linux tell afterwards, since one of them stands still meanwhile.
"""

import asyncio
import dataclasses
import json
import logging
import time
from collections.abc import Awaitable, Callable

import msgspec

from studio.app.settings import SettingsFile
from studio.domain.control import UpRequest, UpResult
from studio.domain.errors import HostLacks, StudioError
from studio.domain.hardware import HostSnapshot
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.service import SleepInfo, SleepPolicy, SleepRequest
from studio.domain.units import duration_text
from studio.serving.life import Target

logger = logging.getLogger(__name__)

LOOK_S = 1.0
SLEPT_S = 5.0
"""By how much the clocks must part for it to have been sleep."""
BEFORE_S = 3.5
"""How long sleep is put off for an engine that is to be stopped; logind grants 5 s."""
ANSWER_S = 30.0
"""How long one token may take after waking: memory and caches come back first."""
CARDS_S = 30.0
"""How long the driver may take to give the cards back."""
_CARDS_LOOK_S = 2.0
_BUS_AGAIN_S = 30.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Doings:
    """What is asked and done of the rest of the service, as plain functions."""

    engine: Callable[[], EngineSnapshot]
    target: Callable[[], Target | None]
    is_working: Callable[[], bool]
    """Whether tokens came within the last second."""
    host: Callable[[], Awaitable[HostSnapshot]]
    seen: Callable[[], HostSnapshot | None]
    """The machine as it was looked at last."""
    stop: Callable[[], Awaitable[object]]
    up: Callable[[UpRequest], Awaitable[UpResult]]


class Sleep:
    """Sleep and waking of one service."""

    def __init__(
        self,
        settings: SettingsFile,
        doings: Doings,
        *,
        asleep_s: Callable[[], float | None] | None = None,
    ) -> None:
        """`asleep_s` returns how long the machine has slept since it was started."""
        self._settings = settings
        self._doings = doings
        self._asleep_s = asleep_s or total_sleep_s
        self._known_s = self._asleep_s()
        self._info = SleepInfo()
        self._stopped: UpRequest | None = None
        self._stopping: asyncio.Task[object] | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._waking = asyncio.Lock()

    def info(self) -> SleepInfo:
        """Return the policy and how the last sleep went."""
        return msgspec.structs.replace(self._info, policy=self._settings.now.on_sleep)

    def choose(self, request: SleepRequest) -> SleepInfo:
        """Keep the engine through sleep, or stop it before. Raises: HostLacks."""
        self._settings.change(on_sleep=request.policy)
        return self.info()

    async def run(self) -> None:
        """Listen and watch until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            tasks.create_task(self._listen())
            while True:
                await asyncio.sleep(LOOK_S)
                now = self._asleep_s()
                if now is not None and now - (self._known_s or 0.0) > SLEPT_S:
                    await self.heard(False)

    async def heard(self, is_before: bool) -> None:
        """Act on word of sleep: True before it, False after it."""
        if is_before:
            await self._before()
            return
        async with self._waking:
            slept_s, self._known_s = self._known_s, self._asleep_s()
            await self._after((self._known_s or 0.0) - (slept_s or 0.0))

    async def _listen(self) -> None:
        # Here, because its library exists for Linux only and commands without a service need none.
        from studio.host.dbus_login import SleepWatch

        while True:
            watch = SleepWatch(self.heard)
            self._info = msgspec.structs.replace(self._info, is_announced=True)
            try:
                await watch.run()
            except HostLacks as error:
                self._info = msgspec.structs.replace(self._info, is_announced=False)
                logger.info("%s The clocks tell afterwards.", error)
                return
            await asyncio.sleep(_BUS_AGAIN_S)

    async def _before(self) -> None:
        """Prepare for sleep. What is not done in time goes on after it."""
        self._info = msgspec.structs.replace(self._info, slept_at=time.time(), outcome=None)
        engine = self._doings.engine()
        if self._settings.now.on_sleep is not SleepPolicy.STOP or self._tasks is None:
            return
        if engine.state is not EngineState.READY or engine.preset is None:
            return
        logger.info("the machine goes to sleep: the engine is stopped")
        self._stopped = UpRequest(preset=engine.preset, overrides=dict(engine.overrides))
        self._stopping = self._tasks.create_task(self._quietly(self._doings.stop()))
        await asyncio.wait([self._stopping], timeout=BEFORE_S)

    async def _after(self, slept_s: float) -> None:
        """Look at the engine at once: a card may have lost what it held."""
        began, self._info = self._info.slept_at, msgspec.structs.replace(self._info, outcome=None)
        woke = time.time()
        if began is None or slept_s > 0:
            began = began if began is not None else woke - slept_s
        self._info = msgspec.structs.replace(self._info, slept_at=began, woke_at=woke)
        try:
            outcome = await self._look()
        except StudioError as error:
            outcome = f"The engine could not be started again: {error.message}"
        self._info = msgspec.structs.replace(self._info, outcome=outcome)
        logger.warning("the machine slept for %s. %s", duration_text(slept_s or None), outcome)

    async def _look(self) -> str:
        """Return what was found and done."""
        stopped, self._stopped = self._stopped, None
        if stopped is not None:
            if self._stopping is not None:
                await asyncio.wait([self._stopping])
            await self._doings.up(stopped)
            return f"`{stopped.preset}` was stopped before and started again."
        engine = self._doings.engine()
        if engine.adopted is not None:
            return "The adopted engine is watched as before."
        if engine.state in (EngineState.STOPPED, EngineState.FAILED):
            return "No engine was serving."
        if engine.state is not EngineState.READY:
            return f"The engine is {engine.state.value}; it goes on by itself."
        if await self._answers():
            return "The engine answers."
        after = self._doings.engine()
        if after.state is not EngineState.READY or after.pid != engine.pid:
            return "The engine had died, and is being started again."
        why = await self._missing_cards()
        request = UpRequest(preset=engine.preset, overrides=dict(engine.overrides))
        await self._doings.stop()
        try:
            await self._doings.up(request)
        except StudioError as error:
            return (
                f"The engine did not answer{why}, and could not be started again: {error.message}"
            )
        return f"The engine did not answer{why}, and was started again."

    async def _answers(self) -> bool:
        """Tell whether the engine generates; one that is busy with others' requests does."""
        target = self._doings.target()
        if target is None:
            return False
        body = {"model": target.served_name, "prompt": "1, 2, 3,", "max_tokens": 1}
        try:
            status, _, _ = await target.upstream.fetch(
                "POST",
                "/v1/completions",
                [
                    (b"content-type", b"application/json"),
                    (b"authorization", b"Bearer " + target.key.encode()),
                ],
                json.dumps(body).encode(),
                timeout_s=ANSWER_S,
            )
        except StudioError:
            return self._doings.is_working()
        return status == 200 or self._doings.is_working()

    async def _missing_cards(self) -> str:
        """Wait for cards that are away; return a clause that names those that stay away."""
        before = self._doings.seen()
        wanted = {card.uuid or card.name for card in before.gpus or ()} if before else set()
        names = {card.uuid or card.name: card.name for card in (before.gpus if before else ())}
        deadline = time.monotonic() + CARDS_S
        missing = wanted
        while missing and time.monotonic() < deadline:
            now = await self._doings.host()
            missing = wanted - {card.uuid or card.name for card in now.gpus or ()}
            if missing:
                await asyncio.sleep(_CARDS_LOOK_S)
        if not missing:
            return ""
        lost = ", ".join(sorted(names[one] for one in missing))
        return f" (the driver no longer shows {lost})"

    async def _quietly(self, work: Awaitable[object]) -> None:
        try:
            await work
        except StudioError as error:
            logger.warning("the engine was not stopped before sleep: %s", error)


def total_sleep_s() -> float | None:
    """Return how long the machine has slept since its start; None where no clock tells.

    Source: clock_gettime(2): CLOCK_BOOTTIME counts sleep, CLOCK_MONOTONIC does not.
    """
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return None if clock is None else time.clock_gettime(clock) - time.monotonic()
