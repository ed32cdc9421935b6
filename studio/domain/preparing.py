"""How published files become a model that can be served: steps as data, and how far they are.

A step says what it does, when it is done, and how it runs: by a script of `runtimes/tools`, by a
script of the series of the preset's runtime, or by changes of JSON files. A step without any of
them is one that nobody has published a way for; `open` says what is missing.
"""

import enum
from typing import Any

import msgspec

from studio.domain.proofs import ModelState


class DoneWhen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a folder must hold for a step to count as done; without any it is never seen to be."""

    files: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    """Patterns as in a shell over names of tensors; each must match one."""
    digests: dict[str, str] = {}
    """File to sha256."""


class Change(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One change of a JSON file, or of a text file."""

    file: str
    path: tuple[str, ...] = ()
    """Keys from the outermost; what is missing on the way is made."""
    value: Any = None
    """What stands there afterwards."""
    without: tuple[str, ...] = ()
    """Instead of a value: patterns of what is taken out of the list that stands there."""
    prepend: str | None = None
    """Instead of both: a text that the file, or the text at `path`, begins with."""


class PreparationStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One change to published files before they can be served. Steps run in their order."""

    name: str
    what: str
    effect: str | None = None
    """What it brings, with its figure where one is known."""
    optional: bool = False
    done: DoneWhen = DoneWhen()
    tool: str | None = None
    """A script of `runtimes/tools`, run by the preset's runtime. With `tensors` it runs once for
    each file that holds some: `IN OUT NAME...`; else once, with `arguments`."""
    series: str | None = None
    """A script of the runtime's series, by its path in that repository, at the pinned commit."""
    arguments: tuple[str, ...] = ()
    """`{folder}` is the model as it is so far, `{out}` where new files go."""
    tensors: tuple[str, ...] = ()
    """Patterns of the tensors that the tool is given."""
    outputs: tuple[str, ...] = ()
    """Files that a script without `tensors` writes into `{out}`."""
    changes: tuple[Change, ...] = ()
    """Made after the script."""
    memory_bytes: int | None = None
    """Of the host, at its peak; None: not known."""
    disk_bytes: int | None = None
    """For new files, while the old ones are still there; None: the size of what it reads."""
    takes_s: float | None = None
    open: str | None = None
    """What is not known, so that the Studio cannot do it."""

    @property
    def is_runnable(self) -> bool:
        """Whether there is a way to do it."""
        return bool(self.tool or self.series or self.changes)


class DoneStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step as it was done: what it read and what it wrote, by digest."""

    name: str
    digest: str
    """Of the step's definition and its script."""
    inputs: dict[str, str] = {}
    """File to sha256."""
    outputs: dict[str, str] = {}
    skipped: str | None = None
    """Why nothing was done."""


class StepState(enum.StrEnum):
    """Where a step stands."""

    DONE = "done"
    DUE = "due"
    LEFT_OUT = "left-out"
    """Optional, and there is no known way."""
    OPEN = "open"
    """Needed, and there is no known way."""


class StepStanding(msgspec.Struct, frozen=True, kw_only=True):
    """One step of one model on this machine."""

    name: str
    what: str
    state: StepState
    effect: str | None = None
    optional: bool = False
    open: str | None = None
    memory_bytes: int | None = None
    disk_bytes: int | None = None
    takes_s: float | None = None


class WantedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a model needs and that is not here."""

    name: str
    """In its repository; a pattern where the names are not known."""
    size_bytes: int | None = None


class SourceStanding(msgspec.Struct, frozen=True, kw_only=True):
    """What is here of one repository."""

    repository: str
    hub: str
    revision: str | None = None
    is_here: bool = False
    folder: str | None = None
    """Where its files lie, or will."""
    missing: tuple[WantedFile, ...] = ()
    download_bytes: int | None = None
    """Still to fetch; None: not known."""
    is_listed: bool = False
    """Whether names and sizes are the hub's own."""


class ModelStanding(msgspec.Struct, frozen=True, kw_only=True):
    """What one model of a preset still needs."""

    id: str
    title: str
    state: ModelState
    """`ready` when every file is proven, `unproven` when all are here and nothing says more."""
    is_usable: bool
    """Whether it can be served as it lies."""
    folder: str
    """Where it lies, or will lie."""
    sources: tuple[SourceStanding, ...] = ()
    package: str | None = None
    """The Python package that holds it, where no repository does."""
    base: str | None = None
    """The model that it is laid over."""
    missing: tuple[str, ...] = ()
    """Names of its own files that are not here, or not as they should be."""
    steps: tuple[StepStanding, ...] = ()
    download_bytes: int | None = 0
    disk_bytes: int = 0
    """Room that getting and preparing it takes."""
    can_get: bool = True
    """Whether the Studio can bring it here by itself."""
    advice: str | None = None
    """What a person has to do; None: nothing."""
    lay_in: str | None = None
    """Where it lay until somebody else removed or moved it; None: it was never seen here."""


class PresetStanding(msgspec.Struct, frozen=True, kw_only=True):
    """What a preset's models still need before it can be served."""

    preset: str | None
    """None: asked for a model."""
    models: tuple[ModelStanding, ...]
    """Those that others are laid over first."""
    download_bytes: int | None
    """Of all together; None: not known."""
    disk_bytes: int
    is_usable: bool
    note: str | None = None
    """Why names or sizes are not the hub's own."""


class PrepareRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bring the models of a preset, or one model, to where they can be served."""

    name: str
    """Id of a preset or of a model of `presets/models`."""
    consent: bool = False
    """Yes to large downloads."""
