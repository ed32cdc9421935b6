"""What the monitor makes of ticks beside showing them: history, pool in detail, speed, scraping."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from studio.app.past import Past
from studio.app.pool import Pool
from studio.app.scrape import Scrape, exposed
from studio.app.speed import Speed
from studio.app.wiring import Parts
from studio.domain.alarms import Alarm
from studio.domain.control import Status
from studio.domain.events import Event
from studio.domain.hardware import HostSnapshot
from studio.domain.keys import UsageRow
from studio.domain.metrics import Tick
from studio.domain.plans import Plan
from studio.domain.server import EngineSnapshot
from studio.domain.speed import SpeedVerdict, SpeedVerdictKind
from studio.monitor.scene import Slower


class Facade(Protocol):
    """Who knows one instant of everything."""

    def engine(self) -> EngineSnapshot:
        """Return the engine."""

    def status(self) -> Status:
        """Return one instant."""


class Insight:
    """One per service."""

    def __init__(
        self,
        parts: Parts,
        facade: Facade,
        publish: Callable[[Event], None],
        host: Callable[[], HostSnapshot | None],
        used: Callable[[int], Awaitable[list[UsageRow]]],
    ) -> None:
        self.past = Past(parts.recorder)
        self.scrape = Scrape(
            parts.paths.scrape_file, lambda: exposed(facade.status(), parts.keys.list())
        )
        self.pool = Pool(
            engine=facade.engine,
            tick=lambda: parts.sampler.last,
            residents=parts.gateway.residents,
            publish=publish,
        )
        parts.on_sample = self.pool.see
        self.speed = Speed(
            recorder=parts.recorder,
            engine=facade.engine,
            tick=lambda: parts.sampler.last,
            residents=parts.gateway.residents,
            host=host,
            expected=lambda preset: parts.presets.get(preset).expected,
            used=used,
        )
        parts.alarms.slower = lambda: slower(self.speed.verdict_now())

    async def open(self) -> None:
        """Begin to keep what happens."""
        await self.past.open()

    async def run(self) -> None:
        """Write what is new, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.past.run())
            tasks.create_task(self.speed.run())

    async def close(self) -> None:
        """Write what is in memory."""
        await self.speed.keep()
        await self.past.close()

    def expect(self, plan: Plan) -> None:
        """Take up what was planned for the start that comes next."""
        self.pool.expect(plan)
        self.speed.expect(plan)

    def hear_tick(self, tick: Tick) -> None:
        """Take up a tick."""
        self.past.hear_tick(tick)
        self.pool.hear_tick(tick)
        self.speed.hear_tick(tick)

    def hear_alarm(self, alarm: Alarm) -> None:
        """Take up an alarm that was raised, has changed, or is over."""
        self.past.hear_alarm(alarm)

    def hear_engine(self, engine: EngineSnapshot) -> None:
        """Take up what the engine does."""
        self.past.hear_engine(engine)


def slower(found: SpeedVerdict) -> Slower | None:
    """Return a verdict as alarms take it: how far below a figure that can be compared."""
    if found.kind is not SpeedVerdictKind.SLOWER or found.ratio is None:
        return None
    return Slower(sentence=found.sentence, share=found.ratio)
