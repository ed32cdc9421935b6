"""The composition of the service: builds every part and joins them with plain functions."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from studio.app import remedy_values, report_launch
from studio.app.alarms import Alarms
from studio.app.boots_seen import BootsSeen
from studio.app.cache import kept
from studio.app.care import Care
from studio.app.demand_names import DemandNames
from studio.app.engine_facts import EngineFacts
from studio.app.on_demand import OnDemand
from studio.app.run_facts import RunFacts
from studio.app.settings import SettingsFile
from studio.app.slow_paths import SlowPaths
from studio.app.spill import Spill, watch_of
from studio.domain.alarms import Alarm
from studio.domain.cache import CacheFinding
from studio.domain.errors import ErrorInfo, StudioError
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import Preset
from studio.domain.metrics import EngineSample, LogLine, Tick
from studio.domain.server import EngineSnapshot
from studio.gateway import cache_marks, traps
from studio.gateway.adjust import Adjuster
from studio.gateway.cache_doctor import CacheDoctor
from studio.gateway.engine import EngineTarget
from studio.gateway.keys import KeyStore
from studio.gateway.prompt_log import PromptLog
from studio.gateway.service import Gateway
from studio.gateway.waiting import Coming
from studio.host.card_reader import CardReader
from studio.host.paths import Paths
from studio.host.secrets import SecretStore
from studio.monitor import alarm_file
from studio.monitor.history import History
from studio.monitor.recorder import Recorder
from studio.monitor.sampler import Sampler
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from studio.serving import diagnose
from studio.serving.adopted import Adopted
from studio.serving.command import Launch
from studio.serving.log_file import file_of
from studio.serving.logs import LogKeeper
from studio.serving.slow_paths import Watch
from studio.serving.supervisor import Supervisor

_METRICS_S = 0.8


class Listener(Protocol):
    """Who hears what the parts report: the facade."""

    def on_engine(self, engine: EngineSnapshot) -> None:
        """The supervisor moved."""

    def on_tick(self, tick: Tick) -> None:
        """One second passed."""

    def on_alarm(self, alarm: Alarm) -> None:
        """An alarm was raised, changed or is over."""

    def on_log(self, lines: tuple[LogLine, ...], dropped: int) -> None:
        """Log lines came."""

    def forecast_s(self, launch: Launch) -> float | None:
        """How long a boot should take."""

    async def drain(self, within_s: float) -> None:
        """Wait for running answers."""


class Parts:
    """Every part of one service."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self._listener: Listener | None = None
        self.adopted: Callable[[], Adopted | None] = lambda: None
        self.seen_host: Callable[[], HostSnapshot | None] = lambda: None
        self.on_sample: Callable[[EngineSample | None], None] = lambda _sample: None
        self.on_finding: Callable[[CacheFinding], None] = lambda _finding: None
        self.settings = SettingsFile(paths.settings_file)
        self.care = Care(self.settings)
        self.presets = PresetStore(paths)
        self.catalog = Catalog(paths)
        self.history = History()
        self.recorder = Recorder(
            paths.history, interval_s=self.care.sample_s, most_bytes=self.care.history_bytes
        )
        self.signatures = diagnose.later(paths.catalogue / "runtimes" / "failures.toml")
        self.slow_paths = SlowPaths(paths.catalogue / "runtimes" / "slow_paths.toml", self.presets)
        self.log = LogKeeper(
            file_of(paths.logs, "engine"),
            clock=time.time,
            on_lines=lambda lines, dropped: self._hears.on_log(lines, dropped),
            max_bytes=self.settings.now.log_file_mib << 20,
            backups=self.settings.now.log_files - 1,
        )

        async def explain(lines: Sequence[str], exit_code: int | None) -> ErrorInfo | None:
            # In a thread: thousands of lines against hundreds of patterns take a while, in which
            # the answers of whoever is served by something else would stand still.
            try:
                found = await asyncio.to_thread(
                    lambda: diagnose.diagnose(lines, exit_code, self.signatures())
                )
            except StudioError as error:  # somebody's change of the file; engines go on without
                self.log.note(f"The cause cannot be looked up: {error.message}")
                return None
            return None if found is None else self._with_actions(found)

        self.engine_facts = EngineFacts()
        self.supervisor = Supervisor(
            home=paths.home,
            log=self.log,
            diagnose=explain,
            publish=lambda engine: self._hears.on_engine(engine),
            drain=lambda within_s: self._hears.drain(within_s),
            forecast_s=lambda launch: self._hears.forecast_s(launch),
            watch=self._begin,
            care=self.care.now,
            before_start=self._before_start(report_launch.recorder(paths.logs, self.log.note)),
        )
        self.keys = KeyStore(paths.database)
        self.prompts = PromptLog(paths.prompts)
        self.adjuster = Adjuster(traps.load(paths.catalogue / "runtimes" / "client_traps.toml"))
        self.doctor = CacheDoctor(
            cache_marks.load(paths.catalogue / "runtimes" / "cache_marks.toml"),
            on_finding=lambda finding: self.on_finding(finding),
            findings=kept(paths.cache_findings),
        )
        self.on_demand = OnDemand(
            self.settings,
            DemandNames(paths, self.presets, self.catalog, self.settings, lambda: self.seen_host()),
        )
        self.secrets = SecretStore(paths.secrets)
        self.gateway = self._made_gateway()
        adapters = watch_of()
        rules = alarm_file.load(paths.catalogue / "runtimes" / "alarms.toml")
        self.facts = RunFacts(self.presets.get, is_wsl=adapters is not None)
        self.spill = Spill(
            paths.home / "spill-baselines.json",
            rules.intended,
            engine=lambda: self.engine.snapshot(),
            target=lambda: self.engine.target,
            adapters=adapters,
        )
        self.alarms = Alarms(
            rules=rules.rules,
            mutes=paths.home / "alarms.json",
            folders={"models": paths.models, "logs": paths.logs},
            spill=self.spill,
            facts=self.facts,
            engine=lambda: self.engine.snapshot(),
            publish=lambda alarm: self._hears.on_alarm(alarm),
            learn_line=BootsSeen(paths.home / "calibration.json").learn_line,
        )
        self.card_reader = CardReader()
        self.sampler = Sampler(
            fetch=self.metrics,
            engine_pid=lambda: self.engine.snapshot().pid,
            publish=self._on_tick,
            history=self.history,
            on_sample=self._see,
            complete=self.spill.complete,
            cards=self.card_reader.read,
            cards_cpu_s=lambda: self.card_reader.cpu_s,
            interval_s=self.care.sample_s,
        )
        self.care.on_change = self.sampler.interval_changed

    def _made_gateway(self) -> Gateway:
        return Gateway(
            self.keys,
            upstream=self.target,
            coming=Coming(
                wait=self._next_target,
                within_s=lambda: self.care.wait_s(lambda: self.supervisor.remaining_s),
                remaining_s=lambda: self.supervisor.remaining_s,
                is_coming=lambda: self.supervisor.is_coming,
                advice=self._advice,
            ),
            demand=self.on_demand.gateways(),
            adjuster=self.adjuster,
            doctor=self.doctor,
            prompts=self.prompts,
        )

    def _with_actions(self, error: ErrorInfo) -> ErrorInfo:
        """Return `error` with what can be done about it with the preset that was started."""
        engine = self.supervisor.snapshot()
        preset: Preset | None = None
        with contextlib.suppress(StudioError):
            preset = self.presets.get(engine.preset or "")
        return remedy_values.fitted(error, preset, engine.overrides)

    @property
    def engine(self) -> Supervisor | Adopted:
        """Return whose engine serves: one that was adopted, else our own."""
        return self.adopted() or self.supervisor

    @property
    def _hears(self) -> Listener:
        assert self._listener is not None
        return self._listener

    def bind(self, listener: Listener) -> None:
        """Name who hears the parts; once, before anything runs."""
        self._listener = listener

    def _on_tick(self, tick: Tick) -> None:
        if self.slow_paths.hear(tick):
            self.supervisor.refresh()
        self._hears.on_tick(tick)
        self.alarms.hear(tick)

    def _begin(self, launch: Launch) -> Watch:
        """Tell who watches of a new engine; returns the watch of its log."""
        self.spill.begin(launch)
        self.facts.begin(launch)
        return self.slow_paths.begin(launch)

    def _before_start(
        self, keep: Callable[[Launch], Awaitable[None]]
    ) -> Callable[[Launch], Awaitable[None]]:
        async def before(launch: Launch) -> None:
            await keep(launch)
            await self.engine_facts.learn(launch)

        return before

    def target(self) -> EngineTarget | None:
        """Return the engine that serves now, as the gateway sees it."""
        return self.engine_facts.target(self.engine.target, self.engine)

    async def _next_target(self) -> EngineTarget | None:
        adopted = self.adopted()
        if adopted is not None:
            return self.engine_facts.target(adopted.target, adopted)
        return self.engine_facts.target(await self.supervisor.next_target(), self.supervisor)

    def _advice(self) -> str:
        adopted = self.adopted()
        if adopted is None:
            return Coming().advice()
        return f"The adopted vLLM `{adopted.name}` is gone; `weir status` tells more."

    def _see(self, sample: EngineSample | None) -> None:
        self.supervisor.see(sample, self.gateway.counters.in_flight)
        self.on_sample(sample)

    async def metrics(self) -> bytes | None:
        """Return the engine's `/metrics` as it is now; None when none serves or it has none."""
        target = self.engine.target
        if target is None:
            return None
        headers = [(b"authorization", f"Bearer {target.key}".encode())] if target.key else []
        status, _, body = await target.upstream.fetch(
            "GET", "/metrics", headers=headers, timeout_s=_METRICS_S
        )
        return body if status == 200 else None
