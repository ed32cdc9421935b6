"""The control API from the caller's side: what the window and the command line may ask for.

Knows the domain only. The transport is handed in (HTTP to a running service, or in-process), so
that this module neither starts processes nor reads files.
"""

from collections.abc import AsyncGenerator
from typing import TypeVar

import httpx
import msgspec

from studio.control.client_alarms import AlarmCalls
from studio.control.client_bench import BenchCalls
from studio.control.client_connect import ConnectCalls
from studio.control.client_disk import DiskCalls
from studio.control.client_downloads import DownloadCalls
from studio.control.client_keys import KeyCalls
from studio.control.client_models import ModelCalls
from studio.control.client_monitor import MonitorCalls
from studio.control.client_preparing import PreparingCalls
from studio.control.client_presets import PresetCalls
from studio.control.client_runtimes import RuntimeCalls
from studio.control.client_traffic import TrafficCalls
from studio.control.client_uninstall import UninstallCalls
from studio.control.client_update import UpdateCalls
from studio.control.client_wsl import WslCalls
from studio.control.transport import PREFIX, decoded, error_of, part, query_text, unreachable
from studio.domain.cards import CardsReading
from studio.domain.control import (
    ProcessInfo,
    Status,
    UpRequest,
    UpResult,
)
from studio.domain.diagnosis import (
    DiagnoseRequest,
    Diagnosis,
    Fixed,
    FixRequest,
    RemedyList,
)
from studio.domain.doctor import DoctorReport
from studio.domain.events import Event
from studio.domain.hardware import HostSnapshot
from studio.domain.hosts import HostEntry
from studio.domain.logs import LogLimits, LogPage
from studio.domain.metrics import LogLine, Tick
from studio.domain.network import NetworkChange, NetworkReport
from studio.domain.report import ReportPreview, ReportRequest, ReportWritten
from studio.domain.service import (
    AutostartInfo,
    AutostartRequest,
    SleepInfo,
    SleepRequest,
    UnitInfo,
    UnitRequest,
    UnitStart,
    UnitText,
)
from studio.domain.settings import CareChange, CareSettings

T = TypeVar("T")

