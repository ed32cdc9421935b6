"""The control API from the caller's side: what the window and the command line may ask for.

Knows the domain only. The transport is handed in (HTTP to a running service, or in-process), so
that this module neither starts processes nor reads files.
"""

import ssl
from collections.abc import AsyncGenerator
from typing import TypeVar
from urllib.parse import quote

import httpx
import msgspec

from studio.domain.adopt import AdoptRequest, AdoptResult, Forgotten
from studio.domain.boots import BootHistory, PinResult
from studio.domain.bundles import (
    Exported,
    ExportRequest,
    Imported,
    ImportRequest,
    SignerList,
    TrustRequest,
)
from studio.domain.control import (
    KeyInfo,
    KeyRequest,
    NewKey,
    PresetInfo,
    ProcessInfo,
    RuntimeVersions,
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
from studio.domain.errors import ErrorInfo, ServiceUnreachable, StudioError, from_info
from studio.domain.events import Event
from studio.domain.gateway import GatewayChange, GatewayReport
from studio.domain.hardware import HostSnapshot
from studio.domain.hosts import HostEntry
from studio.domain.integrity import Collected, Repaired, Verdict
from studio.domain.keys import (
    KeyLimits,
    LimitsChange,
    RenameRequest,
    RequestEntry,
    RevokeRequest,
    UsageBy,
    UsageRow,
)
from studio.domain.logs import LogLimits, LogPage
from studio.domain.metrics import LogLine, Tick
from studio.domain.network import NetworkChange, NetworkReport
from studio.domain.plans import MadePreset, MakeRequest, Plan, PlanRequest
from studio.domain.presets import (
    ArgvRequest,
    ArgvResult,
    CopyRequest,
    EditRequest,
    ImportPresetRequest,
    PresetDetail,
    PresetDiff,
    PresetText,
)
from studio.domain.report import ReportPreview, ReportRequest, ReportWritten
from studio.domain.runtimes import (
    CollectRequest,
    FetchedSeries,
    InstallRequest,
    PinRequest,
    RollbackRequest,
    RuntimeDetail,
    RuntimeList,
    RuntimeUpdated,
    RuntimeUpdates,
    VerifyRequest,
)
from studio.domain.selftest import SelftestReport
from studio.domain.server import AdoptedInfo
from studio.domain.service import (
    AutostartInfo,
    AutostartRequest,
    SleepInfo,
    SleepRequest,
    UnitInfo,
    UnitRequest,
    UnitText,
)
from studio.domain.settings import CareChange, CareSettings

T = TypeVar("T")

PREFIX = "/control/v1"
_QUICK_S = 15.0
_EVENT_PREFIX = b"data: "
_EVENTS: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class ControlClient:
    """One caller of one service. Every method raises the service's own `StudioError`."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=base_url,
            headers={"Authorization": f"Bearer {token}"},
            transport=transport or httpx.AsyncHTTPTransport(verify=_no_tls()),
            timeout=httpx.Timeout(_QUICK_S, read=_QUICK_S),
            trust_env=False,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def status(self) -> Status:
        """Return one instant of service, engine and gateway."""
        return await self._call("GET", "/status", Status)

    async def up(self, request: UpRequest) -> UpResult:
        """Serve a preset; returns when its first token was generated."""
        return await self._call("POST", "/up", UpResult, body=request, patient=True)

    async def switch(self, request: UpRequest) -> UpResult:
        """Replace what runs by another preset; address and keys stay."""
        return await self._call("POST", "/switch", UpResult, body=request, patient=True)

    async def restart(self) -> UpResult:
        """Stop the engine and start it with the same preset and settings."""
        return await self._call("POST", "/restart", UpResult, patient=True)

    async def stop(self) -> Status:
        """Stop the engine (also one that is starting); the service stays."""
        return await self._call("POST", "/stop", Status, patient=True)

    async def down(self) -> None:
        """End engine and service; returns when the engine is gone."""
        await self._call("POST", "/down", dict[str, bool], patient=True)

    async def keep(self) -> None:
        """Let the service stay when the terminal that it was started for goes away."""
        await self._call("POST", "/keep", dict[str, bool])

    async def presets(self, host: str | None = None) -> list[PresetInfo]:
        """Return every preset with its verdict for this machine, or for a host in a file."""
        return await self._call("GET", f"/presets{_query(host=host)}", list[PresetInfo])

    async def preset(self, preset_id: str, host: str | None = None) -> PresetDetail:
        """Return everything about one preset."""
        path = f"/presets/{_part(preset_id)}{_query(host=host)}"
        return await self._call("GET", path, PresetDetail)

    async def preset_text(self, preset_id: str) -> PresetText:
        """Return a preset's file."""
        return await self._call("GET", f"/presets/{_part(preset_id)}/text", PresetText)

    async def preset_diff(self, preset_id: str, other: str | None = None) -> PresetDiff:
        """Return how a preset differs from another one, or from what it came from."""
        path = f"/presets/{_part(preset_id)}/diff{_query(other=other)}"
        return await self._call("GET", path, PresetDiff)

    async def copy_preset(self, preset_id: str, request: CopyRequest) -> PresetText:
        """Make a preset of the person's own from another one."""
        path = f"/presets/{_part(preset_id)}/copy"
        return await self._call("POST", path, PresetText, body=request)

    async def import_preset(self, request: ImportPresetRequest) -> PresetText:
        """Take over a preset that somebody else wrote."""
        return await self._call("POST", "/presets", PresetText, body=request)

    async def edit_preset(self, preset_id: str, request: EditRequest) -> PresetText:
        """Change a preset of the person's own, or one under the id of a bundled one."""
        path = f"/presets/{_part(preset_id)}/edit"
        return await self._call("POST", path, PresetText, body=request)

    async def pin_preset(self, preset_id: str) -> PinResult:
        """Keep the pool of a preset's last warm boot, from its next start on."""
        return await self._call("POST", f"/presets/{_part(preset_id)}/pin", PinResult)

    async def unpin_preset(self, preset_id: str) -> PinResult:
        """Leave the size of a preset's pool to the engine again."""
        return await self._call("POST", f"/presets/{_part(preset_id)}/unpin", PinResult)

    async def boots(self, *, preset: str | None = None, limit: int = 20) -> BootHistory:
        """Return the newest boots of this machine, oldest first."""
        path = f"/boots{_query(preset=preset, limit=str(limit))}"
        return await self._call("GET", path, BootHistory)

    async def argv(self, request: ArgvRequest) -> ArgvResult:
        """Return the command that would serve a preset; starts nothing."""
        return await self._call("POST", "/argv", ArgvResult, body=request)

    async def plan(self, request: PlanRequest) -> Plan:
        """Return what a preset, or a model's folder, comes to."""
        return await self._call("POST", "/plan", Plan, body=request)

    async def make_preset(self, request: MakeRequest) -> MadePreset:
        """Make a preset of a model folder, with values that the planner chooses."""
        return await self._call("POST", "/presets/make", MadePreset, body=request, patient=True)

    async def runtimes(self) -> RuntimeList:
        """Return every runtime with its state and its verdict for this host."""
        return await self._call("GET", "/runtimes", RuntimeList)

    async def runtime(self, name: str) -> RuntimeDetail:
        """Return everything about one runtime."""
        return await self._call("GET", f"/runtimes/{_part(name)}", RuntimeDetail)

    async def pin_runtime(self, name: str, request: PinRequest) -> RuntimeDetail:
        """Supply what a runtime's recipe leaves open."""
        path = f"/runtimes/{_part(name)}/pin"
        return await self._call("POST", path, RuntimeDetail, body=request)

    async def fetch_series(self, name: str) -> FetchedSeries:
        """Fetch and check the patch series that a runtime takes from other projects."""
        path = f"/runtimes/{_part(name)}/series"
        return await self._call("POST", path, FetchedSeries, patient=True)

    async def install_runtime(self, name: str, request: InstallRequest) -> RuntimeDetail:
        """Install a runtime; returns when it is usable."""
        path = f"/runtimes/{_part(name)}/install"
        return await self._call("POST", path, RuntimeDetail, body=request, patient=True)

    async def runtime_updates(self) -> RuntimeUpdates:
        """Return what could take the place of installed runtimes."""
        return await self._call("GET", "/runtimes/updates", RuntimeUpdates)

    async def update_runtime(self, name: str, request: InstallRequest) -> RuntimeUpdated:
        """Install what the recipe says now, try it and use it; returns when that is done."""
        path = f"/runtimes/{_part(name)}/update"
        return await self._call("POST", path, RuntimeUpdated, body=request, patient=True)

    async def verify_runtime(self, name: str, request: VerifyRequest) -> Verdict:
        """Compare a runtime with the list of its files."""
        path = f"/runtimes/{_part(name)}/verify"
        return await self._call("POST", path, Verdict, body=request, patient=True)

    async def repair_runtime(self, name: str) -> Repaired:
        """Restore what differs from what was installed."""
        return await self._call("POST", f"/runtimes/{_part(name)}/repair", Repaired, patient=True)

    async def runtime_versions(self, name: str) -> RuntimeVersions:
        """Return the installations of a runtime that are kept."""
        return await self._call("GET", f"/runtimes/{_part(name)}/versions", RuntimeVersions)

    async def roll_back(self, name: str, request: RollbackRequest) -> RuntimeVersions:
        """Use the installation before the present one, or the one after it."""
        path = f"/runtimes/{_part(name)}/rollback"
        return await self._call("POST", path, RuntimeVersions, body=request)

    async def collect_runtimes(self, request: CollectRequest) -> Collected:
        """Remove what nothing uses."""
        return await self._call("POST", "/runtimes/gc", Collected, body=request, patient=True)

    async def host(self) -> HostSnapshot:
        """Return what the service's machine is."""
        return await self._call("GET", "/host", HostSnapshot)

    async def hosts(self) -> list[HostEntry]:
        """Return the hosts of the catalogue, for replay."""
        return await self._call("GET", "/hosts", list[HostEntry])

    async def doctor(self, host_id: str | None = None) -> DoctorReport:
        """Return the verdicts on the service's machine, or on a host of the catalogue."""
        query = f"?host={_part(host_id)}" if host_id is not None else ""
        return await self._call("GET", f"/doctor{query}", DoctorReport)

    async def diagnose(self, request: DiagnoseRequest) -> Diagnosis:
        """Return why the engine failed whose log lies in a file of the service's machine."""
        return await self._call("POST", "/diagnose", Diagnosis, body=request, patient=True)

    async def remedies(self) -> RemedyList:
        """Return what can be done about what failed last and about slow paths."""
        return await self._call("GET", "/remedies", RemedyList)

    async def fix(self, request: FixRequest) -> Fixed:
        """Take a remedy; returns when the engine serves again."""
        return await self._call("POST", "/remedies", Fixed, body=request, patient=True)

    async def network(self) -> NetworkReport:
        """Return how the Studio goes out to the network."""
        return await self._call("GET", "/network", NetworkReport)

    async def gateway_selftest(self) -> SelftestReport:
        """Let the gateway attack itself; takes some seconds."""
        return await self._call("POST", "/gateway/selftest", SelftestReport, patient=True)

    async def settings(self) -> CareSettings:
        """Return what follows a death, a standstill and an early request."""
        return await self._call("GET", "/settings", CareSettings)

    async def change_settings(self, request: CareChange) -> CareSettings:
        """Set and forget what the person chooses about them."""
        return await self._call("POST", "/settings", CareSettings, body=request)

    async def change_network(self, request: NetworkChange) -> NetworkReport:
        """Set and forget what the person chooses about the network."""
        return await self._call("POST", "/network", NetworkReport, body=request)

    async def export_runtime(self, name: str, request: ExportRequest) -> Exported:
        """Write an installed runtime into one signed file, on the service's machine."""
        path = f"/runtimes/{_part(name)}/export"
        return await self._call("POST", path, Exported, body=request, patient=True)

    async def import_runtime(self, request: ImportRequest) -> Imported:
        """Install a runtime out of one signed file, on the service's machine."""
        return await self._call("POST", "/runtimes/import", Imported, body=request, patient=True)

    async def signers(self) -> SignerList:
        """Return everybody whose runtimes may be imported."""
        return await self._call("GET", "/signers", SignerList)

    async def trust_signer(self, request: TrustRequest) -> SignerList:
        """Trust a signer; return who is trusted then."""
        return await self._call("POST", "/signers", SignerList, body=request)

    async def forget_signer(self, reference: str) -> SignerList:
        """Trust a signer no more, by fingerprint or name; return who is trusted then."""
        return await self._call("POST", f"/signers/{_part(reference)}/forget", SignerList)

    async def unit(self) -> UnitInfo:
        """Return how the service is kept by its machine, and what starts with it."""
        return await self._call("GET", "/service", UnitInfo)

    async def unit_text(self) -> UnitText:
        """Return the systemd unit as it would be written; changes nothing."""
        return await self._call("GET", "/service/unit", UnitText)

    async def install_unit(self, request: UnitRequest) -> UnitInfo:
        """Let systemd keep the service; returns when it runs."""
        return await self._call("POST", "/service/install", UnitInfo, body=request, patient=True)

    async def uninstall_unit(self, request: UnitRequest) -> UnitInfo:
        """Let systemd keep it no more; returns when it has ended."""
        return await self._call("POST", "/service/uninstall", UnitInfo, body=request, patient=True)

    async def choose_autostart(self, request: AutostartRequest) -> AutostartInfo:
        """Choose what starts with the service."""
        return await self._call("POST", "/service/autostart", AutostartInfo, body=request)

    async def choose_sleep(self, request: SleepRequest) -> SleepInfo:
        """Choose what becomes of the engine when the machine sleeps."""
        return await self._call("POST", "/service/sleep", SleepInfo, body=request)

    async def adopted(self) -> AdoptedInfo:
        """Return the vLLM that is adopted."""
        return await self._call("GET", "/adopted", AdoptedInfo)

    async def adopt(self, request: AdoptRequest) -> AdoptResult:
        """Serve clients from a vLLM that others run; returns when it has answered."""
        return await self._call("POST", "/adopted", AdoptResult, body=request, patient=True)

    async def forget_adopted(self) -> Forgotten:
        """Let go of the adopted vLLM; it runs on."""
        return await self._call("POST", "/adopted/forget", Forgotten)

    async def ps(self) -> list[ProcessInfo]:
        """Return the processes that the service owns, itself included."""
        return await self._call("GET", "/ps", list[ProcessInfo])

    async def logs(self, *, lines: int = 200, after: int | None = None) -> list[LogLine]:
        """Return the newest `lines` log lines, or those after the sequence number `after`."""
        query = f"?lines={lines}" + (f"&after={after}" if after is not None else "")
        return await self._call("GET", f"/logs{query}", list[LogLine])

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
        query = _query(
            source=source, lines=str(lines), before=before, after=after, since=since_text
        )
        return await self._call("GET", f"/logs/page{query}", LogPage)

    async def log_limits(self) -> LogLimits:
        """Return how much of the engine's log is kept."""
        return await self._call("GET", "/logs/limits", LogLimits)

    async def limit_logs(self, limits: LogLimits) -> LogLimits:
        """Keep so much of the engine's log from now on."""
        return await self._call("POST", "/logs/limits", LogLimits, body=limits)

    async def report_preview(self) -> ReportPreview:
        """Return all that a report would hold, as it would be saved."""
        return await self._call("GET", "/report/preview", ReportPreview)

    async def report(self, request: ReportRequest) -> ReportWritten:
        """Write a report on the service's machine."""
        return await self._call("POST", "/report", ReportWritten, body=request)

    async def history(self, *, seconds: int = 300) -> list[Tick]:
        """Return the ticks of the last `seconds` (at most 3,600), oldest first."""
        return await self._call("GET", f"/history?seconds={seconds}", list[Tick])

    async def keys(self) -> list[KeyInfo]:
        """Return every key with its usage; never the key itself."""
        return await self._call("GET", "/keys", list[KeyInfo])

    async def create_key(self, request: KeyRequest) -> NewKey:
        """Make a key; this is the only time that it can be read."""
        return await self._call("POST", "/keys", NewKey, body=request)

    async def revoke_key(self, key_id: str, *, stop_running: bool = False) -> KeyInfo:
        """Make a key useless from now on; its running requests go on unless told."""
        body = RevokeRequest(stop_running=stop_running)
        return await self._call("POST", f"/keys/{_part(key_id)}/revoke", KeyInfo, body=body)

    async def rotate_key(self, key_id: str) -> NewKey:
        """Replace a key's secret; this is the only time that the new one can be read."""
        return await self._call("POST", f"/keys/{_part(key_id)}/rotate", NewKey)

    async def rename_key(self, key_id: str, name: str) -> KeyInfo:
        """Give a key another name."""
        body = RenameRequest(name=name)
        return await self._call("POST", f"/keys/{_part(key_id)}/rename", KeyInfo, body=body)

    async def limit_key(self, key_id: str, limits: KeyLimits) -> KeyInfo:
        """Replace all that a key may do."""
        body = LimitsChange(limits=limits)
        return await self._call("POST", f"/keys/{_part(key_id)}/limits", KeyInfo, body=body)

    async def usage(
        self, *, key_id: str | None = None, seconds: int, by: UsageBy
    ) -> list[UsageRow]:
        """Return what keys used in the last `seconds` (at most 400 days), oldest first."""
        query = _query(key=key_id, seconds=str(seconds), by=by.value)
        return await self._call("GET", f"/keys/usage{query}", list[UsageRow])

    async def requests(
        self, *, key_id: str | None = None, lines: int = 200, errors_only: bool = False
    ) -> list[RequestEntry]:
        """Return the newest requests, oldest first: no prompts, no answers."""
        query = _query(key=key_id, lines=str(lines), errors="1" if errors_only else None)
        return await self._call("GET", f"/requests{query}", list[RequestEntry])

    async def gateway(self) -> GatewayReport:
        """Return how the gateway is set up, and where it can be reached."""
        return await self._call("GET", "/gateway", GatewayReport)

    async def change_gateway(self, change: GatewayChange) -> GatewayReport:
        """Change names and doors of the gateway."""
        return await self._call("POST", "/gateway", GatewayReport, body=change)

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
                    raise _error(response)
                pending = b""
                async for chunk in response.aiter_raw():
                    *whole, pending = (pending + chunk).split(b"\n\n")
                    for block in whole:
                        if block.startswith(_EVENT_PREFIX):
                            yield _decoded(block[len(_EVENT_PREFIX) :], _EVENTS)
        except httpx.RequestError as error:
            raise _unreachable(error) from error

    async def _call(
        self,
        method: str,
        path: str,
        kind: type[T],
        *,
        body: msgspec.Struct | None = None,
        patient: bool = False,
    ) -> T:
        timeout = httpx.Timeout(_QUICK_S, read=None if patient else _QUICK_S)
        try:
            response = await self._http.request(
                method,
                PREFIX + path,
                content=msgspec.json.encode(body) if body is not None else None,
                headers={"Content-Type": "application/json"} if body is not None else None,
                timeout=timeout,
            )
        except httpx.RequestError as error:
            raise _unreachable(error) from error
        if response.is_error:
            raise _error(response)
        return _decoded(response.content, msgspec.json.Decoder(kind))


def _part(text: str) -> str:
    """Return one part of a path, whatever it holds: dots would be taken for a way up."""
    return quote(text, safe="").replace(".", "%2E")


def _query(**words: str | None) -> str:
    """Return the query of a path, without what is None."""
    given = [f"{name}={quote(text, safe='')}" for name, text in words.items() if text is not None]
    return f"?{'&'.join(given)}" if given else ""


def _no_tls() -> ssl.SSLContext:
    """Return a context that trusts nobody: the service speaks plain HTTP on loopback.

    The usual one reads the machine's certificates, which costs each command 40 ms.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _decoded(raw: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _not_understood(f"cannot be understood: {error}") from error


def _error(response: httpx.Response) -> StudioError:
    try:
        return from_info(msgspec.json.decode(response.content, type=ErrorInfo))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _not_understood(f"has status {response.status_code} and no reason")


def _not_understood(what: str) -> ServiceUnreachable:
    return ServiceUnreachable(
        "service-answer-unknown",
        f"The service's answer {what}.",
        hint="It may be of another version: end it with `weir down`, then run `weir up` again.",
    )


def _unreachable(error: httpx.RequestError) -> ServiceUnreachable:
    return ServiceUnreachable(
        "service-unreachable",
        "The service does not answer, or has gone away.",
        evidence=(str(error) or type(error).__name__,),
        hint="Start it with `weir up`, or look at its log in the Studio's folder.",
    )
