"""The fake service's library, downloads and hubs: plugged in by `FakeModels(service)`."""

import threading
from urllib.parse import parse_qs

import msgspec

from studio.domain.downloads import (
    DownloadDeed,
    DownloadInfo,
    DownloadKind,
    DownloadList,
    DownloadState,
    Fetched,
    FetchedFile,
    GetRequest,
    HubName,
    LimitRequest,
    LoginInfo,
    LoginRequest,
)
from studio.domain.errors import ErrorInfo
from studio.domain.library import (
    CheckInfo,
    CheckList,
    CheckRequest,
    CheckState,
    Double,
    FileEntry,
    ImportProgress,
    ImportState,
    LackingFile,
    Library,
    LostModel,
    ModelDetail,
    ModelEntry,
    ModelFacts,
    ModelImport,
    ModelImported,
    RemovePlan,
    RemoveRequest,
    RootChange,
    RootInfo,
    RootKind,
    RootState,
    WeightsForm,
)
from studio.domain.proofs import ModelState
from tests.ui.fake_service import START, FakeService

GIB = 1 << 30
HOME = "/home/ada/weir/models"
CACHE = "/home/ada/.cache/huggingface/hub"
REVISION = "c1899de289a04d12100db370d81485cdf75e47ca"


def entry(name: str, **fields: object) -> ModelEntry:
    """Return a model in the Studio's own folder."""
    base = ModelEntry(
        name=name,
        path=f"{HOME}/{name}",
        root=HOME,
        root_kind=RootKind.OWN,
        facts=ModelFacts(
            form=WeightsForm.SAFETENSORS,
            architecture="Qwen3NextForCausalLM",
            parameters=27_400_000_000,
            quantisation="AWQ 4 bit",
            context_tokens=262_144,
        ),
        files=14,
        size_bytes=17 * GIB,
        changed_at_s=START,
        state=ModelState.READY,
        proven_at_s=START,
        proven_by="huggingface",
    )
    return msgspec.structs.replace(base, **fields)


QWEN = entry(
    "Qwen/Qwen3.8-27B-AWQ", repository="Qwen/Qwen3.8-27B-AWQ", revision=REVISION, refs=("main",),
    uses=("chat-fast", "long", "many"),
)  # fmt: skip
TINY = entry(
    "smollm2-135m-instruct",
    size_bytes=270_000_000,
    files=9,
    facts=ModelFacts(
        form=WeightsForm.SAFETENSORS,
        architecture="LlamaForCausalLM",
        parameters=134_515_008,
        quantisation="BF16",
        context_tokens=8_192,
    ),
    state=ModelState.UNPROVEN,
    proven_at_s=None,
    proven_by=None,
    uses=("cpu-demo",),
    in_use_by="engine: cpu-demo",
)
PARTLY = entry(
    "Qwen/Qwen3-0.6B",
    path=f"{CACHE}/models--Qwen--Qwen3-0.6B/snapshots/{REVISION}",
    root=CACHE,
    root_kind=RootKind.CACHE,
    repository="Qwen/Qwen3-0.6B",
    revision=REVISION,
    size_bytes=1_200_000_000,
    facts=ModelFacts(
        form=WeightsForm.SAFETENSORS,
        architecture="Qwen3ForCausalLM",
        parameters=751_632_384,
        quantisation="BF16",
        context_tokens=40_960,
    ),
    state=ModelState.INCOMPLETE,
    missing=(LackingFile(name="model.safetensors", size_bytes=1_503_300_328),),
    proven_at_s=None,
    proven_by=None,
)
GGUF = entry(
    "mistral-small-3.2-24b-q4_k_m.gguf",
    path="/media/größe disk/mistral-small-3.2-24b-q4_k_m.gguf",
    root="/media/größe disk",
    root_kind=RootKind.FOLDER,
    files=1,
    size_bytes=14 * GIB,
    facts=ModelFacts(
        form=WeightsForm.GGUF, architecture="llama", parameters=23_570_000_000,
        quantisation="Q4_K_M", context_tokens=131_072,
    ),
    state=ModelState.DAMAGED,
    damaged=("mistral-small-3.2-24b-q4_k_m.gguf",),
    same_as=("mistral-copy",),
    proven_at_s=None,
    proven_by=None,
)  # fmt: skip
MODELS = (QWEN, PARTLY, GGUF, TINY)
ROOTS = (
    RootInfo(path=HOME, kind=RootKind.OWN, models=2, size_bytes=17 * GIB),
    RootInfo(path=CACHE, kind=RootKind.CACHE, models=1, size_bytes=1_200_000_000),
    RootInfo(path="/media/größe disk", kind=RootKind.FOLDER, models=1, size_bytes=14 * GIB),
    RootInfo(path="/media/nas/models", kind=RootKind.FOLDER, state=RootState.MISSING),
)
RUNNING = DownloadInfo(
    id="a1b2c3d4",
    kind=DownloadKind.MODEL,
    title="Qwen/Qwen3.8-27B-W4A16-AutoRound",
    state=DownloadState.RUNNING,
    done_bytes=9 * GIB,
    total_bytes=24 * GIB,
    rate=42_300_000.0,
    left_s=381.0,
)
QUEUED = DownloadInfo(
    id="e5f60718", kind=DownloadKind.MODEL, title="z-lab/Qwen3.8-27B-DFlash",
    state=DownloadState.QUEUED,
)  # fmt: skip
PAUSED = msgspec.structs.replace(
    RUNNING, id="9a8b7c6d", title="mistralai/Mistral-Small-3.2-24B", state=DownloadState.PAUSED,
    rate=None, left_s=None,
)  # fmt: skip
GATED = ErrorInfo(
    code="model-gated",
    message="google/gemma-3-27b-it asks for its licence to be accepted.",
    hint="Accept it on https://huggingface.co/google/gemma-3-27b-it, then log in.",
    exit_status=4,
)
FAILED = DownloadInfo(
    id="0badcafe", kind=DownloadKind.MODEL, title="google/gemma-3-27b-it",
    state=DownloadState.FAILED, error=GATED,
)  # fmt: skip
CHECKING = CheckInfo(
    model=TINY.name, path=TINY.path, state=CheckState.RUNNING, done_bytes=120_000_000,
    total_bytes=270_000_000, rate=180_000_000.0, left_s=0.9,
)  # fmt: skip
IN_USE = ErrorInfo(
    code="model-in-use",
    message="smollm2-135m-instruct is in use: engine: cpu-demo.",
    hint="End that first.",
    exit_status=5,
)

