"""The facade: all that the control API may ask of the service. One instance, one event loop."""

import asyncio
import logging
import os
import time

from studio import __version__
from studio.app.adopt import Adopting, Surroundings
from studio.app.bench import Bench
from studio.app.boots import Boots
from studio.app.bundles import Bundles
from studio.app.bus import Bus
from studio.app.clients_around import made as made_clients
from studio.app.demand_wiring import around
from studio.app.diagnosis import Diagnoses
from studio.app.disk import DiskUsage
from studio.app.doctor import Doctor
from studio.app.downloads import Downloads
from studio.app.gateway import Door
from studio.app.insight import Insight
from studio.app.installs import Installs
from studio.app.last_failure import LastFailure
from studio.app.library_wiring import made as made_library
from studio.app.line_speed import LineSpeed
from studio.app.live_cards import LiveCards
from studio.app.logs import Logs
from studio.app.machine import Machine
from studio.app.model_files import ModelFiles, plain_roots
from studio.app.my_model import MyModels
from studio.app.network import Network
from studio.app.plans import Plans, engine_pids
from studio.app.preparing import Preparing
from studio.app.presets import Presets
from studio.app.rehearsal import Rehearsal
from studio.app.remedies import Remedies
from studio.app.report import Reports
from studio.app.runtimes import Runtimes
from studio.app.self_update import SelfUpdate
from studio.app.selftest import Selftest
from studio.app.service_life import ServiceLife, is_working
from studio.app.settings import Settings
from studio.app.sleep import Doings
from studio.app.stages import Stages
from studio.app.starts import Starts
from studio.app.traffic import Traffic
from studio.app.uninstall import Uninstall
from studio.app.up import Up
from studio.app.updates import Updates
from studio.app.wiring import Parts
from studio.domain.alarms import Alarm
from studio.domain.control import GatewayInfo, ProcessInfo, ServiceInfo, Status, UpRequest, UpResult
from studio.domain.downloads import in_short
from studio.domain.events import (
    AlarmChanged,
    DownloadsChanged,
    EngineChanged,
    Event,
    GatewayChanged,
    LogAppended,
    ServiceStopping,
    Ticked,
)
from studio.domain.hardware import HostSnapshot
from studio.domain.hosts import HostFile
from studio.domain.metrics import LogLine, Tick
from studio.domain.server import EngineSnapshot, EngineState
from studio.host import processes, wsl
from studio.serving.command import Launch

logger = logging.getLogger(__name__)

_LOG_FLUSH_S = 0.1


