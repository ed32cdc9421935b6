"""The fake service's runtimes and disk: plugged in by `FakeRuntimes(service)`."""

import threading
from urllib.parse import unquote

import msgspec

from studio.domain.bundles import (
    Exported,
    ExportRequest,
    Imported,
    ImportRequest,
    Signer,
    SignerList,
    TrustRequest,
)
from studio.domain.control import RuntimeVersions
from studio.domain.disk import DiskReport, DiskUse
from studio.domain.errors import ErrorInfo
from studio.domain.events import InstallStep, Stage, StageProgress, StageState
from studio.domain.integrity import (
    Collected,
    Difference,
    DifferenceKind,
    Removal,
    Repaired,
    Verdict,
)
from studio.domain.manifests import InstalledRuntime
from studio.domain.runtimes import (
    BuiltStep,
    Change,
    ChangeKind,
    CollectRequest,
    FetchedSeries,
    InstallRequest,
    InstallStopped,
    Note,
    PackageWheel,
    PatchSeriesInfo,
    PinRequest,
    RollbackRequest,
    RuntimeDetail,
    RuntimeInfo,
    RuntimeList,
    RuntimeState,
    RuntimeUpdate,
    RuntimeUpdated,
    RuntimeUpdates,
    SeriesSet,
    StepState,
    Unverified,
    UpdateKind,
)
from studio.domain.uninstall import Belongings
from tests.ui.fake_service import FakeService

GIB = 1 << 30
OLD_ID = "8586b534d22b3ae2e00d43788a1d6d5c7c01e630053a94df276a8a0006c157c2"
NEW_ID = "9f3c2ab1d0e4b7706a41c2d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718"
SIGNER = "ed25519:5f3a-91bc-77d0-4e2a"

