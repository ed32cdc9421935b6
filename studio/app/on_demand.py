"""Starts, switches and stops engines for requests: performs what gateway/demand.py decides.

One loop looks at who waits and at the engine, acts, and sleeps until something changes or is due.
What a person does comes first: a stop holds everything back until they start something, and what
they started is left alone unless they said otherwise.
"""

import asyncio
import contextlib
import dataclasses
import logging
import time
from collections.abc import Awaitable, Callable

from studio.app.autostart import heals
from studio.app.demand_choices import changed, rules, within_s
from studio.app.demand_names import DemandNames, meant
from studio.app.demand_view import Doing, Seen, look, outlook, shown
from studio.app.settings import SettingsFile
from studio.domain.control import UpRequest
from studio.domain.demand import (
    DemandChange,
    DemandReport,
    FailedStart,
    ListedPreset,
    Queue,
    Reason,
)
from studio.domain.errors import Busy, ErrorInfo, StudioError
from studio.domain.events import Event, QueueChanged
from studio.domain.server import EngineSnapshot, EngineState
from studio.gateway import arrivals, demand
from studio.gateway.arrivals import Demand, Found
from studio.gateway.demand import Act, Brake, Decision
from studio.gateway.dialects import Refusal
from studio.gateway.engine import EngineTarget
from studio.gateway.tickets import Tickets

logger = logging.getLogger(__name__)

_PORT_AGAIN_S = 15.0
"""Between two tries to open the gateway, when its port is taken."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What on demand needs of the rest of the service, as plain functions."""

    engine: Callable[[], EngineSnapshot]
    is_coming: Callable[[], bool]
    """Whether an engine will serve by itself."""
    is_adopted: Callable[[], bool]
    target: Callable[[], EngineTarget | None]
    idle_since_s: Callable[[], float | None]
    """None: it has requests."""
    is_measured: Callable[[], bool]
    """Whether a bench is under way."""
    is_open: Callable[[], bool]
    """Whether the gateway is."""
    open_gateway: Callable[[], Awaitable[object]]
    serve: Callable[[UpRequest, Callable[[], bool]], Awaitable[object]]
    """Serves in the place of whatever serves; the second says whether it is still wanted."""
    stop: Callable[[], Awaitable[object]]
    check: Callable[[UpRequest], None]
    publish: Callable[[Event], None]


