"""What a recipe says beyond its packages, what a person adds to it, and how a runtime is shown.

A value that no source gives is absent here and stays absent: it is named by an `Unverified` mark,
and supplied or agreed to by the person (`weir runtime pin`), whose answers are `RuntimePins`.
"""

import enum

import msgspec


class PackageWheel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One wheel that is no pin of the lock, because an upstream project publishes it itself."""

    name: str
    version: str
    url: str
    """Its address; one that ends in `/` is the folder of a file whose exact name is not known."""
    sha256: str | None = None
    """None: no source gives it, so the runtime waits for `weir runtime pin NAME --hash`."""
    bytes: int | None = None
    index: str | None = None
    """Name of the recipe's index that serves it; `url` is then that index."""
    source: str | None = None
    """Where the sha256 was published."""

    @property
    def file(self) -> str | None:
        """Return the wheel's file name, or None while only its folder is known."""
        return self.url.rpartition("/")[2].replace("%2B", "+") or None


class Tool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something the host must have for a build step or at run time: a program or a header."""

    name: str
    programs: tuple[str, ...] = ()
    """Any one of these on the PATH will do."""
    headers: tuple[str, ...] = ()
    """All of these must be found, for example `Python.h` of the same interpreter."""
    version: str | None = None
    """Which version, in words."""
    min_version: str | None = None
    below_version: str | None = None
    """The first version that no longer works."""
    is_bundled: bool = False
    """The packages bring one; it is used where the machine's does not fit."""
    without: str | None = None
    """What is done or lost when the machine has none; None: nothing works without it."""
    purpose: str

    @property
    def needs_version(self) -> bool:
        """Return whether not every version will do."""
        return self.min_version is not None or self.below_version is not None

    def accepts(self, version: str) -> bool:
        """Tell whether a version of it, as the program says it, will do."""
        found = numbers(version)
        is_old = self.min_version is not None and found < numbers(self.min_version)
        is_new = self.below_version is not None and found >= numbers(self.below_version)
        return not (is_old or is_new)

    @property
    def wanted(self) -> str:
        """Return which versions will do, in words."""
        low, below = self.min_version, self.below_version
        if low and below:
            return f"{low} or newer, but older than {below}"
        return f"{low} or newer" if low else f"older than {below}" if below else "any version"


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparing; what is no number ends them."""
    found = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        found.append(int(digits))
    return tuple(found)


class BuildStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that is made on the host after the packages are in place."""

    name: str
    title: str
    tools: tuple[str, ...] = ()
    """Names of the recipe's tools."""
    source: str | None = None
    """What is built: an upstream project and what of it."""
    upstream: str | None = None
    """Folder in the repository of the recipe's series; the commands find a copy at `{source}`."""
    commands: tuple[tuple[str, ...], ...] = ()
    """As they are run, one after another, with placeholders (runtimes/steps.py)."""
    at_start: bool = False
    """True: the engine does it by itself when it starts, and only the tools are looked for."""
    environment: dict[str, str] = {}
    """Variables for the commands, with the same placeholders."""
    produces: tuple[str, ...] = ()
    """What has to be there when they are done, with the same placeholders and `*`."""
    protects: tuple[str, ...] = ()
    """What the commands may replace among the packages, as `*` patterns; put back if they fail."""
    timeout_s: float = 3600.0
    """For each command."""
    compute_capabilities: tuple[str, ...] = ()
    """Only on these cards; empty: on all."""
    default: bool = True
    """False: only when a preset or the person asks for it."""
    fallback: str | None = None
    """What is done when a tool is missing; None: there is nothing else, the step is needed."""
    fallback_cost: str | None = None
    """What the fall-back costs, with its measured figure where one is known."""


class StepState(enum.StrEnum):
    """What became of a build step on this machine."""

    BUILT = "built"
    AT_START = "at-start"
    """The tools are there; the engine does it when it starts."""
    FELL_BACK = "fell-back"
    NOT_NEEDED = "not-needed"
    """It is for other cards."""


class BuiltStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step as it went on this machine: a line of `built.json` in the runtime's folder."""

    name: str
    title: str
    state: StepState
    reason: str | None = None
    """Why it fell back, or is not needed."""
    fallback: str | None = None
    cost: str | None = None
    """What the fall-back costs."""
    tools: dict[str, str] = {}
    """Tool to where it was found, with its version."""
    log: str | None = None
    """The commands' output, relative to the runtime's folder."""
    seconds: float | None = None
    definition: str
    """Digest of the step as the recipe had it."""


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """`built.json` of a runtime."""

    steps: tuple[BuiltStep, ...] = ()


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A way this runtime is known to fail, and what to do; shown with it."""

    title: str
    text: str
    source: str | None = None


class Unverified(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something about a recipe that no source confirms."""

    name: str
    what: str
    blocks: bool = True
    """True: nothing is installed until the person agrees with `weir runtime pin NAME --confirm`."""


class RuntimePin(msgspec.Struct, frozen=True, kw_only=True):
    """What the person supplied or agreed to for one runtime."""

    commit: str | None = None
    """Of the upstream series that the recipe leaves open."""
    hashes: dict[str, str] = {}
    """Wheel file to sha256."""
    confirmed: tuple[str, ...] = ()
    """Names of `Unverified` marks."""
    steps: dict[str, bool] = {}
    """Build steps that are insisted on (True: there is no fall-back then) or left out (False)."""


class RuntimePins(msgspec.Struct, frozen=True, kw_only=True):
    """`runtime-pins.json` in the Studio's folder."""

    runtimes: dict[str, RuntimePin] = {}


class RuntimeState(enum.StrEnum):
    """Where a runtime stands on this machine."""

    INSTALLED = "installed"
    AVAILABLE = "available"
    NOT_PINNED = "not-pinned"
    """Its upstream series has no commit yet."""
    UNVERIFIED = "unverified"
    """A hash is missing, or a mark was not agreed to."""
    DAMAGED = "damaged"
    """Something is installed that cannot be used."""


class RuntimeInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A runtime as a list shows it, with the verdict for this host."""

    name: str
    title: str
    state: RuntimeState
    runtime_id: str | None = None
    """Digest of the installed runtime; None when none is installed."""
    bytes: int | None = None
    """On disk when installed, else about how much is to download."""
    usable: bool
    reasons: tuple[str, ...] = ()
    """Why not, when not usable."""
    is_update_offered: bool = False
    """Its recipe has changed since it was installed; it goes on as it is until a person says so."""


class RuntimeList(msgspec.Struct, frozen=True, kw_only=True):
    """What `weir runtime list --json` prints."""

    runtimes: tuple[RuntimeInfo, ...] = ()


class PatchSeriesInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One patch set of a recipe."""

    title: str
    patches: int | None = None
    """None: how many is known only once the series was fetched."""
    repository: str | None = None
    commit: str | None = None
    fallback_cost: str | None = None
    """Given: what it costs where the set does not fit and is left out."""
    replaced: tuple[str, ...] = ()
    """Patches of the set that are skipped, because another series does the same."""


class RuntimeDetail(msgspec.Struct, frozen=True, kw_only=True):
    """Everything `weir runtime show` tells about a runtime."""

    info: RuntimeInfo
    engine: str
    engine_version: str
    interpreter: str
    """Which CPython, and of the installed runtime where it came from."""
    installed_at: str | None = None
    packages: int | None = None
    download_bytes: int | None = None
    disk_bytes: int | None = None
    requirements: tuple[str, ...] = ()
    """The facts that a host must meet, in words."""
    warnings: tuple[str, ...] = ()
    """What about this host is beyond what was tried."""
    wheels: tuple[PackageWheel, ...] = ()
    patches: tuple[PatchSeriesInfo, ...] = ()
    tools: tuple[Tool, ...] = ()
    without_patches: dict[str, str] = {}
    """The Studio's own patches that this engine goes without, each with what that costs."""
    steps: tuple[BuildStep, ...] = ()
    built: tuple[BuiltStep, ...] = ()
    """What became of the steps in the installation that is used."""
    left_out: tuple[str, ...] = ()
    """Patch sets that did not fit, and what it costs."""
    open: tuple[Unverified, ...] = ()
    """Marks that were not agreed to."""
    agreed: tuple[str, ...] = ()
    """Names of marks that were."""
    knobs: tuple[str, ...] = ()
    """Names of the knobs that this engine has beside those of the stock one."""
    notes: tuple[Note, ...] = ()


class SeriesSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where a repository's commit was had from, and where it is kept."""

    repository: str
    commit: str
    words: str
    """In words: with git, over HTTP, from which file, whether the repository has moved."""
    file: str
    bytes: int


class SeriesSet(msgspec.Struct, frozen=True, kw_only=True):
    """One upstream series with its patches in the order of application."""

    title: str
    repository: str
    commit: str
    patches: tuple[str, ...]


class FetchedSeries(msgspec.Struct, frozen=True, kw_only=True):
    """What `weir runtime series` prints."""

    runtime: str
    sets: tuple[SeriesSet, ...] = ()
    sources: tuple[SeriesSource, ...] = ()


class PinRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person supplies with `weir runtime pin`."""

    commit: str | None = None
    hashes: dict[str, str] = {}
    confirm: tuple[str, ...] = ()
    steps: dict[str, bool] = {}
    forget: bool = False
    """Drop everything that was supplied before."""


class InstallRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Install a runtime."""

    consent: bool = False
    """Yes to a large download."""


class VerifyRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Compare a runtime with the list of its files."""

    full: bool = False
    """Read every byte; otherwise a sample."""


class RollbackRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Use another installation that is kept."""

    forward: bool = False
    """Take the last step back."""


class CollectRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Remove what nothing uses."""

    dry_run: bool = False
    """Only say what that would be."""


class RuntimeWork(enum.StrEnum):
    """What is being done to a runtime that can be stopped; the `work` of a runtime stage."""

    INSTALL = "install"
    """An update and an import too."""
    REPAIR = "repair"
    VERIFY = "verify"
    EXPORT = "export"


class InstallStopped(msgspec.Struct, frozen=True, kw_only=True):
    """What came of stopping what was being done to a runtime."""

    runtime: str
    was_running: bool
    """Whether anything was under way; without it there was nothing to stop."""
    work: RuntimeWork | None = None
    """What was under way."""
    is_finished: bool = False
    """It was too late: it was done."""
    current: str | None = None
    """Id of the installation that is in use now; None: none is."""


class ChangeKind(enum.StrEnum):
    """What becomes of a part in an update."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One part that an update changes; `before` and `after` are versions, where it has any."""

    kind: ChangeKind
    name: str
    before: str | None = None
    after: str | None = None


class UpdateKind(enum.StrEnum):
    """Where an update comes from."""

    RECIPE = "recipe"
    """The recipe of the installed runtime has changed: `weir runtime update`."""
    RELEASE = "release"
    """The catalogue has a newer runtime of its kind: `weir runtime install`, beside it."""


class RuntimeUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """What could take the place of an installed runtime, and what that would change."""

    kind: UpdateKind
    runtime: str
    runtime_id: str
    """Of what is installed."""
    target: str
    """The runtime to update or install."""
    title: str
    usable: bool
    reasons: tuple[str, ...] = ()
    """Why it cannot be had here, when not usable."""
    is_here: bool = False
    """It is installed already, and was left by a step back."""
    fetch_bytes: int | None = None
    """Of packages and interpreter: only what is not here."""
    disk_bytes: int | None = None
    """What it adds to the disk, about."""
    interpreter: Change | None = None
    packages: tuple[Change, ...] = ()
    patches: tuple[Change, ...] | None = None
    """None: not known, since the installation does not say what it was made of."""
    knobs: tuple[Change, ...] | None = None
    """Knobs, flags and settings of the engine; None: not known."""
    presets: tuple[str, ...] = ()
    """Presets that run on the installed one."""


class RuntimeUpdates(msgspec.Struct, frozen=True, kw_only=True):
    """What `weir runtime updates --json` prints."""

    updates: tuple[RuntimeUpdate, ...] = ()


class RuntimeUpdated(msgspec.Struct, frozen=True, kw_only=True):
    """What an update did."""

    runtime: str
    before: str | None
    """Id of what was used before."""
    after: str
    """Id of what is used now; the same when there was nothing to update."""
