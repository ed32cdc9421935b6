"""The composition of the service: builds every part and joins them with plain functions."""

import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from studio.app import remedy_values, report_launch
from studio.app.cache import kept
from studio.app.care import Care
from studio.app.engine_facts import EngineFacts
from studio.app.settings import SettingsFile
from studio.app.slow_paths import SlowPaths
from studio.domain.cache import CacheFinding
from studio.domain.errors import ErrorInfo, StudioError
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
from studio.host.paths import Paths
from studio.monitor.history import History
from studio.monitor.sampler import Sampler
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from studio.serving import diagnose
from studio.serving.adopted import Adopted
from studio.serving.command import Launch
from studio.serving.log_file import file_of
from studio.serving.logs import LogKeeper
from studio.serving.supervisor import Supervisor

_METRICS_S = 0.8


class Listener(Protocol):
    """Who hears what the parts report: the facade."""

    def on_engine(self, engine: EngineSnapshot) -> None:
        """The supervisor moved."""

    def on_tick(self, tick: Tick) -> None:
        """One second passed."""

    def on_cache(self, finding: CacheFinding) -> None:
        """A client's prompts are computed anew each turn."""

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
        self.settings = SettingsFile(paths.settings_file)
        self.care = Care(self.settings)
        self.presets = PresetStore(paths)
        self.catalog = Catalog(paths)
        self.history = History()
        self.signatures = diagnose.load(paths.catalogue / "runtimes" / "failures.toml")
        self.slow_paths = SlowPaths(paths.catalogue / "runtimes" / "slow_paths.toml", self.presets)
        self.log = LogKeeper(
            file_of(paths.logs, "engine"),
            clock=time.time,
            on_lines=lambda lines, dropped: self._hears.on_log(lines, dropped),
            max_bytes=self.settings.now.log_file_mib << 20,
            backups=self.settings.now.log_files - 1,
        )

        def explain(lines: Sequence[str], exit_code: int | None) -> ErrorInfo | None:
            found = diagnose.diagnose(lines, exit_code, self.signatures)
            return None if found is None else self._with_actions(found)

        self.facts = EngineFacts()
        self.supervisor = Supervisor(
            home=paths.home,
            log=self.log,
            diagnose=explain,
            publish=lambda engine: self._hears.on_engine(engine),
            drain=lambda within_s: self._hears.drain(within_s),
            forecast_s=lambda launch: self._hears.forecast_s(launch),
            watch=self.slow_paths.begin,
            care=self.care.now,
            before_start=self._before_start(report_launch.recorder(paths.logs, self.log.note)),
        )
        self.keys = KeyStore(paths.database)
        self.prompts = PromptLog(paths.prompts)
        self.adjuster = Adjuster(traps.load(paths.catalogue / "runtimes" / "client_traps.toml"))
        self.doctor = CacheDoctor(
            cache_marks.load(paths.catalogue / "runtimes" / "cache_marks.toml"),
            on_finding=lambda finding: self._hears.on_cache(finding),
            findings=kept(paths.cache_findings),
        )
        self.gateway = self._made_gateway()
        self.sampler = Sampler(
            fetch=self._metrics,
            engine_pid=lambda: self.engine.snapshot().pid,
            publish=self._on_tick,
            history=self.history,
            on_sample=self._see,
        )

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

    def _before_start(
        self, keep: Callable[[Launch], Awaitable[None]]
    ) -> Callable[[Launch], Awaitable[None]]:
        async def before(launch: Launch) -> None:
            await keep(launch)
            await self.facts.learn(launch)

        return before

    def target(self) -> EngineTarget | None:
        """Return the engine that serves now, as the gateway sees it."""
        return self.facts.target(self.engine.target, self.engine)

    async def _next_target(self) -> EngineTarget | None:
        adopted = self.adopted()
        if adopted is not None:
            return self.facts.target(adopted.target, adopted)
        return self.facts.target(await self.supervisor.next_target(), self.supervisor)

    def _advice(self) -> str:
        adopted = self.adopted()
        if adopted is None:
            return Coming().advice()
        return f"The adopted vLLM `{adopted.name}` is gone; `weir status` tells more."

    def _see(self, sample: EngineSample | None) -> None:
        self.supervisor.see(sample, self.gateway.counters.in_flight)

    async def _metrics(self) -> bytes | None:
        target = self.engine.target
        if target is None:
            return None
        headers = [(b"authorization", f"Bearer {target.key}".encode())] if target.key else []
        status, _, body = await target.upstream.fetch(
            "GET", "/metrics", headers=headers, timeout_s=_METRICS_S
        )
        return body if status == 200 else None