CPU = RuntimeInfo(
    name="cpu-vllm-0.32.0",
    title="vLLM 0.32.0 for CPU",
    state=RuntimeState.INSTALLED,
    runtime_id=NEW_ID,
    bytes=2_402_556_620,
    usable=True,
    is_update_offered=True,
)
OLDER = RuntimeInfo(
    name="cpu-vllm-0.31.0",
    title="vLLM 0.31.0 for CPU",
    state=RuntimeState.AVAILABLE,
    bytes=603_516_696,
    usable=True,
)
QWEN = RuntimeInfo(
    name="cu13-hyperqwen-0.32.0",
    title="vLLM 0.32.0 with the HyperQwen series",
    state=RuntimeState.NOT_PINNED,
    bytes=3_963_320_712,
    usable=False,
    reasons=(
        "No NVIDIA driver was found on this machine.",
        "The patch series of https://github.com/syv-ai/HyperQwen has no commit yet.",
        "No source gives the sha256 of flashinfer-cubin 0.7.0.post1.",
    ),
)
VOLTA = RuntimeInfo(
    name="sm70-1cat-1.5.0",
    title="1Cat-vLLM 1.5.0 for V100",
    state=RuntimeState.UNVERIFIED,
    bytes=5_316_123_079,
    usable=False,
    reasons=("Not confirmed (lock): The wheel's own requirement list has not been read.",),
)
NOTES = (
    Note(
        title="No nvcc: the first prompt fails",
        text="A bare wheel may die with `No CUDA or HIP available on this system`: install nvcc.",
        source="1Cat-vLLM, issues 237 and 437",
    ),
    Note(title="bfloat16 does not exist on this card", text="Start with --dtype half."),
)
UPDATE = RuntimeUpdate(
    kind=UpdateKind.RECIPE,
    runtime=CPU.name,
    runtime_id=NEW_ID,
    target=CPU.name,
    title=CPU.title,
    usable=True,
    fetch_bytes=59_900_000,
    disk_bytes=220_000_000,
    packages=(
        Change(kind=ChangeKind.CHANGED, name="transformers", before="5.19.0", after="5.19.1"),
        Change(kind=ChangeKind.REMOVED, name="py-cpuinfo", before="9.0.0"),
    ),
    patches=(Change(kind=ChangeKind.ADDED, name="0005-quiet-shutdown.patch"),),
    knobs=None,
    presets=("cpu-demo",),
)
DISK = DiskReport(
    home="/home/ada/weir",
    total_bytes=930 * GIB,
    free_bytes=412 * GIB,
    others_bytes=430 * GIB,
    uses=(
        DiskUse(group=Belongings.MODELS, bytes=71 * GIB, files=64),
        DiskUse(group=Belongings.RUNTIMES, bytes=13 * GIB, files=84_210),
        DiskUse(group=Belongings.CACHE, bytes=4 * GIB, files=3_912),
        DiskUse(group=Belongings.LOGS, bytes=86 << 20, files=41),
        DiskUse(group=Belongings.HISTORY, bytes=31 << 20, files=6),
    ),
    own_bytes=88 * GIB + (117 << 20),
)
GARBAGE = Collected(
    removals=(
        Removal(
            path="/home/ada/weir/runtimes/cpu-vllm-0.32.0/3d1f09",
            what="an installation that was left two updates ago",
        ),
        Removal(
            path="/home/ada/weir/store/torch-2.12.1", what="a package that no installation uses"
        ),
    ),
    bytes=3 * GIB,
    is_dry_run=True,
)
INSTALLING = StageProgress(
    stage=Stage.RUNTIME,
    state=StageState.RUNNING,
    title=OLDER.title,
    note="torch 2.12.1 (37 of 84 packages)",
    done=241_000_000,
    total=613_000_000,
    unit="bytes",
    rate=42_300_000,
    left_s=8.8,
    step=InstallStep.FETCH,
    runtime=OLDER.name,
)
VERDICT = Verdict(
    runtime=CPU.name,
    runtime_id=NEW_ID,
    is_full=True,
    is_known=True,
    files=27_811,
    bytes=2_402_556_620,
    seconds=11.4,
)
BROKEN = msgspec.structs.replace(
    VERDICT,
    differences=(
        Difference(path="lib/python3.11/site-packages/vllm/envs.py", kind=DifferenceKind.CHANGED),
        Difference(path="lib/python3.11/site-packages/torch/_C.so", kind=DifferenceKind.MISSING),
    ),
)
UNKNOWN_SIGNER = ErrorInfo(
    code="signer-unknown",
    message=f"cpu.weir holds {CPU.name} and is signed by {SIGNER}, whom nobody trusts here yet.",
    hint="Compare that with `weir runtime signers list` on the machine that made it.",
    exit_status=4,
    data={"fingerprint": SIGNER, "runtime": CPU.name},
)
STOPPED = ErrorInfo(
    code="install-stopped",
    message=f"The installation of {OLDER.title} was stopped before it was finished.",
    exit_status=10,
)
LARGE = ErrorInfo(
    code="large-download",
    message="vLLM 0.31.0 for CPU needs 3.69 GiB from the network.",
    hint="Run it again with `--yes` to agree.",
    exit_status=4,
    data={"what": OLDER.title, "download_bytes": 3_963_320_712, "disk_bytes": 20_000_000_000},
)