class Studio:
    """The service's inside. `run` must be running; everything else is called on its loop."""

    def __init__(self, parts: Parts, replayed: HostFile | None = None) -> None:
        """With `replayed`, questions are answered for that host, and nothing is started."""
        self._parts = parts
        self._paths = parts.paths
        self._machine = Machine(parts.paths, replayed)
        self.bus = Bus()
        self._stages = Stages(self._heard)
        self._line = LineSpeed()
        self._started_at = time.time()
        parts.bind(self)
        parts.slow_paths.look_at(lambda: self._machine.last)
        self.downloads = Downloads(
            parts.paths, self.bus.publish, on_fetched=lambda fetched: self.library.fetched(fetched)
        )
        self.library = made_library(
            parts, self.bus, engine=self.engine, downloads=self.downloads.listed
        )
        installs = Installs(parts.paths)
        self.runtimes = Runtimes(parts.paths, parts.catalog, self.host, self._heard, installs)
        self.presets = Presets(
            parts.paths, parts.presets, parts.catalog, self._seen_host,
            lambda: parts.settings.now.pins,
        )  # fmt: skip
        self.doctor = Doctor(parts, self._machine, self.gateway)
        self.plans = Plans(
            paths=parts.paths, presets=parts.presets, catalog=parts.catalog,
            settings=parts.settings, machine=self._machine,
            own_pids=lambda: engine_pids(parts.supervisor.snapshot().pid),
        )  # fmt: skip
        self.my_models = MyModels(
            paths=parts.paths, presets=parts.presets, catalog=parts.catalog, plans=self.plans,
            machine=self._machine,
        )  # fmt: skip
        rehearsal = Rehearsal(self.plans, lambda: parts.supervisor.facts, self._line)
        self.updates = Updates(
            parts.paths, parts.catalog, parts.presets, self.host, self._heard, installs
        )
        self.network = Network(parts.paths)
        self.uninstalling = Uninstall(parts.paths)
        self.disk = DiskUsage(parts.paths, self.uninstalling)
        self.self_update = SelfUpdate(parts.paths)
        self.diagnoses = Diagnoses(parts.paths, parts.signatures)
        self._failed = LastFailure(parts.paths.last_failure)
        self.remedies = Remedies(
            paths=parts.paths, presets=parts.presets, failed=self._failed, engine=self.engine,
            runtimes=self.runtimes, serving=self, alarms=lambda: parts.alarms.active,
        )  # fmt: skip
        self.selftest = Selftest(self.gateway, parts.gateway.attacked)
        self.logs = Logs(parts.paths.logs, lambda: parts.settings, parts.log)
        self.reports = Reports(parts.paths, lambda: self)
        self.care = parts.care
        self.traffic = Traffic(parts, self.bus.publish)
        self.keys = self.traffic.keys
        self.alarms = parts.alarms
        self.cards = LiveCards(parts.card_reader, lambda: parts.sampler.last)
        self.insight = Insight(
            parts,
            self,
            self.bus.publish,
            lambda: self._machine.last,
            self.traffic.used,
        )
        self.door = Door(
            parts.gateway,
            parts.settings,
            parts.paths,
            active_keys=lambda: parts.keys.active,
            publish=self.bus.publish,
        )
        self.clients = made_clients(
            parts.paths, keys=self.keys, door=self.door, presets=parts.presets,
            settings=parts.settings, engine=self.engine,
        )  # fmt: skip
        self.bundles = Bundles(parts.paths, parts.catalog, self.host, self.bus.publish, installs)
        self.boots = Boots(parts, self._stages, parts.supervisor.ensure_ready)
        self.bench = Bench(parts, host=self.host, boot=self.boots.last)
        models = ModelFiles(
            parts.paths, self.downloads, roots=lambda: plain_roots(self.library.folders())
        )
        self.preparing = Preparing(parts.paths, parts.presets, parts.catalog, models, self._heard)
        up = Up(
            models=models,
            paths=parts.paths,
            presets=parts.presets,
            catalog=parts.catalog,
            settings=parts.settings,
            stages=self._stages,
            host=self.host,
            open_gateway=self.door.open,
            ensure_ready=self.boots.ensure_ready,
            first_key=self.keys.first,
            installs=installs,
        )
        self.starts = Starts(
            parts, self, self._machine, stages=self._stages, up=up, rehearsal=rehearsal,
            failed=self._failed, publish=self.bus.publish,
        )  # fmt: skip
        self.adopting = Adopting(
            parts.paths,
            Surroundings(
                own=lambda: (
                    EngineState.PREPARING if self.starts.is_under_way else parts.supervisor.state
                ),
                gateway=self.gateway,
                open_gateway=lambda port: self.door.open(
                    port or parts.settings.now.port, take_next=False
                ),
                first_key=self.keys.first,
                publish=self.on_engine,
            ),
        )
        parts.adopted = lambda: self.adopting.current
        parts.seen_host = lambda: self._machine.last
        self.on_demand = parts.on_demand
        self.on_demand.bind(
            around(
                parts, engine=self.engine, is_starting=lambda: self.starts.is_under_way,
                check=up.check_words, check_all=self.starts.checked, serve=self.starts.serve,
                halt=self.starts.halt, open_gateway=self.door.open, publish=self.bus.publish,
                idle_since_s=self.bench.idle_since_s,
                is_measured=lambda: self.bench.is_running,
            )
        )  # fmt: skip
        self.bench.on_over = self.on_demand.wake
        doings = Doings(
            engine=self.engine,
            target=lambda: parts.engine.target,
            is_working=lambda: is_working(parts.sampler.last),
            host=self.host,
            seen=lambda: self._machine.last,
            stop=self.starts.halt,
            up=self.starts.serve,
        )
        self.life = ServiceLife(parts, up=up, doings=doings)

    # -- life ------------------------------------------------------------------------------

    async def open(self) -> None:
        """Read what is kept between runs, once. Raises: Damaged, HostLacks."""
        await self.keys.open()
        await self.insight.open()

    async def close(self) -> None:
        """Write what is still in memory; for a facade that was never run."""
        await self.traffic.close()
        await self.insight.close()

    async def run(self, *, autostart: bool = False) -> None:
        """Keep engine, monitor and log going until cancelled; on the way out all of it ends.

        With `autostart`, what was chosen for it is served.
        """
        parts = self._parts
        self.traffic.begin()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(parts.supervisor.run())
                tasks.create_task(parts.sampler.run())
                tasks.create_task(self.insight.run())
                tasks.create_task(parts.spill.run())
                tasks.create_task(parts.alarms.run())
                tasks.create_task(self.boots.run())
                tasks.create_task(self._flush_log())
                tasks.create_task(self.adopting.run())
                tasks.create_task(self.on_demand.run())
                tasks.create_task(self.downloads.run())
                tasks.create_task(self.library.run())
                tasks.create_task(self.self_update.run(self._looks_daily))
                tasks.create_task(self.life.run(autostart=autostart))
        finally:
            self.bus.close()
            parts.card_reader.close()
            await parts.gateway.close()
            await self.close()
            parts.log.close()

    async def end(self, reason: str) -> None:
        """Announce the end, stop the engine, let the listeners go; then `run` may be cancelled."""
        self.bus.publish(ServiceStopping(reason=reason))
        self.on_demand.close()
        await self.starts.halt()
        self.bus.close()

    def _looks_daily(self) -> bool:
        """Tell whether news are asked for here; inside the Studio's own Linux the window does."""
        return self.care.now().check_updates and not wsl.is_own()

    async def _flush_log(self) -> None:
        while True:
            await asyncio.sleep(_LOG_FLUSH_S)
            self._parts.log.flush(time.monotonic())

    # -- serving ---------------------------------------------------------------------------

    async def up(self, request: UpRequest) -> UpResult:
        """Serve a preset; joins an `up` under way that asks for the same.

        Raises: whatever a stage raises; Busy (`up-running`, `engine-busy`, `engine-adopted`).
        """
        return await self.starts.up(request)

    async def stop(self) -> Status:
        """End an `up` under way and the engine; the gateway stays and answers 503.

        Raises: Busy (`engine-adopted`).
        """
        return await self.starts.stop()

    async def drain(self, within_s: float) -> None:
        """Wait until no answer is being generated, at most `within_s`."""
        await self.starts.drain(within_s)

    # -- questions -------------------------------------------------------------------------

    async def host(self) -> HostSnapshot:
        """Return the machine as it is now."""
        return await self._machine.look()

    async def _seen_host(self) -> HostSnapshot:
        """Return the machine as it was last seen: a list of presets asks nothing of the driver."""
        return self._machine.last or await self.host()

    def engine(self) -> EngineSnapshot:
        """Return the engine; while an `up` fetches things for it, it is `preparing`."""
        return self.starts.engine()

    def status(self) -> Status:
        """Return one instant of everything."""
        return Status(
            service=ServiceInfo(
                version=__version__,
                pid=os.getpid(),
                started_at=self._started_at,
                home=str(self._paths.home),
            ),
            engine=self.engine(),
            gateway=self.gateway(),
            host=self._machine.last,
            tick=self._parts.sampler.last,
            stages=self._stages.now,
            keys=self.keys.active,
            prompt_logs=self.traffic.prompts.on(),
            cache_findings=self.traffic.cache.current,
            autostart=self.life.autostart.info(),
            sleep=self.life.sleep.info(),
            queue=self.on_demand.queue(),
            alarms=self.alarms.active,
            monitor=self._parts.sampler.info(),
            downloads=in_short(self.downloads.listed()),
        )

    def chosen(self) -> Settings:
        """Return what the person chose."""
        return self._parts.settings.now

    def gateway(self) -> GatewayInfo:
        """Return where clients connect."""
        return self._parts.gateway.info()

    def present(self) -> list[Event]:
        """Return the events that describe the present, for a listener that has just come."""
        events: list[Event] = [*self._stages.now, EngineChanged(engine=self.engine())]
        events.append(GatewayChanged(base_url=self.gateway().base_url))
        events += [AlarmChanged(alarm=one) for one in self.alarms.active]
        if (queue := self.downloads.listed()).downloads:
            events.append(DownloadsChanged(downloads=queue))
        if self._parts.sampler.last is not None:
            events.append(Ticked(tick=self._parts.sampler.last))
        return events

    async def ps(self) -> list[ProcessInfo]:
        """Return the service's processes."""
        return await asyncio.to_thread(processes.tree, os.getpid(), own_role="service")

    def history(self, seconds: int) -> list[Tick]:
        """Return the ticks of the last `seconds`."""
        return self._parts.history.since(time.time() - seconds)

    def _heard(self, event: Event) -> None:
        self._line.hear(event)
        self.downloads.heard(event)
        self.bus.publish(event)

    # -- what the parts report -------------------------------------------------------------

    def on_engine(self, engine: EngineSnapshot) -> None:
        """Announce what the supervisor says, and the boot's progress as a stage."""
        self.boots.heard(engine)
        shown = self.engine()
        self._failed.hear(shown)
        self.on_demand.on_engine(shown)
        self.insight.hear_engine(shown)
        self.bus.publish(EngineChanged(engine=shown))
        if not self.starts.is_under_way:
            self._stages.settle(shown)
        self.boots.report(shown)

    def on_tick(self, tick: Tick) -> None:
        """Announce a tick."""
        self.insight.hear_tick(tick)
        self.bus.publish(Ticked(tick=tick))
        self.on_demand.on_tick()
        engine = self.engine()
        if engine.state is EngineState.STARTING:
            self.bus.publish(EngineChanged(engine=engine))
            self.boots.report(engine)

    def on_alarm(self, alarm: Alarm) -> None:
        """Keep and announce an alarm."""
        self.insight.hear_alarm(alarm)
        self.bus.publish(AlarmChanged(alarm=alarm))

    def on_log(self, lines: tuple[LogLine, ...], dropped: int) -> None:
        """Announce log lines."""
        self.bus.publish(LogAppended(lines=lines, dropped=dropped))

    def forecast_s(self, _launch: Launch) -> float | None:
        """Return the boot time to expect: from boots here, else as published."""
        return self.boots.whole_s()