_QUICK_S = 15.0
_EVENT_PREFIX = b"data: "
_EVENTS: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class ControlClient(
    PresetCalls,
    RuntimeCalls,
    KeyCalls,
    DownloadCalls,
    DiskCalls,
    PreparingCalls,
    ModelCalls,
    TrafficCalls,
    BenchCalls,
    MonitorCalls,
    AlarmCalls,
    ConnectCalls,
    UninstallCalls,
    UpdateCalls,
    WslCalls,
):
    """One caller of one service. Every method raises the service's own `StudioError`."""

    started: UnitStart | None = None
    """What came of starting the service through its systemd unit; None: that was not tried."""

    async def status(self) -> Status:
        """Return one instant of service, engine and gateway."""
        return await self.call("GET", "/status", Status)

    async def cards(self) -> CardsReading:
        """Return what every card does right now."""
        return await self.call("GET", "/cards", CardsReading)

    async def up(self, request: UpRequest) -> UpResult:
        """Serve a preset; returns when its first token was generated."""
        return await self.call("POST", "/up", UpResult, body=request, patient=True)

    async def switch(self, request: UpRequest) -> UpResult:
        """Replace what runs by another preset; address and keys stay."""
        return await self.call("POST", "/switch", UpResult, body=request, patient=True)

    async def restart(self) -> UpResult:
        """Stop the engine and start it with the same preset and settings."""
        return await self.call("POST", "/restart", UpResult, patient=True)

    async def stop(self) -> Status:
        """Stop the engine (also one that is starting); the service stays."""
        return await self.call("POST", "/stop", Status, patient=True)

    async def down(self) -> None:
        """End engine and service; returns when the engine is gone."""
        await self.call("POST", "/down", dict[str, bool], patient=True)

    async def keep(self) -> None:
        """Let the service stay when the terminal that it was started for goes away."""
        await self.call("POST", "/keep", dict[str, bool])

    async def host(self) -> HostSnapshot:
        """Return what the service's machine is."""
        return await self.call("GET", "/host", HostSnapshot)

    async def hosts(self) -> list[HostEntry]:
        """Return the hosts of the catalogue, for replay."""
        return await self.call("GET", "/hosts", list[HostEntry])

    async def doctor(self, host_id: str | None = None) -> DoctorReport:
        """Return the verdicts on the service's machine, or on a host of the catalogue."""
        query = f"?host={part(host_id)}" if host_id is not None else ""
        return await self.call("GET", f"/doctor{query}", DoctorReport)

    async def diagnose(self, request: DiagnoseRequest) -> Diagnosis:
        """Return why the engine failed whose log lies in a file of the service's machine."""
        return await self.call("POST", "/diagnose", Diagnosis, body=request, patient=True)

    async def remedies(self) -> RemedyList:
        """Return what can be done about what failed last and about slow paths."""
        return await self.call("GET", "/remedies", RemedyList)

    async def fix(self, request: FixRequest) -> Fixed:
        """Take a remedy; returns when the engine serves again."""
        return await self.call("POST", "/remedies", Fixed, body=request, patient=True)

    async def network(self) -> NetworkReport:
        """Return how the Studio goes out to the network."""
        return await self.call("GET", "/network", NetworkReport)

    async def settings(self) -> CareSettings:
        """Return what follows a death, a standstill and an early request."""
        return await self.call("GET", "/settings", CareSettings)

    async def change_settings(self, request: CareChange) -> CareSettings:
        """Set and forget what the person chooses about them."""
        return await self.call("POST", "/settings", CareSettings, body=request)

    async def change_network(self, request: NetworkChange) -> NetworkReport:
        """Set and forget what the person chooses about the network."""
        return await self.call("POST", "/network", NetworkReport, body=request)

    async def unit(self) -> UnitInfo:
        """Return how the service is kept by its machine, and what starts with it."""
        return await self.call("GET", "/service", UnitInfo)

    async def unit_text(self) -> UnitText:
        """Return the systemd unit as it would be written; changes nothing."""
        return await self.call("GET", "/service/unit", UnitText)

    async def install_unit(self, request: UnitRequest) -> UnitInfo:
        """Let systemd keep the service; returns when it runs."""
        return await self.call("POST", "/service/install", UnitInfo, body=request, patient=True)

    async def uninstall_unit(self, request: UnitRequest) -> UnitInfo:
        """Let systemd keep it no more; returns when it has ended."""
        return await self.call("POST", "/service/uninstall", UnitInfo, body=request, patient=True)

    async def choose_autostart(self, request: AutostartRequest) -> AutostartInfo:
        """Choose what starts with the service."""
        return await self.call("POST", "/service/autostart", AutostartInfo, body=request)

    async def choose_sleep(self, request: SleepRequest) -> SleepInfo:
        """Choose what becomes of the engine when the machine sleeps."""
        return await self.call("POST", "/service/sleep", SleepInfo, body=request)

    async def ps(self) -> list[ProcessInfo]:
        """Return the processes that the service owns, itself included."""
        return await self.call("GET", "/ps", list[ProcessInfo])

    async def logs(self, *, lines: int = 200, after: int | None = None) -> list[LogLine]:
        """Return the newest `lines` log lines, or those after the sequence number `after`."""
        query = f"?lines={lines}" + (f"&after={after}" if after is not None else "")
        return await self.call("GET", f"/logs{query}", list[LogLine])

    async def log_page(
        self,
        *,
        source: str = "engine",
        lines: int = 200,
        before: str | None = None,
        after: str | None = None,
        since: float | None = None,
    ) -> LogPage:
        """Return a page of a log's files: the newest, those before a place, or those after one."""
        since_text = f"{since:.3f}" if since is not None else None
        query = query_text(
            source=source, lines=str(lines), before=before, after=after, since=since_text
        )
        return await self.call("GET", f"/logs/page{query}", LogPage)

    async def log_limits(self) -> LogLimits:
        """Return how much of the engine's log is kept."""
        return await self.call("GET", "/logs/limits", LogLimits)

    async def limit_logs(self, limits: LogLimits) -> LogLimits:
        """Keep so much of the engine's log from now on."""
        return await self.call("POST", "/logs/limits", LogLimits, body=limits)

    async def report_preview(self) -> ReportPreview:
        """Return all that a report would hold, as it would be saved."""
        return await self.call("GET", "/report/preview", ReportPreview)

    async def report(self, request: ReportRequest) -> ReportWritten:
        """Write a report on the service's machine."""
        return await self.call("POST", "/report", ReportWritten, body=request)

    async def history(self, *, seconds: int = 300) -> list[Tick]:
        """Return the ticks of the last `seconds` (at most 3,600), oldest first."""
        return await self.call("GET", f"/history?seconds={seconds}", list[Tick])

    async def events(self, *, hold: bool = False) -> AsyncGenerator[Event, None]:
        """Yield events as they happen, beginning with the present state of everything.

        With `hold`, a service that was started for this terminal ends when the stream is dropped.
        A caller that stops early closes the generator (`contextlib.aclosing`).
        """
        path = f"{PREFIX}/events" + ("?hold=1" if hold else "")
        timeout = httpx.Timeout(_QUICK_S, read=None)
        try:
            async with self._http.stream("GET", path, timeout=timeout) as response:
                if response.status_code != httpx.codes.OK:
                    await response.aread()
                    raise error_of(response)
                pending = b""
                async for chunk in response.aiter_raw():
                    *whole, pending = (pending + chunk).split(b"\n\n")
                    for block in whole:
                        if block.startswith(_EVENT_PREFIX):
                            yield decoded(block[len(_EVENT_PREFIX) :], _EVENTS)
        except httpx.RequestError as error:
            raise unreachable(error) from error