def detail_of(info: RuntimeInfo) -> RuntimeDetail:
    """Return everything about a runtime, as a service tells it."""
    is_here = info.runtime_id is not None
    base = RuntimeDetail(
        info=info,
        engine="vllm",
        engine_version=info.name.rpartition("-")[2],
        interpreter="CPython 3.11.14, build 20261021 of python-build-standalone",
        installed_at="2026-11-29T15:40:52+00:00" if is_here else None,
        packages=147,
        download_bytes=None if is_here else info.bytes,
        disk_bytes=3_000_000_000,
        requirements=("linux-x86_64", "2.79 GiB on the disk", "glibc 2.31 or newer"),
        patches=(PatchSeriesInfo(title="Weir Studio's own patches", patches=4),),
        notes=NOTES,
    )
    replace = msgspec.structs.replace
    if info is QWEN:
        series = PatchSeriesInfo(
            title="HyperQwen", repository="https://github.com/syv-ai/HyperQwen"
        )
        cubin = PackageWheel(
            name="flashinfer-cubin", version="0.7.0.post1",
            url="https://example.org/flashinfer_cubin-0.7.0.post1-py3-none-any.whl",
        )  # fmt: skip
        return replace(base, patches=(*base.patches, series), wheels=(cubin,))
    if info.name == VOLTA.name:
        lock = Unverified(name="lock", what="The wheel's own requirement list has not been read.")
        return replace(base, open=(lock,), knobs=("flash_attn_v100", "ple_host_gib"))
    if is_here:
        step = BuiltStep(
            name="helper", title="Helper of Triton", state=StepState.AT_START, definition="d1"
        )
        return replace(base, built=(step,))
    return base


def installed(identity: str, at: str) -> InstalledRuntime:
    """Return an installation that is kept."""
    return InstalledRuntime(
        name=CPU.name, runtime_id=identity, python="python/bin/python3", interpreter="CPython",
        interpreter_build="", lock_digest="", bytes=CPU.bytes, installed_at=at,
    )  # fmt: skip


