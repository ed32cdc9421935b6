"""A small service that speaks the control API over an in-memory transport.

It keeps real state (engine, keys, port, log), so that what a command did can be asked afterwards.
"""

import asyncio
import atexit
import dataclasses
import itertools
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import httpx
import msgspec

from studio.control.client import PREFIX, ControlClient
from studio.control.launcher import in_process
from studio.control.salvage import Salvage
from studio.domain.boots import BootHistory
from studio.domain.cards import CardsReading
from studio.domain.control import (
    GatewayInfo,
    KeyInfo,
    KeyRequest,
    NewKey,
    PresetInfo,
    ServiceInfo,
    Status,
    UpRequest,
    UpResult,
)
from studio.domain.diagnosis import DiagnoseRequest, Diagnosis, FixRequest, RemedyList
from studio.domain.doctor import DoctorReport
from studio.domain.errors import NotFound, ServiceUnreachable, StudioError
from studio.domain.events import (
    EngineChanged,
    Event,
    GatewayChanged,
    ServiceStopping,
    Stage,
    StageProgress,
    StageState,
    Ticked,
    UpFinished,
)
from studio.domain.integrity import Verdict
from studio.domain.metrics import LogLine
from studio.domain.network import NetworkChange
from studio.domain.runtimes import (
    PinRequest,
    RuntimeDetail,
    RuntimeList,
    RuntimeState,
)
from studio.domain.selftest import SelftestReport
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.service import UnitStart
from studio.domain.settings import CareChange, CareSettings
from studio.host.paths import Paths, bundled_root
from studio.serving.log_file import file_of
from studio.serving.logs import LogKeeper
from tests.cli import monitor_samples
from tests.cli.adopt_samples import about_adopted
from tests.cli.alarm_samples import Mutes, about_alarms
from tests.cli.boots_samples import FREED, HISTORY, PINNED
from tests.cli.bundle_samples import EXPORTED, IMPORTED, SIGNERS
from tests.cli.doctor_samples import REPORT
from tests.cli.fake_salvage import FakeSalvage
from tests.cli.network_samples import REPORT as NETWORK
from tests.cli.remedy_samples import DIAGNOSIS, FIXED, OFFERED
from tests.cli.runtime_samples import (
    COLLECTED,
    REPAIRED,
    RUNTIMES,
    STOPPED,
    UPDATED,
    UPDATES,
    VERDICT,
    VERSIONS,
)
from tests.cli.selftest_samples import SAFE as SELFTEST
from tests.cli.serving_samples import (
    KEY,
    PROCESSES,
    STAGES,
    STARTED_AT,
    TICK,
    ready,
)

Listener = asyncio.Queue[Event | httpx.ReadError | None]