FILES = (
    FileEntry(name="model.safetensors", size_bytes=93 << 20, sha256="ab" * 32, is_proven=True),
    FileEntry(name="tokenizer.json", size_bytes=2_104_556, sha256="cd" * 32),
    FileEntry(name="notes.txt", size_bytes=412),
)


class FakeModels:
    """Keeps models, roots, queue and tokens; `gate` holds downloads and imports while closed."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.models = list(MODELS)
        self.lost: list[LostModel] = []
        self.roots = list(ROOTS)
        self.downloads: list[DownloadInfo] = []
        self.limit: int | None = None
        self.is_held = False
        self.checks: list[CheckInfo] = []
        self.importing: ImportProgress | None = None
        self.tokens: dict[HubName, str] = {}
        self.refusal: ErrorInfo | None = None
        self.asked: list[tuple[str, object]] = []
        self.gate = threading.Event()
        self.gate.set()
        service.areas.append(self.answer)

    def answer(self, method: str, route: str, body: bytes) -> object:
        """Return a record for what is asked of models; None: it is not."""
        if not route.startswith(("/models", "/downloads", "/hubs")):
            return None
        if method == "GET":
            return self._get(route, self.service.query)
        return self._post(route, body)

    def library(self) -> Library:
        """Return everything that lies here."""
        twice = Double(models=(GGUF.name, "mistral-copy"), files=1, extra_bytes=14 * GIB)
        return Library(
            models=tuple(self.models),
            roots=tuple(self.roots),
            doubles=(twice,) if GGUF in self.models else (),
            lost=tuple(self.lost),
            size_bytes=sum(one.size_bytes for one in self.models),
        )

    def queue(self) -> DownloadList:
        """Return the queue."""
        return DownloadList(
            downloads=tuple(self.downloads), limit_bytes_per_s=self.limit, is_held=self.is_held
        )

    def login(self, hub: HubName) -> LoginInfo:
        """Return which token a hub gets."""
        source = "weir models login" if hub in self.tokens else None
        return LoginInfo(hub=hub, endpoint=f"https://{hub.value}.example", source=source)

    def _one(self, query: str) -> ModelDetail:
        path = parse_qs(query)["name"][0]
        model = next(one for one in self.models if one.path == path)
        return ModelDetail(model=model, files=FILES, left_out=2)

    def _get(self, route: str, query: str) -> object:
        match route:
            case "/models":
                return self.library()
            case "/models/one":
                return self._one(query)
            case "/models/import":
                return ImportState(current=self.importing)
            case "/models/checks":
                return CheckList(checks=tuple(self.checks))
            case "/downloads":
                return self.queue()
        hubs = [hub for hub in HubName if hub.value in query]
        return self.login(hubs[0] if hubs else HubName.HUGGING_FACE)

    def _post(self, route: str, body: bytes) -> object:
        if route.startswith("/downloads"):
            return self._change(route, body)
        match route:
            case "/hubs/login":
                return self._log_in(msgspec.json.decode(body, type=LoginRequest))
            case "/models/get":
                return self._fetch(msgspec.json.decode(body, type=GetRequest))
            case "/models/import":
                return self._take(msgspec.json.decode(body, type=ModelImport))
            case "/models/remove":
                return self._remove(msgspec.json.decode(body, type=RemoveRequest))
            case "/models/roots":
                return self._root(msgspec.json.decode(body, type=RootChange))
        return self._check(route, msgspec.json.decode(body, type=CheckRequest))

    def _change(self, route: str, body: bytes) -> object:
        if route == "/downloads/limit":
            self.limit = msgspec.json.decode(body, type=LimitRequest).bytes_per_s
            return self.queue()
        identity, verb = route.removeprefix("/downloads/").split("/")
        self.asked.append((verb, identity))
        found = next(one for one in self.downloads if one.id == identity)
        others = [one for one in self.downloads if one is not found]
        replace = msgspec.structs.replace
        match DownloadDeed(verb):
            case DownloadDeed.CANCEL:
                self.downloads = others
            case DownloadDeed.FIRST:
                self.downloads = [found, *others]
            case DownloadDeed.PAUSE | DownloadDeed.RESUME:
                to = DownloadState.PAUSED if verb == "pause" else DownloadState.QUEUED
                self.downloads = [
                    replace(one, state=to, error=None) if one is found else one
                    for one in self.downloads
                ]
        return self.queue()

    def _log_in(self, request: LoginRequest) -> LoginInfo:
        self.asked.append(("login", request.token))
        self.tokens.pop(request.hub, None)
        if request.token is not None:
            self.tokens[request.hub] = request.token
        return self.login(request.hub)

    def _fetch(self, request: GetRequest) -> object:
        self.asked.append(("get", request))
        self.gate.wait(10)
        if self.refusal is not None:
            return self.refusal
        return Fetched(
            repository=request.repository, hub=HubName.HUGGING_FACE, asked="main", commit=REVISION,
            folder=f"{CACHE}/x", files=(FetchedFile(path="a", bytes=2 * GIB),), fetched_bytes=1,
        )  # fmt: skip

    def _take(self, request: ModelImport) -> ModelImported:
        self.asked.append(("import", request))
        self.gate.wait(10)
        self.importing = None
        made = entry(request.name or "taken", path=request.path)
        self.models.append(made)
        return ModelImported(model=made, by=request.by, written_bytes=0)

    def _remove(self, request: RemoveRequest) -> RemovePlan:
        self.asked.append(("remove", request))
        found = next(one for one in self.models if one.path == request.name)
        if not request.dry_run:
            self.models.remove(found)
        return RemovePlan(
            name=found.name, path=found.path, freed_bytes=found.size_bytes - GIB // 8,
            files=found.files, stays_bytes=GIB // 8, uses=found.uses, is_done=not request.dry_run,
            stays="another revision names these blobs", refusal=IN_USE if found.in_use_by else None,
        )  # fmt: skip

    def _root(self, change: RootChange) -> list[RootInfo]:
        self.asked.append(("roots", change))
        if change.add is not None:
            self.roots.append(RootInfo(path=change.add, kind=RootKind.FOLDER))
        self.roots = [one for one in self.roots if one.path != change.remove]
        return self.roots

    def _check(self, route: str, request: CheckRequest) -> CheckList:
        self.asked.append((route.rpartition("/")[2], request))
        if route.endswith("/stop"):
            self.checks = []
        else:
            self.checks = [
                CheckInfo(
                    model=one.name, path=one.path, state=CheckState.RUNNING,
                    done_bytes=one.size_bytes // 3, total_bytes=one.size_bytes, left_s=42.0,
                )
                for one in self.models
                if request.name in (None, one.path)
            ]  # fmt: skip
        return CheckList(checks=tuple(self.checks))
