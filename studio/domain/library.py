"""Models that lie on this machine: where, what they are, what is proven of them, what goes."""

import enum

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.proofs import ModelState


class RootKind(enum.StrEnum):
    """What a folder of models is to the Studio."""

    OWN = "own"
    """The Studio's own models folder."""
    CACHE = "cache"
    """The cache of huggingface_hub, which other programs use too."""
    FOLDER = "folder"
    """One that a person added."""
    REFERENCE = "reference"
    """One model that stays where it is; removing it here forgets it and touches no file."""


class RootState(enum.StrEnum):
    """Whether a folder can be looked at."""

    PRESENT = "present"
    MISSING = "missing"
    """Not there now: an unmounted disk, or a folder that went. What was in it is not listed."""
    UNREADABLE = "unreadable"


class RootInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that is searched for models."""

    path: str
    kind: RootKind
    state: RootState = RootState.PRESENT
    models: int = 0
    size_bytes: int = 0
    """Of its models; what several names share is counted once."""
    note: str | None = None
    """What kept it from being read whole."""


class WeightsForm(enum.StrEnum):
    """How weights are written."""

    SAFETENSORS = "safetensors"
    GGUF = "gguf"
    OTHER = "other"
    """PyTorch's own, ONNX, or none at all."""


class ModelFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What config and tensor headers say; None: they do not."""

    form: WeightsForm = WeightsForm.OTHER
    architecture: str | None = None
    parameters: int | None = None
    quantisation: str | None = None
    """`BF16` and the like where nothing is quantised, else the method and its width."""
    context_tokens: int | None = None


class LackingFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that belongs to a model and is not there."""

    name: str
    size_bytes: int | None = None
    """None: nothing says how large it is."""


class CheckState(enum.StrEnum):
    """Where the check of a model stands."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    """An engine boots or is busy: it goes on when that is over."""
    DONE = "done"
    FAILED = "failed"


class CheckInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A check of every file's digest, under way or over."""

    model: str
    path: str
    state: CheckState
    done_bytes: int = 0
    total_bytes: int | None = None
    rate: float | None = None
    """Bytes a second."""
    left_s: float | None = None
    error: ErrorInfo | None = None


class CheckedResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the last whole check of a model found."""

    at_s: float
    """Seconds since 1970."""
    files: int
    compared: int
    """Files of which something was known to compare with; the others' digests are kept from now
    on."""
    damaged: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


class ModelEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One model as it lies."""

    name: str
    """As it is named in commands: `owner/name`, a folder or a GGUF below its root."""
    path: str
    """The folder that an engine would get; for a GGUF the (first) file."""
    root: str
    root_kind: RootKind
    facts: ModelFacts
    repository: str | None = None
    revision: str | None = None
    refs: tuple[str, ...] = ()
    """Branches and tags that name this revision in its cache."""
    files: int
    size_bytes: int
    """Of its files; one with two names counts once."""
    changed_at_s: float | None = None
    """When its newest file was written."""
    state: ModelState
    missing: tuple[LackingFile, ...] = ()
    damaged: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    proven_at_s: float | None = None
    proven_by: str | None = None
    """What its files were compared with: `huggingface`, `modelscope`, `spec`, `import`."""
    last_check: CheckedResult | None = None
    check: CheckInfo | None = None
    uses: tuple[str, ...] = ()
    """Presets that serve it."""
    in_use_by: str | None = None
    """The engine or download that holds it now, in words."""
    same_as: tuple[str, ...] = ()
    """Other models with the very same weights that take their space a second time."""
    problems: tuple[str, ...] = ()
    """What could not be read, one sentence each."""


class Double(msgspec.Struct, frozen=True, kw_only=True):
    """The same bytes, kept more than once."""

    models: tuple[str, ...]
    files: int
    extra_bytes: int
    """What the copies take beyond one of them."""


class LostModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model that presets serve and that is not where it was: removed or moved by another hand."""

    name: str
    path: str
    """Where it lay."""
    uses: tuple[str, ...]
    """Presets that need it."""
    size_bytes: int | None
    """None: it was served, and never looked at."""
    seen_at_s: float
    """When it was seen there, to the day."""
    is_folder_gone: bool = False
    """The folder that it was found below is not there either: a disk that is not mounted."""


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """Every model that was found, and where was looked."""

    models: tuple[ModelEntry, ...] = ()
    roots: tuple[RootInfo, ...] = ()
    doubles: tuple[Double, ...] = ()
    lost: tuple[LostModel, ...] = ()
    """What presets need and what lay here until somebody else removed or moved it."""
    size_bytes: int = 0
    """Of all models; what several share is counted once."""
    not_compared_bytes: int = 0
    """Of files that may be the same as others, by size, and were not hashed yet."""
    took_s: float = 0.0
    at_s: float = 0.0


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a model."""

    name: str
    size_bytes: int
    sha256: str | None = None
    """None: it was never hashed here, and nobody says."""
    is_proven: bool = False


class ModelDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A model with its files."""

    model: ModelEntry
    files: tuple[FileEntry, ...] = ()
    left_out: int = 0
    """Further files, beyond those that are listed."""


class RootChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A folder to search from now on, or no longer."""

    add: str | None = None
    remove: str | None = None


class ImportWay(enum.StrEnum):
    """How a model comes into the library."""

    REFERENCE = "reference"
    """It stays where it is."""
    LINK = "link"
    """Hard links: no space, and what is written to one is written to both."""
    COPY = "copy"
    """A copy of its own; one that shares blocks where the file system can do that."""


class ModelImport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model to take in."""

    path: str
    by: ImportWay = ImportWay.REFERENCE
    name: str | None = None
    """What it is called in the Studio's models folder; None: as its folder or file."""


class ModelImported(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    model: ModelEntry
    by: ImportWay
    """What was really done."""
    reason: str | None = None
    """Why that is not what was asked for."""
    linked: int = 0
    cloned: int = 0
    copied: int = 0
    written_bytes: int = 0
    """Space that it takes anew."""


class ImportProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far an import under way is."""

    path: str
    name: str
    done_bytes: int = 0
    total_bytes: int | None = None


class ImportState(msgspec.Struct, frozen=True, kw_only=True):
    """The import under way; None: there is none."""

    current: ImportProgress | None = None


class RemoveRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model that is to go."""

    name: str
    dry_run: bool = False


class RemovePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What goes with a model, and what of it frees space."""

    name: str
    path: str
    freed_bytes: int
    files: int
    stays_bytes: int = 0
    """Of its files, what has another name somewhere and therefore stays."""
    stays: str | None = None
    """Why."""
    is_reference: bool = False
    """Only the mention goes; no file is touched."""
    uses: tuple[str, ...] = ()
    """Presets that have no model afterwards."""
    refusal: ErrorInfo | None = None
    """Why it cannot be removed now."""
    is_done: bool = False


class CheckRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model whose files are to be hashed; None: every model."""

    name: str | None = None


class CheckList(msgspec.Struct, frozen=True, kw_only=True):
    """The checks under way and over since the service started."""

    checks: tuple[CheckInfo, ...] = ()


class Removable(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of models, for whoever asks a person what to keep."""

    path: str
    kind: RootKind
    models: int
    size_bytes: int
    """What removing them all would free."""
    is_ours: bool
    """Whether nobody but the Studio put models there."""