@dataclasses.dataclass
class FakeService:
    """One service; `up_errors` are raised by the next calls of `up`, one each."""

    engine: EngineSnapshot = dataclasses.field(default_factory=EngineSnapshot)
    up_errors: list[StudioError] = dataclasses.field(default_factory=list)
    up_hangs: bool = False
    presets: list[PresetInfo] = dataclasses.field(default_factory=list)
    lines: list[LogLine] = dataclasses.field(default_factory=list)
    port: int = 18020
    is_running: bool = True
    holders: int = 0
    keys: list[KeyInfo] = dataclasses.field(default_factory=list)
    calls: list[str] = dataclasses.field(default_factory=list)
    requests: list[UpRequest] = dataclasses.field(default_factory=list)
    bodies: list[bytes] = dataclasses.field(default_factory=list)
    """What was sent about runtimes."""
    selftest: SelftestReport = SELFTEST
    network_changes: list[NetworkChange] = dataclasses.field(default_factory=list)
    boots_asked: list[str] = dataclasses.field(default_factory=list)
    monitor_asked: list[dict[str, str]] = dataclasses.field(default_factory=list)
    diagnosis: Diagnosis = DIAGNOSIS
    diagnosed: list[DiagnoseRequest] = dataclasses.field(default_factory=list)
    read_logs: list[bytes] = dataclasses.field(default_factory=list)
    """What lay in the files that were to be diagnosed."""
    offered: RemedyList = OFFERED
    fixes: list[FixRequest] = dataclasses.field(default_factory=list)
    care_changes: list[CareChange] = dataclasses.field(default_factory=list)
    cards: list[CardsReading] = dataclasses.field(default_factory=list)
    """What is told of the cards, one after the other; then the service is gone."""
    verdict: Verdict = VERDICT
    report: DoctorReport = REPORT
    pins: list[tuple[str, PinRequest]] = dataclasses.field(default_factory=list)
    mutes: Mutes = dataclasses.field(default_factory=list)
    announced: tuple[Event, ...] = ()
    """What each new stream begins with."""
    watchers: list[Listener] = dataclasses.field(default_factory=list)
    late: Callable[["FakeService"], None] | None = None
    """Called once the answer to an `up` has been sent."""
    down_hangs: bool = False
    dies_in_down: bool = False
    junk_answers: bool = False
    ticks: bool = False
    """Whether each stream brings ticks without end."""

    # What a test drives

    def announce(self, *events: Event) -> None:
        """Send events to everyone who watches."""
        for queue in self.watchers:
            for event in events:
                queue.put_nowait(event)

    def end_streams(self, reason: str | None = "told to end") -> None:
        """End every stream, with a reason as a service that goes down says it."""
        if reason is not None:
            self.announce(ServiceStopping(reason=reason))
        for queue in self.watchers:
            queue.put_nowait(None)

    def cut_streams(self) -> None:
        """Break every stream as a service does that was killed."""
        self.is_running = False
        for queue in self.watchers:
            queue.put_nowait(httpx.ReadError("connection lost"))

    def client(self) -> ControlClient:
        """Return a client of this service."""
        return ControlClient(
            "http://127.0.0.1", "token", transport=httpx.MockTransport(self.handle)
        )

    # The control API

    async def handle(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        path = request.url.path.removeprefix(PREFIX)
        self.calls.append(f"{request.method} {path}")
        if not self.is_running:
            raise httpx.ConnectError("connection refused")
        if self.junk_answers:
            return httpx.Response(200, json={"schema": "from the future"})
        try:
            if path.startswith("/adopted"):
                about = about_adopted(path, request)
                return httpx.Response(200, content=msgspec.json.encode(about))
            if path.startswith("/alarms"):
                return about_alarms(path, request, self.mutes)
            if path == "/events":
                holds = "hold" in dict(request.url.params)
                return httpx.Response(200, content=self._stream(holds=holds))
            return httpx.Response(
                200, content=msgspec.json.encode(await self._answer(path, request))
            )
        except StudioError as error:
            return httpx.Response(409, content=msgspec.json.encode(error.info))

    async def _answer(self, path: str, request: httpx.Request) -> object:
        match [request.method, *path.strip("/").split("/")]:
            case ["POST", "up" | "switch"]:
                return await self._up(msgspec.json.decode(request.content, type=UpRequest))
            case ["POST", "restart"]:
                return await self._up(UpRequest(preset=self.engine.preset), again=True)
            case ["POST", "stop"]:
                self._change(EngineSnapshot())
                return self.status()
            case ["POST", "down"]:
                if self.down_hangs:
                    sys.stderr.write("waits in /down\n")
                    await asyncio.Event().wait()
                self.end_streams()
                self.is_running = False
                if self.dies_in_down:
                    raise httpx.ReadError("connection lost")
                return {"down": True}
            case ["POST", "keys", *rest]:
                return self._about_keys(rest, request)
            case ["POST", "diagnose" | "remedies" | "network" | "settings" as what]:
                return self._about_one(what, request)
            case [_, "runtimes" | "signers" as what, *rest] if rest or what == "signers":
                return await self._about_runtimes(rest or [what], request)
        return self._read(path, request.url.params)

    def _about_one(self, what: str, request: httpx.Request) -> object:
        if what == "network":
            change = msgspec.json.decode(request.content, type=NetworkChange)
            self.network_changes.append(change)
            return NETWORK
        if what == "settings":
            self.care_changes.append(msgspec.json.decode(request.content, type=CareChange))
            return CareSettings()
        if what == "remedies":
            self.fixes.append(msgspec.json.decode(request.content, type=FixRequest))
            return FIXED
        sent = msgspec.json.decode(request.content, type=DiagnoseRequest)
        self.diagnosed.append(sent)
        self.read_logs.append(Path(sent.path).read_bytes() if sent.path else b"")
        return self.diagnosis

    def _read(self, path: str, query: httpx.QueryParams) -> object:
        readers: dict[str, Callable[[], object]] = {
            "/status": self.status,
            "/boots": lambda: self._boots(str(query)),
            "/presets/27b-mtp/pin": lambda: PINNED,
            "/presets/27b-mtp/unpin": lambda: FREED,
            "/presets": lambda: self.presets,
            "/ps": lambda: PROCESSES,
            "/cards": self._cards,
            "/doctor": lambda: self.report,
            "/runtimes": lambda: RuntimeList(runtimes=RUNTIMES),
            "/network": lambda: NETWORK,
            "/remedies": lambda: self.offered,
            "/gateway/selftest": lambda: self.selftest,
            "/settings": CareSettings,
            "/history": list,
            "/requests": list,
            "/keys": lambda: self.keys,
            **monitor_samples.readers(query, self.monitor_asked),
        }
        if path not in readers:
            raise NotFound("route-unknown", f"There is no {path}.")
        return readers[path]()

    def _cards(self) -> CardsReading:
        if not self.cards:
            raise ServiceUnreachable("service-gone", "The service has ended.")
        return self.cards.pop(0)

    def _boots(self, query: str) -> BootHistory:
        self.boots_asked.append(query)
        return HISTORY

    async def _up(self, request: UpRequest, *, again: bool = False) -> UpResult:
        self.requests.append(request)
        if self.up_errors:
            error = self.up_errors.pop(0)
            failed = StageProgress(stage=Stage.DETECT, state=StageState.FAILED, title="Look")
            self.announce(failed, UpFinished(preset="cpu-demo", error=error.info))
            raise error
        is_same = request.preset in (None, self.engine.preset)
        already = self.engine.state is EngineState.READY and is_same and not again
        if request.port is not None:
            self.port = request.port
        if not already:
            self._change(EngineSnapshot(state=EngineState.STARTING, preset="cpu-demo"))
            self.announce(*STAGES)
        if self.up_hangs:
            await asyncio.Event().wait()
        if not already:
            self._change(ready(request.preset or "cpu-demo"))
            self.announce(UpFinished(preset=self.engine.preset or ""))
        makes_key = not self.keys
        if makes_key:
            self._create_key(KeyRequest(name="default"))
        self._when_read(self.late)
        return UpResult(
            base_url=self.base_url,
            api_key=KEY if makes_key else None,
            preset=self.engine.preset or "",
            served_name="smollm2",
            runtime="cpu-vllm-0.32.0",
            runtime_id="3f9a0c51b7d2e8644a1b",
            pool_tokens=46_592,
            boot_s=50.2,
            already_running=already,
        )

    def _when_read(self, then: Callable[["FakeService"], None] | None, turns: int = 50) -> None:
        # The caller has read the answer after a few turns of the loop that both share.
        if then is not None and turns:
            asyncio.get_running_loop().call_soon(self._when_read, then, turns - 1)
        elif then is not None:
            then(self)

    def _change(self, engine: EngineSnapshot) -> None:
        self.engine = engine
        self.announce(EngineChanged(engine=engine))

    @property
    def base_url(self) -> str:
        """Where clients connect."""
        return f"http://127.0.0.1:{self.port}/v1"

    def status(self) -> Status:
        """Return one instant of everything."""
        serves = self.engine.state is EngineState.READY
        return Status(
            service=ServiceInfo(
                version="0.1.0", pid=4241, started_at=STARTED_AT, home="/home/ada/weir-studio"
            ),
            engine=self.engine,
            gateway=GatewayInfo(base_url=self.base_url if serves else None, port=self.port),
            tick=TICK if serves else None,
            keys=sum(key.revoked_at is None for key in self.keys),
        )

    async def _stream(self, *, holds: bool) -> AsyncIterator[bytes]:
        queue: Listener = asyncio.Queue()
        for event in (EngineChanged(engine=self.engine), GatewayChanged(), *self.announced):
            queue.put_nowait(event)
        self.watchers.append(queue)
        self.holders += holds
        try:
            for number in itertools.count() if self.ticks else ():
                tick = msgspec.structs.replace(TICK, at=TICK.at + number)
                yield b"data: " + msgspec.json.encode(Ticked(tick=tick)) + b"\n\n"
                await asyncio.sleep(0)
            while (told := await queue.get()) is not None:
                if isinstance(told, httpx.ReadError):
                    raise told
                yield b"data: " + msgspec.json.encode(told) + b"\n\n"
        finally:
            self.holders -= holds
            self.watchers.remove(queue)

    def _create_key(self, request: KeyRequest) -> NewKey:
        info = KeyInfo(
            id=f"key{len(self.keys) + 1}",
            name=request.name,
            prefix="sk-weir-0123",
            created_at="2026-11-29T10:00:00+00:00",
            limits=request.limits,
        )
        self.keys.append(info)
        return NewKey(info=info, key=KEY)

    def _about_keys(self, rest: list[str], request: httpx.Request) -> object:
        if rest:
            return self._revoke_key(rest[0])
        return self._create_key(msgspec.json.decode(request.content, type=KeyRequest))

    async def _about_runtimes(self, rest: list[str], request: httpx.Request) -> object:
        self.bodies.append(request.content)
        answers: dict[str, object] = {
            "gc": COLLECTED,
            "verify": self.verdict,
            "repair": REPAIRED,
            "versions": VERSIONS,
            "rollback": VERSIONS,
            "export": EXPORTED,
            "import": IMPORTED,
            "signers": SIGNERS,
            "forget": SIGNERS,
            "updates": UPDATES,
            "update": UPDATED,
            "stop": STOPPED,
        }
        if rest[-1] in answers:
            return answers[rest[-1]]
        if rest[-1] == "pin":
            self.pins.append((rest[0], msgspec.json.decode(request.content, type=PinRequest)))
        if rest[-1] == "install":
            self.announce(*STAGES[1:3])
            for _ in range(50):  # an installation lasts; its events come before its answer
                await asyncio.sleep(0)
        return self._runtime(rest[0])

    def _runtime(self, name: str) -> RuntimeDetail:
        for one in RUNTIMES:
            if one.name == name:
                # What was supplied is enough in this service, whatever it was.
                is_pinned = any(pinned == name for pinned, _request in self.pins)
                state = RuntimeState.AVAILABLE
                done = msgspec.structs.replace(one, state=state, usable=True, reasons=())
                return RuntimeDetail(
                    info=done if is_pinned else one,
                    engine="vllm",
                    engine_version="0",
                    interpreter="CPython 3.12",
                )
        raise NotFound("runtime-unknown", f"There is no runtime `{name}`.")

    def _revoke_key(self, key_id: str) -> KeyInfo:
        for index, key in enumerate(self.keys):
            if key.id == key_id:
                revoked = msgspec.structs.replace(key, revoked_at="2026-11-29T11:00:00+00:00")
                self.keys[index] = revoked
                return revoked
        raise NotFound("key-unknown", f"No key has the id {key_id}.")


@dataclasses.dataclass
class FakeConnector:
    """Reaches `service`; `started` counts how often one had to be started."""

    service: FakeService
    is_running: bool = True
    started: list[bool] = dataclasses.field(default_factory=list)
    is_stale: bool = False
    """Whether the way to a service is known that has died meanwhile."""
    refuses: StudioError | None = None
    kept: int = 0
    """How often a running service was told to outlive its holders."""
    unit: UnitStart | None = None
    """What comes of starting the service through its systemd unit."""
    offline_used: int = 0
    diagnosed_in_files: int = 0
    replayed: list[str] = dataclasses.field(default_factory=list)
    ran: list[tuple[str, object]] = dataclasses.field(default_factory=list)
    home: Path | None = None
    """Where logs lie; made of the service's lines when nobody names one."""

    async def connect(self, *, start: bool, hold: bool) -> ControlClient:
        """Return a client, after starting the service when asked to."""
        if self.refuses is not None:
            raise self.refuses
        if self.is_stale:
            return self.service.client()
        if not (self.is_running and self.service.is_running):
            if not start:
                raise ServiceUnreachable("service-not-running", "No service runs.")
            self.started.append(hold)
            self.is_running = self.service.is_running = True
            client = self.service.client()
            client.started = self.unit
            return client
        if start and not hold:
            self.kept += 1
        return self.service.client()

    def offline(self, host: str | None = None) -> ControlClient:
        """Return a client that needs no running service."""
        self.offline_used += 1
        self.replayed += [host] if host is not None else []
        return self.service.client()

    def salvage(self) -> ControlClient:
        """Return a client that reads the service's lines from files, as `weir` does."""
        if self.home is None:
            self.home = Path(tempfile.mkdtemp(prefix="weir-fake-"))
            atexit.register(shutil.rmtree, self.home, ignore_errors=True)
            keeper = LogKeeper(
                file_of(self.home / "logs", "engine"),
                clock=lambda: STARTED_AT,
                on_lines=lambda _lines, _dropped: None,
            )
            if self.service.lines:
                text = "".join(f"{line.text}\n" for line in self.service.lines)
                keeper.feed(text.encode())
            keeper.close()
        paths = Paths(home=self.home, catalogue=bundled_root())
        return in_process(FakeSalvage(self, Salvage(paths)), _nothing)

    def service_run(self, *, until_released: bool, autostart: bool) -> int:
        """Note that the service was to run."""
        self.ran.append(("service", until_released))
        self.ran += [("autostart", True)] if autostart else []
        return 0

    def ui(self, argv: Sequence[str]) -> int:
        """Note that the window was to open."""
        self.ran.append(("ui", list(argv)))
        return 0


async def _nothing() -> None:
    return


def ticked(**changes: float) -> Ticked:
    """Return a tick event with `changes`."""
    return Ticked(tick=msgspec.structs.replace(TICK, **changes))
