"""The service among the system's own: its unit, what starts with it, and the machine's sleep."""

import asyncio

import msgspec

from studio.app.autostart import Autostart
from studio.app.service_unit import ServiceUnit
from studio.app.sleep import Doings, Sleep
from studio.app.up import Up
from studio.app.wiring import Parts
from studio.domain.metrics import Tick
from studio.domain.service import UnitInfo, UnitRequest
from studio.host.online import has_network


class ServiceLife:
    """Everything about the service that outlives one engine."""

    def __init__(self, parts: Parts, *, up: Up, doings: Doings) -> None:
        """`doings` start and stop without ending the autostart, as a person's word does."""
        self._parts = parts
        self._up = up
        self.unit = ServiceUnit(parts.paths, drain_s=self._longest_drain_s)
        self.sleep = Sleep(parts.settings, doings)
        self.autostart = Autostart(
            parts.paths.home / "autostart.json",
            up=doings.up,
            check=up.check_words,
            engine=doings.engine,
            host=doings.host,
            fetch_bytes=self._fetch_bytes,
            has_network=has_network,
        )

    async def run(self, *, autostart: bool) -> None:
        """Start what was chosen, and hear of sleep, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.sleep.run())
            if autostart:
                tasks.create_task(self.autostart.run())

    async def info(self) -> UnitInfo:
        """Return unit, autostart and sleep as they are now."""
        return self._with(await self.unit.info())

    async def install(self, request: UnitRequest) -> UnitInfo:
        """Let systemd keep the service; see `ServiceUnit.install`."""
        return self._with(await self.unit.install(request))

    async def uninstall(self, request: UnitRequest) -> UnitInfo:
        """Let it do so no more; see `ServiceUnit.uninstall`."""
        return self._with(await self.unit.uninstall(request))

    def _with(self, unit: UnitInfo) -> UnitInfo:
        return msgspec.structs.replace(
            unit, autostart=self.autostart.info(), sleep=self.sleep.info()
        )

    def _longest_drain_s(self) -> float:
        """Return the longest time that a preset grants the answers under way."""
        return max((preset.drain_s for preset in self._parts.presets.all()), default=0.0)

    def _fetch_bytes(self, preset_id: str) -> int:
        preset = self._parts.presets.get(preset_id)
        return self._up.still_to_fetch_bytes(preset, self._parts.catalog.recipe(preset.runtime))


def is_working(tick: Tick | None) -> bool:
    """Tell whether tokens came within the last second."""
    return tick is not None and bool(tick.decode_tokens_per_s or tick.prefill_tokens_per_s)
