"""How fast it is: joins ticks, keys, published figures and this machine's own past."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from studio.domain.errors import StudioError
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.keys import UsageRow
from studio.domain.manifests import Expected
from studio.domain.metrics import Tick
from studio.domain.plans import Plan
from studio.domain.pool import Resident
from studio.domain.server import EngineSnapshot
from studio.domain.speed import (
    PROCESSOR,
    KeySpeed,
    SpeedFigure,
    SpeedReport,
    SpeedSteps,
    SpeedVerdict,
)
from studio.monitor import figures, own_speeds, verdict
from studio.monitor.figures import Machine
from studio.monitor.own_speeds import Served, Sums
from studio.monitor.recorder import Recorder
from studio.monitor.speed import SpeedWindow

_WRITE_S = 60.0
_HOUR_S = 3_600


class Speed:
    """One per service."""

    def __init__(
        self,
        *,
        recorder: Recorder,
        engine: Callable[[], EngineSnapshot],
        tick: Callable[[], Tick | None],
        residents: Callable[[float], tuple[Resident, ...]],
        host: Callable[[], HostSnapshot | None],
        expected: Callable[[str], Sequence[Expected]],
        used: Callable[[int], Awaitable[list[UsageRow]]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`expected` returns a preset's published figures, `used` what keys used in some seconds.

        `expected` raises: StudioError for a preset that is not there any more.
        """
        self._recorder = recorder
        self._engine = engine
        self._tick = tick
        self._residents = residents
        self._host = host
        self._expected = expected
        self._used = used
        self._clock = clock
        self._plan: Plan | None = None
        self._window = SpeedWindow()
        self._served: Served | None = None
        self._sums = Sums()
        self._known: tuple[Served | None, SpeedFigure | None] = (None, None)

    def expect(self, plan: Plan) -> None:
        """Take up what was planned for the start that comes next."""
        self._plan = plan

    # -- what goes in ----------------------------------------------------------------------

    def hear_tick(self, tick: Tick) -> None:
        """Measure, while the load stands still."""
        engine = self._engine()
        served = self._what(engine) if engine.is_serving else None
        if served != self._served:
            self._window.clear()
            self._served, self._sums = served, Sums()
        if served is None:
            return
        one = self._window.add(tick, self._longest(tick))
        is_short = one is not None and (one.context_tokens or 0) <= verdict.SHORT_TOKENS
        if one is not None and one.requests == 1 and is_short and one.context_tokens is not None:
            assert one.decode_tokens_per_s is not None
            self._sums = self._sums.plus(one.seconds, one.decode_tokens_per_s, one.tokens_per_step)

    async def run(self) -> None:
        """Keep what was measured, once a minute, until cancelled."""
        while True:
            await asyncio.sleep(_WRITE_S)
            await self.keep()
            await self.look_up()

    async def keep(self) -> None:
        """Add what was measured to the past of this machine."""
        sums, served = self._sums, self._served
        if served is None or not sums.seconds:
            return
        self._sums = Sums()
        now = self._clock()
        await self._recorder.change(
            lambda connection: own_speeds.add(connection, served, sums, now)
        )

    async def look_up(self) -> SpeedFigure | None:
        """Return what the speed is held against now, and remember it for `verdict_now`."""
        engine = self._engine()
        served = self._what(engine)
        figure = await self._figure(engine, served)
        self._known = served, figure
        return figure

    # -- what is asked ---------------------------------------------------------------------

    def verdict_now(self) -> SpeedVerdict:
        """Return what is to be thought of the last minute, without looking anything up.

        For alarms, once a tick. The figure may be a minute old; one of another engine is none.
        """
        served, figure = self._known
        if served is None or served != self._served:
            figure = None
        tick = self._tick()
        drafts = len(tick.acceptance) if tick is not None and tick.acceptance else None
        return verdict.verdict(self._window.measured(), figure, drafts)

    async def report(self) -> SpeedReport:
        """Return how fast it is, and whether that is as it should be."""
        engine = self._engine()
        tick = (self._tick() if engine.is_serving else None) or Tick(at=self._clock())
        served = self._what(engine)
        measured = self._window.measured()
        drafts = len(tick.acceptance) if tick.acceptance else None
        figure = await self.look_up()
        running, decode = tick.running, tick.decode_tokens_per_s
        return SpeedReport(
            at=tick.at,
            preset=engine.preset if engine.adopted is None else engine.adopted.name,
            runtime_id=engine.runtime_id,
            card=None if served is None or served.cards == PROCESSOR else served.cards,
            running=running,
            waiting=tick.waiting,
            prefill_tokens_per_s=tick.prefill_tokens_per_s,
            decode_tokens_per_s=decode,
            decode_tokens_per_s_each=decode / running if decode is not None and running else None,
            tokens_per_step=tick.tokens_per_step,
            acceptance=tick.acceptance,
            step_s=tick.step_s if tick.step_s is not None else measured.step_s,
            ttft_p50_s=tick.ttft_p50_s,
            ttft_p95_s=tick.ttft_p95_s,
            itl_p50_s=tick.itl_p50_s,
            itl_p95_s=tick.itl_p95_s,
            keys=tuple(_of_key(row) for row in await self._used(_HOUR_S)),
            measured=measured,
            verdict=verdict.verdict(measured, figure, drafts),
        )

    async def _figure(self, engine: EngineSnapshot, served: Served | None) -> SpeedFigure | None:
        """Return what is published for this machine, else what it did before."""
        if served is None:
            return None
        now = self._clock()
        sums = await self._recorder.read(
            lambda connection: own_speeds.before(connection, served, now), Sums()
        )
        own, found = own_speeds.figure(sums, served), None
        if not engine.overrides:  # figures are of the preset as it is
            with contextlib.suppress(StudioError):  # the preset was taken away meanwhile
                found = figures.published(self._expected(served.preset), self._machine())
        if found is None or own is None:
            return found or own
        if found.tokens_per_step is not None or own.tokens_per_step is None:
            # Without speculation the published speed says how long a step takes.
            return found
        return msgspec.structs.replace(
            found,
            tokens_per_step=own.tokens_per_step,
            step_s=own.step_s,
            steps_of=SpeedSteps.PAST,
            before_tokens_per_s=own.decode_tokens_per_s,
        )

    def _what(self, engine: EngineSnapshot) -> Served | None:
        if engine.preset is None or engine.adopted is not None:
            return None
        cards = "+".join(_card_text(one) for one in self._cards()) or PROCESSOR
        changed = "".join(f" {name}={value}" for name, value in sorted(engine.overrides.items()))
        return Served(engine.preset + changed, cards, engine.runtime_id or "")

    def _machine(self) -> Machine:
        host, cards = self._host(), self._cards()
        limits = [one.power_limit_w for one in cards]
        known = [one for one in limits if one is not None]
        return Machine(
            cards=tuple((one.name, one.total_bytes) for one in cards),
            power_w=min(known) if known and len(known) == len(limits) else None,
            is_wsl=host.is_wsl if host is not None else False,
            processor=host.cpu_name if host is not None else None,
            processors=host.cpu_count if host is not None else None,
        )

    def _cards(self) -> list[Gpu]:
        """Return the cards in use, as they were last seen."""
        host, plan = self._host(), self._plan
        if host is None or plan is None:
            return []
        return [one for one in host.gpus if one.index in plan.gpus]

    def _longest(self, tick: Tick) -> int | None:
        """Return the longest conversation that runs; None where one of them is unknown."""
        held = [one.tokens for one in self._residents(tick.tokens_per_step or 1.0)]
        known = [one for one in held if one is not None]
        if len(known) < len(held) or len(held) < (tick.running or 0):
            return None  # others use the engine beside the gateway
        return max(known, default=None)


def _of_key(row: UsageRow) -> KeySpeed:
    return KeySpeed(
        key=row.key,
        requests=row.requests,
        generated_tokens=row.generated_tokens,
        ttft_p50_s=row.ttft_p50_s,
        ttft_p95_s=row.ttft_p95_s,
        tok_s_p50=row.tok_s_p50,
        tok_s_p5=row.tok_s_p5,
    )


def _card_text(card: Gpu) -> str:
    power = "" if card.power_limit_w is None else f" at {card.power_limit_w:.0f} W"
    return f"{card.name}{power}"
