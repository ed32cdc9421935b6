"""Who needs a model: presets that serve it, the engine, a download, a check, any process."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from studio.domain.downloads import DownloadKind, DownloadList, DownloadState
from studio.domain.errors import Busy, StudioError
from studio.domain.library import CheckInfo, RootKind
from studio.domain.manifests import ModelSpec, Preset
from studio.domain.server import EngineSnapshot, EngineState
from studio.host import open_files
from studio.host.paths import Paths
from studio.models import library, places
from studio.models.known import is_place_of
from studio.models.prepare import is_under_way
from studio.models.shelf import Model

_AT_REST = (EngineState.STOPPED, EngineState.FAILED, EngineState.ADOPTED, EngineState.GONE)
_FETCHING = (DownloadState.QUEUED, DownloadState.RUNNING)


def specs_of(presets: Iterable[Preset]) -> dict[str, ModelSpec]:
    """Return every model that presets need by its id, with those that others are made from."""
    return {spec.id: spec for preset in presets for spec in _with_bases(preset.models)}


def uses_of(presets: Iterable[Preset]) -> Mapping[str, tuple[str, ...]]:
    """Return the presets of each model's id."""
    found: dict[str, tuple[str, ...]] = {}
    for preset in presets:
        for spec in _with_bases(preset.models):
            found[spec.id] = (*found.get(spec.id, ()), preset.id)
    return found


def places_of(paths: Paths, specs: Iterable[ModelSpec]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the models that are served from each folder as things lie now. Blocks."""
    found: dict[str, tuple[str, ...]] = {}
    for spec in specs:
        with contextlib.suppress(StudioError, OSError):
            folder = library.find(paths, spec)
            if folder is not None:
                key = os.path.realpath(folder)
                found[key] = (*found.get(key, ()), spec.id)
    return found


def made_elsewhere(paths: Paths, specs: Iterable[ModelSpec], models: Iterable[Model]) -> None:
    """Write down which of the models that lie here is one that the Studio would have to make.

    Another machine's Studio made it, and it came on a stick. A start then serves it as it lies.
    Blocks. What cannot be written down costs nothing but a look at the next start.
    """
    folders = [one.place for one in models if not one.found.is_loose]
    for spec in specs:
        with contextlib.suppress(StudioError, OSError):
            library.find_made(paths, spec, folders)


def forget_place(paths: Paths, specs: Iterable[ModelSpec], model: Model) -> None:
    """Forget that presets are served from a model that the library does not list any more."""
    for spec in specs:
        if places.noted_folder(paths, spec) == model.place:
            places.forget(paths, spec)


def _with_bases(specs: Iterable[ModelSpec]) -> Iterator[ModelSpec]:
    for spec in specs:
        yield spec
        if isinstance(spec.base, ModelSpec):
            yield from _with_bases((spec.base,))


def in_use_by(model: Model, engine: EngineSnapshot, downloads: DownloadList) -> str | None:
    """Return who holds a model now, in words."""
    if engine.state not in _AT_REST and engine.preset in model.entry.uses:
        return f"the engine ({engine.preset}, {engine.state})"
    for one in downloads.downloads:
        is_model = one.kind is DownloadKind.MODEL and one.state in _FETCHING
        if is_model and one.title == model.found.repository:
            return f"a download ({one.state})"
    return None


def require_not_prepared(models: Path, specs: Iterable[ModelSpec], model: Model) -> None:
    """Raise Busy (`model-in-use`) while something is made of a model's files. Blocks.

    What is prepared, in whatever process, holds its lock; it reads its repositories and its base.
    """
    if model.found.root.kind is RootKind.REFERENCE:
        return
    for spec in specs:
        needed = tuple(_with_bases((spec,)))
        repositories = {source.repository for one in needed for source in one.sources}
        is_needed = model.found.repository in repositories or any(
            is_place_of(model.found, one) for one in needed
        )
        if is_needed and is_under_way(models, spec):
            raise Busy(
                "model-in-use",
                f"{model.entry.name} is used by the preparation of {spec.title}.",
                hint="Wait for its end, or end the `weir models prepare` that does it.",
            )


def require_free(
    model: Model, engine: EngineSnapshot, downloads: DownloadList, check: CheckInfo | None
) -> None:
    """Raise Busy (`model-in-use`) unless nobody needs the files of a model now."""
    if model.found.root.kind is RootKind.REFERENCE:
        return  # no file of it is touched
    holder = in_use_by(model, engine, downloads)
    hint = "`weir stop` stops the engine; `weir downloads cancel` a download."
    if holder is None and check is not None:
        holder = f"its check ({check.state})"
        hint = f"`weir models verify {model.entry.name} --stop` ends the check."
    if holder is None:
        paths = {os.path.realpath(file.path) for file in model.found.files}
        others = open_files.holders(paths)
        if others:
            holder = f"process {others[0].pid} ({others[0].name}), which has its files open"
            hint = "End that program first."
    if holder is not None:
        raise Busy("model-in-use", f"{model.entry.name} is used by {holder}.", hint=hint)