class OnDemand:
    """Engines on demand, of one service."""

    def __init__(self, settings: SettingsFile, names: DemandNames) -> None:
        self.tickets = Tickets(lambda: settings.now.demand.queue_length)
        self.tickets.on_change = self.wake
        self._settings = settings
        self._names = names
        self._around: Around | None = None
        self._wake = asyncio.Event()
        self._list_changed = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None
        self._decision = Decision()
        self._published = Queue()
        self._starting: str | None = None
        self._is_stopping = False
        self._ours: str | None = None
        """What was started here; another engine was started by hand."""
        self._turns = 0
        """How often a person has taken over."""
        self._held_at: float | None = None
        self._is_closed = False
        self._brakes: dict[str, tuple[Brake, ErrorInfo]] = {}
        self._state = EngineState.STOPPED
        self._ready_s: float | None = None
        self._alone_s: float | None = None

    def bind(self, around: Around) -> None:
        """Name the rest of the service; once, before anything runs."""
        self._around = around

    def gateways(self) -> Demand:
        """Return what the gateway is told."""
        return Demand(
            tickets=self.tickets,
            is_on=self.is_on,
            find=self.find,
            all=self._names.listed,
            outlook=self.outlook,
            within_s=lambda is_stream: within_s(self._settings.now.demand, is_stream=is_stream),
        )

    # -- what others ask -------------------------------------------------------------------

    def is_on(self) -> bool:
        """Tell whether requests may start anything now."""
        chosen = self._settings.now.demand
        is_able = chosen.is_on and bool(chosen.presets) and self._tasks is not None
        is_free = not self._is_closed and self._held_at is None
        return is_able and is_free and not self._surroundings.is_adopted()

    async def find(self, name: str | None) -> Found | None:
        """Return what a name means among the listed presets; None: none of them."""
        listed = await self._names.listed()
        running = self._look().present.preset
        one = meant(listed, name, running=running, last=self._settings.now.preset)
        if one is None:
            return None
        failed = next((f for f in self._failed() if f.preset == one.preset), None)
        remaining_s = self.outlook(one.preset)[1]
        is_here = one.preset == running
        return Found(preset=one, failed=failed, is_here=is_here, remaining_s=remaining_s)

    def outlook(self, preset: str) -> tuple[str, float | None]:
        """Return what happens for those who wait for `preset`, and the seconds until it serves."""
        return outlook(preset, self._look(), self._decision, time.monotonic())

    def queue(self) -> Queue:
        """Return who waits, and what happens next."""
        if self._around is None:
            return Queue()
        return shown(
            self.tickets,
            self._look(),
            rules(self._settings.now.demand, is_held=self._held_at is not None),
            failed=self._failed(),
            held_at=self._held_at,
        )

    async def report(self) -> DemandReport:
        """Return the choice, each listed preset, and the queue."""
        chosen = self._settings.now.demand
        listed = await self._names.listed()
        return DemandReport(settings=chosen, presets=listed, queue=self.queue())

    async def change(self, change: DemandChange) -> DemandReport:
        """Change what may be started on demand. Whoever waits for what is off now is let go.

        Raises: NotFound (`preset-unknown`, `demand-not-listed`), BadInput (`demand-value`,
        `knob-unknown`, `knob-value`), HostLacks (`not-writable`, …).
        """

        def check(preset: str, overrides: dict[str, str]) -> None:
            self._surroundings.check(UpRequest(preset=preset, overrides=overrides))

        after = changed(self._settings.now.demand, change, check)
        self._settings.change(demand=after)
        if change.is_on:
            self._held_at = None
            self._brakes.clear()
        if change.preset is not None:
            self._brakes.pop(change.preset, None)
        gone = {line.preset for line in self.tickets.lines()} - set(after.presets)
        for preset in gone if after.is_on else {line.preset for line in self.tickets.lines()}:
            why = f"The model {preset!r} may no longer be started by requests."
            self.tickets.refuse(arrivals.stopped(why), preset)
        self._list_changed.set()
        self.wake()
        return await self.report()

    def cut_reason(self) -> Refusal | None:
        """Return what answers that run too long are ended with when another model's turn comes."""
        if self._starting is None:
            return None
        text = (
            f"The engine makes room for the model {self._starting!r}, and this answer was not"
            " finished in time. Ask again; it is queued."
        )
        return Refusal(503, "engine-switched", text)

    # -- what others tell ------------------------------------------------------------------

    def wake(self) -> None:
        """Let the loop look again."""
        self._wake.set()

    def taken_over(self, preset: str | None) -> None:
        """Take note that a person starts something: what runs is theirs from now on."""
        self._turns += 1
        self._held_at, self._ours = None, None
        if preset is not None:
            self._brakes.pop(preset, None)
        self.wake()

    def hold(self) -> None:
        """Take note that a person said stop: nothing is started until they say so."""
        self._turns += 1
        if self._settings.now.demand.presets and self._settings.now.demand.is_on:
            self._held_at = time.time()
        self.tickets.refuse(arrivals.stopped("The engine was stopped while this request waited."))
        self.wake()

    def close(self) -> None:
        """Start nothing more: the service ends."""
        self._is_closed = True
        self._turns += 1
        self.tickets.refuse(arrivals.stopped("The service of the Studio is ending."))

    def on_engine(self, engine: EngineSnapshot) -> None:
        """Take up what the supervisor says of the engine."""
        before, self._state = self._state, engine.state
        if engine.state is EngineState.READY and before is not EngineState.READY:
            self._ready_s = time.monotonic()
        is_dead = engine.state is EngineState.FAILED and before is not EngineState.FAILED
        if is_dead and self._starting is None and engine.error is not None:
            self._fail(engine.preset, engine.error, is_healing=True)
        self.wake()

    def ended(self, preset: str, error: StudioError | None) -> None:
        """Take note that a start is over, whoever wanted it."""
        if error is not None and self._starting is None and not isinstance(error, Busy):
            self._fail(preset, error.info, is_healing=heals(error))
        self.wake()

    def on_tick(self) -> None:
        """Announce the queue, if it has changed; called once a second."""
        self._announce()

    # -- the loop --------------------------------------------------------------------------

    async def run(self) -> None:
        """Serve until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                tasks.create_task(self._keep_gateway())
                while True:
                    self._wake.clear()
                    due_s = self._step()
                    await self._sleep(due_s)
        finally:
            self._tasks = None

    async def _sleep(self, due_s: float | None) -> None:
        delay_s = None if due_s is None else max(0.0, due_s - time.monotonic())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                await self._wake.wait()

    def _step(self) -> float | None:
        """Look and act once; return when something is due by itself."""
        around, now_s = self._surroundings, time.monotonic()
        target = around.target()
        if target is not None and target.preset is not None:
            self.tickets.serve(target.preset, target)
        for line in self.tickets.lines():
            brake = self._brakes.get(line.preset)
            if brake is not None and brake[0].holds(now_s) and line.preset != self._starting:
                self.tickets.refuse(arrivals.failed(self._failed_start(line.preset)), line.preset)
        seen = self._look()
        self._alone_s = seen.present.alone_s
        held = self._held_at is not None
        chosen = rules(self._settings.now.demand, is_held=held)
        while True:
            decision = demand.decide(now_s, seen.present, self.tickets.lines(), chosen)
            if decision.act is not Act.TURN_AWAY or decision.preset is None:
                break
            self.tickets.refuse(self._turned_away(decision), decision.preset)
        self._decision = decision
        is_busy = self._starting is not None and decision.act is not Act.END_BOOT
        is_free = not (is_busy or self._is_stopping or self._is_closed)
        if is_free and self._tasks is not None:
            self._act(decision, self._tasks)
        self._announce()
        return decision.at_s if decision.act is Act.WAIT else None

    def _act(self, decision: Decision, tasks: asyncio.TaskGroup) -> None:
        preset = decision.preset
        match decision.act:
            case Act.START | Act.SWITCH if preset is not None:
                logger.info("%s is started for requests that wait for it", preset)
                self._starting = preset
                tasks.create_task(self._start(preset))
            case Act.STOP | Act.END_BOOT:
                logger.info("%s is stopped: %s", preset, decision.reason.value)
                self._is_stopping = True
                tasks.create_task(self._stop())
            case _:
                return

    async def _start(self, preset: str) -> None:
        turn = self._turns
        how = self._settings.now.demand.presets.get(preset, ListedPreset())
        request = UpRequest(preset=preset, overrides=how.overrides)
        ours, self._ours = self._ours, preset
        try:
            await self._surroundings.serve(request, lambda: self._turns == turn)
            self._brakes.pop(preset, None)
        except Busy as error:  # a person was quicker: no failure of the preset
            self._ours = ours if self._turns == turn else self._ours
            self.tickets.refuse(arrivals.stopped(error.message), preset)
        except StudioError as error:
            self._ours = ours if self._turns == turn else self._ours
            logger.warning("%s did not start for a request: %s", preset, error)
            self._fail(preset, error.info, is_healing=heals(error))
        finally:
            self._starting = None
            self.wake()

    async def _stop(self) -> None:
        try:
            await self._surroundings.stop()
        finally:
            self._is_stopping = False
            self.wake()

    def _fail(self, preset: str | None, error: ErrorInfo, *, is_healing: bool) -> None:
        if preset is None or preset not in self._settings.now.demand.presets:
            return
        before = self._brakes.get(preset)
        brake = demand.braked(
            before[0] if before is not None else None, time.monotonic(), heals=is_healing
        )
        self._brakes[preset] = (brake, error)
        self.tickets.refuse(arrivals.failed(self._failed_start(preset)), preset)

    def _failed_start(self, preset: str) -> FailedStart:
        brake, error = self._brakes[preset]
        until = time.time() + brake.until_s - time.monotonic()
        return FailedStart(preset=preset, error=error, failures=brake.failures, until=round(until))

    def _failed(self) -> tuple[FailedStart, ...]:
        now_s = time.monotonic()
        return tuple(
            self._failed_start(preset)
            for preset, (brake, _) in self._brakes.items()
            if brake.holds(now_s)
        )

    def _turned_away(self, decision: Decision) -> Refusal:
        engine = self._surroundings.engine()
        if decision.reason is Reason.BY_HAND:
            return arrivals.stopped(
                f"{engine.preset!r} was started by hand and is not on the list of `weir gateway"
                f" on-demand`, so requests do not replace it. `weir switch {decision.preset}` does."
            )
        return arrivals.stopped("The engine was stopped, and nothing is started until `weir up`.")

    @property
    def _surroundings(self) -> Around:
        assert self._around is not None
        return self._around

    def _look(self) -> Seen:
        around = self._surroundings
        doing = Doing(
            starting=self._starting,
            is_stopping=self._is_stopping,
            ours=self._ours,
            ready_s=self._ready_s,
            alone_s=self._alone_s,
        )
        return look(
            around.engine(),
            doing,
            is_coming=around.is_coming(),
            idle_s=around.idle_since_s(),
            is_measured=around.is_measured(),
            lines=self.tickets.lines(),
            now_s=time.monotonic(),
        )

    def _announce(self) -> None:
        queue = self.queue()
        if queue != self._published:
            self._published = queue
            self._surroundings.publish(QueueChanged(queue=queue))

    async def _keep_gateway(self) -> None:
        """Open the gateway while there is something that requests could start."""
        while True:
            if self._is_closed_yet():
                try:
                    await self._surroundings.open_gateway()
                except StudioError as error:
                    logger.warning("the gateway is closed: %s", error)
            self._list_changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PORT_AGAIN_S if self._is_closed_yet() else None):
                    await self._list_changed.wait()

    def _is_closed_yet(self) -> bool:
        """Tell whether the gateway should be open and is not."""
        chosen = self._settings.now.demand
        return chosen.is_on and bool(chosen.presets) and not self._surroundings.is_open()