class FakeRuntimes:
    """Keeps what is installed; `gate` holds long works up while it is closed."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.runtimes = [CPU, OLDER, QWEN, VOLTA]
        self.updates: tuple[RuntimeUpdate, ...] = (UPDATE,)
        self.versions = [
            installed(OLD_ID, "2026-10-02T09:12:00+00:00"),
            installed(NEW_ID, "2026-11-29T15:40:52+00:00"),
        ]
        self.current = NEW_ID
        self.disk: DiskReport | ErrorInfo = DISK
        self.garbage = GARBAGE
        self.verdict = VERDICT
        self.refusal: ErrorInfo | None = None
        self.stopped = STOPPED
        self.asked: list[tuple[str, object]] = []
        self.signers = [
            Signer(fingerprint="own0" * 16, is_own=True),
            Signer(fingerprint=SIGNER, name="Grace", trusted_at="2026-11-02T10:00:00+00:00"),
        ]
        self.gate = threading.Event()
        self.gate.set()
        service.areas.append(self.answer)

    def answer(self, method: str, route: str, body: bytes) -> object:
        """Return a record for what is asked of runtimes; None: it is not."""
        route = unquote(route)
        if route == "/disk":
            return self.disk
        if route.startswith("/signers"):
            return self._signers(method, route, body)
        if not route.startswith("/runtimes"):
            return None
        if method == "GET":
            return self._get(route.removeprefix("/runtimes").strip("/"))
        name, _, verb = route.removeprefix("/runtimes/").rpartition("/")
        if verb == "stop":
            return self._stop(name)
        self.gate.wait(10)
        return self._refused(verb, body) or self._do(name, verb, body)

    def _stop(self, name: str) -> InstallStopped:
        """End what the gate holds up."""
        self.asked.append(("stop", name))
        was_running = not self.gate.is_set()
        if was_running:
            self.refusal = self.stopped
            self.gate.set()
        return InstallStopped(runtime=name, was_running=was_running)

    def _signers(self, method: str, route: str, body: bytes) -> object:
        if route.endswith("/forget"):
            gone = route.split("/")[2]
            self.signers = [one for one in self.signers if one.fingerprint != gone]
        elif method == "POST":
            request = msgspec.json.decode(body, type=TrustRequest)
            if len(request.fingerprint) < 8:
                return ErrorInfo(code="fingerprint-invalid", message="It is no fingerprint.")
            self.signers.append(Signer(fingerprint=request.fingerprint, name=request.name))
        return SignerList(signers=tuple(self.signers))

    def info(self, name: str) -> RuntimeInfo:
        """Return a runtime of the list."""
        found = [one for one in self.runtimes if one.name == name]
        assert found, name
        return found[0]

    def _get(self, rest: str) -> object:
        if not rest:
            return RuntimeList(runtimes=tuple(self.runtimes))
        if rest == "updates":
            return RuntimeUpdates(updates=self.updates)
        if rest.endswith("/versions"):
            return self._kept(rest.removesuffix("/versions"))
        return detail_of(self.info(rest))

    def _kept(self, name: str) -> RuntimeVersions:
        if name != CPU.name:
            return RuntimeVersions(name=name)
        return RuntimeVersions(name=name, current=self.current, kept=tuple(self.versions))

    def _refused(self, verb: str, body: bytes) -> ErrorInfo | None:
        refusal = self.refusal
        if refusal is None:
            return None
        if verb == "install" and msgspec.json.decode(body, type=InstallRequest).consent:
            return None
        if verb == "import" and msgspec.json.decode(body, type=ImportRequest).trust:
            return None
        self.asked.append((verb, "refused"))
        return refusal

    def _do(self, name: str, verb: str, body: bytes) -> object:
        match verb:
            case "gc":
                return self._collect(msgspec.json.decode(body, type=CollectRequest))
            case "import":
                return self._import(msgspec.json.decode(body, type=ImportRequest))
            case "export":
                return self._export(name, msgspec.json.decode(body, type=ExportRequest))
            case "pin":
                self.asked.append((verb, msgspec.json.decode(body, type=PinRequest)))
                return detail_of(self.info(name))
            case "rollback":
                return self._roll(name, msgspec.json.decode(body, type=RollbackRequest))
        self.asked.append((verb, name))
        return self._simple(name, verb)

    def _simple(self, name: str, verb: str) -> object:
        match verb:
            case "verify":
                return self.verdict
            case "repair":
                self.verdict = VERDICT
                return Repaired(
                    runtime=name, runtime_id=NEW_ID, restored=2, removed=0, compiled=1, seconds=3.2
                )
            case "update":
                self.updates = ()
                return RuntimeUpdated(runtime=name, before=OLD_ID, after=NEW_ID)
            case "series":
                one = SeriesSet(
                    title="HyperQwen", repository="https://github.com/syv-ai/HyperQwen",
                    commit="5" * 40, patches=("0001-a.patch", "0002-b.patch"),
                )  # fmt: skip
                return FetchedSeries(runtime=name, sets=(one,))
        return self._install(name)

    def _install(self, name: str) -> RuntimeDetail:
        made = msgspec.structs.replace(
            self.info(name), state=RuntimeState.INSTALLED, runtime_id=OLD_ID
        )
        self.runtimes = [made if one.name == name else one for one in self.runtimes]
        return detail_of(made)

    def _collect(self, request: CollectRequest) -> Collected:
        self.asked.append(("gc", request))
        found = msgspec.structs.replace(self.garbage, is_dry_run=request.dry_run)
        if not request.dry_run:
            self.garbage = Collected(removals=(), bytes=0, is_dry_run=False)
        return found

    def _import(self, request: ImportRequest) -> Imported:
        self.asked.append(("import", request))
        return Imported(
            runtime=CPU.name, runtime_id=NEW_ID, files=27_811, bytes=2_402_556_620,
            fingerprint=SIGNER, is_catalogued=True, seconds=9.1,
        )  # fmt: skip

    def _export(self, name: str, request: ExportRequest) -> Exported:
        self.asked.append(("export", request))
        return Exported(
            runtime=name, runtime_id=NEW_ID, path=f"{request.to}/{name}.weir", files=27_811,
            bytes=2_402_556_620, file_bytes=801_000_000, sha256="ab" * 32, fingerprint=SIGNER,
            public_key="cd" * 32, is_new_key=True, seconds=21.0,
        )  # fmt: skip

    def _roll(self, name: str, request: RollbackRequest) -> RuntimeVersions:
        self.asked.append(("rollback", request))
        self.current = NEW_ID if request.forward else OLD_ID
        return self._kept(name)
